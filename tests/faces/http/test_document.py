"""The OpenAPI document: checked in, whole, and true: schemathesis tries the server against it with every check."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.faces.conftest import PASSWORD
from toolcrib.faces.http.application import described, operations

ROOT = Path(__file__).parents[3]
CONFIG = Path(__file__).with_name("schemathesis.toml")
ENDLESS = ["--exclude-path", "/api/v1/events"]  # a stream does not end
LOCKS_OUT = ("revoke_key", "change_person", "set_password")  # may end the key that the others are tried with
EXAMPLES = 2


@pytest.mark.meets("api:openapi:checked-in")
def test_the_document_that_is_checked_in_is_the_one_that_is_generated() -> None:
    kept = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text(encoding="utf-8"))
    assert kept == json.loads(json.dumps(described())), "Run: ./toolcrib dev docs"
    assert kept["openapi"].startswith("3.1")


@pytest.mark.meets("api:problem:json")
def test_every_operation_says_who_may_and_how_it_refuses() -> None:
    told: Any = described()
    for row in operations():
        operation = told["paths"][row.path][row.method.lower()]
        assert operation["description"], row.path
        assert operation["x-role"] in {"anyone", "viewer", "operator", "admin"}
        assert "application/problem+json" in operation["responses"]["422"]["content"]


@pytest.mark.meets("api:schemathesis:clean")
def test_schemathesis_finds_nothing_with_all_checks(up: Callable[..., Any], tmp_path: Path) -> None:
    server = up()
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(described()), encoding="utf-8")
    with httpx2.Client(base_url=server.address) as client:
        token = server.link.rpartition("/")[2]
        me = client.post("/api/v1/setup", json={"token": token, "name": "Ada", "password": PASSWORD}).json()
        client.headers["X-CSRF-Token"] = me["csrf"]
        for only in (None, *LOCKS_OUT):
            key = client.post("/api/v1/keys", json={"name": "tried", "role": "admin"}).json()["secret"]
            chosen = (
                [f"--include-operation-id={only}"] if only else [f"--exclude-operation-id={one}" for one in LOCKS_OUT]
            )
            found = subprocess.run(
                [
                    *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(CONFIG)),
                    *("run", str(document), "--url", server.address, "--header", f"Authorization: Bearer {key}"),
                    *("--checks", "all", "--max-examples", str(EXAMPLES), "--seed", "1", "--request-timeout", "30"),
                    *("--no-color", *ENDLESS, *chosen),
                ],
                capture_output=True,
                text=True,
                cwd=tmp_path,
                timeout=240,
                check=False,
            )
            assert found.returncode == 0, found.stdout[-6000:] + found.stderr
