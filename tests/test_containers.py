"""The files for containers. They cannot be built where these tests run, so their form is checked, line by line."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORDS = {
    "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"
}  # fmt: skip


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, continued lines joined."""
    lines = [
        line for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    ]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in joined.splitlines() if line.strip()]


@pytest.mark.meets("docker:compose:valid")
def test_the_dockerfile_has_known_instructions_two_stages_and_no_root() -> None:
    found = instructions()
    words = [word for word, _ in found]
    assert set(words) <= WORDS
    assert words.count("FROM") == 2
    last = len(words) - 1 - words[::-1].index("FROM")
    assert "USER" in words[last:], "it must not run as root"
    users = [rest for word, rest in found[last:] if word == "USER"]
    assert users[-1] not in {"root", "0"}
    assert ("VOLUME", '["/data", "/workspace"]') in found
    assert words.index("USER") < len(words) - 1 - words[::-1].index("CMD")


def test_what_the_dockerfile_copies_is_there() -> None:
    for word, rest in instructions():
        parts = shlex.split(rest)
        if word == "COPY" and not parts[0].startswith("--from"):
            assert [part for part in parts[:-1] if not (ROOT / part).exists()] == []


@pytest.mark.meets("docker:compose:valid")
def test_the_compose_file_is_sound() -> None:
    told: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    services, volumes, secrets = told["services"], set(told["volumes"]), set(told["secrets"])
    for service in services.values():
        assert {"build", "image"} & set(service)
        assert set(service.get("depends_on", {})) <= set(services)
        assert set(service.get("secrets", [])) <= secrets
        assert {one.split(":")[0] for one in service.get("volumes", [])} <= volumes
    assert services["toolcrib"]["ports"] == ["127.0.0.1:8765:8765"]
    assert services["toolcrib"]["cap_drop"] == ["ALL"]
    assert "healthcheck" in services["db"]
