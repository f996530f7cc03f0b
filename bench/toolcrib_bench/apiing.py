"""The proof of the HTTP API: schemathesis with every check, for as many examples as TOOLCRIB_BENCH_EXAMPLES says (50)."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from toolcrib.faces.http.application import described
from toolcrib_bench.figures import Figure, figure
from toolcrib_bench.server import home, serving

CONFIG = Path(__file__).parents[2] / "tests" / "faces" / "http" / "schemathesis.toml"
# A stream does not end; the others may end the key that everything is tried with, and the tests try them by themselves.
LEFT_OUT = ("--exclude-path=/api/v1/events", *(f"--exclude-operation-id={one}" for one in ("revoke_key", "change_person", "set_password")))  # fmt: skip


def run() -> Iterator[Figure]:
    """One run."""
    examples = os.environ.get("TOOLCRIB_BENCH_EXAMPLES", "50")
    with home() as place, tempfile.TemporaryDirectory() as folder, serving(place) as server:
        document = Path(folder) / "openapi.json"
        document.write_text(json.dumps(described()), encoding="utf-8")
        program = str(Path(sys.executable).with_name("schemathesis"))
        command = [program, "--config-file", str(CONFIG), "run", str(document)]
        command += ["--url", f"http://127.0.0.1:{server.port}", "--header", f"Authorization: Bearer {server.key()}"]
        command += ["--checks", "all", "--max-examples", examples, "--no-color", "--request-timeout", "60", *LEFT_OUT]
        found = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    cases = re.search(r"([\d,]+) generated", found.stdout)
    yield figure("api", "cases that schemathesis made", int(cases[1].replace(",", "")) if cases else 0, "cases")
    failures = re.search(r"(\d+) found", found.stdout)
    yield figure("api", "failures", int(failures[1]) if failures else 0, "failures")
    yield {"bench": "api", "clean": found.returncode == 0}
    if found.returncode:
        yield {"bench": "api", "says": found.stdout[-4000:]}
