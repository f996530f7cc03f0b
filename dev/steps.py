"""The steps of `dev check` and `test`: each a program of its own, run in order, with what it took."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.requirements import counts

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHECKS: dict[str, list[str]] = {
    "format": [str(BIN / "ruff"), "format", "--check", "--quiet", "."],
    "lint": [str(BIN / "ruff"), "check", "--quiet", "--output-format=concise", "."],
    "types": [str(BIN / "basedpyright"), "--level", "error", "--pythonpath", sys.executable],
    "contracts": [str(BIN / "lint-imports"), "--no-cache"],
    "house": [sys.executable, "-m", "dev.house"],
    "docs": [sys.executable, "-m", "dev", "dev", "docs", "--check"],
}


def check() -> int:
    """Everything but the tests."""
    failed = [name for name, command in CHECKS.items() if not _step(name, command)]
    print(_requirements())
    return 1 if failed else 0


def test(rest: list[str]) -> int:
    """Everything. With arguments, only pytest, with these."""
    if rest:
        return subprocess.run([sys.executable, "-m", "pytest", *rest], cwd=ROOT, check=False).returncode
    began = time.monotonic()
    _browser()
    failed = [name for name, command in CHECKS.items() if not _step(name, command)]
    workers = str(min(4, os.cpu_count() or 1))
    tests = subprocess.run([sys.executable, "-m", "pytest", "-n", workers], cwd=ROOT, check=False).returncode
    failed += ["tests"] if tests else []
    print(_requirements())
    print(f"took {time.monotonic() - began:.0f} s; " + (f"FAILED: {', '.join(failed)}" if failed else "all is well"))
    return 1 if failed else 0


def _browser() -> None:
    """A browser for the tests of the page: on a machine of CI it is installed, elsewhere only missed."""
    if any(shutil.which(name) for name in BROWSERS) or os.environ.get("TOOLCRIB_TEST_CHROMIUM"):
        return
    if os.environ.get("CI") == "true" and shutil.which("apt-get") and os.geteuid() == 0:
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]):
            if not _step(command[1], command):
                break
    if not any(shutil.which(name) for name in BROWSERS):
        print("no Chromium here: the tests of the page in a browser are skipped (apt-get install chromium)", flush=True)


def _step(name: str, command: list[str]) -> bool:
    began = time.monotonic()
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(f"{name:<10} {'ok' if run.returncode == 0 else 'FAILED':<7} {time.monotonic() - began:5.1f} s", flush=True)
    if run.returncode:
        print((run.stdout + run.stderr).rstrip(), flush=True)
    return run.returncode == 0


def _requirements() -> str:
    met, deferred = counts()
    return f"requirements: {met} met, {deferred} deferred"
