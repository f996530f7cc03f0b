"""Workspaces to break out of, on both ways of opening."""

import os
from pathlib import Path

import pytest

from toolcrib.machine.files import openat
from toolcrib.machine.files.root import Root

SECRET = b"outside secret"
PRIVATE = b"denied secret"
WAYS = [pytest.param(True, id="openat2"), pytest.param(False, id="walk")]


@pytest.fixture(params=WAYS)
def kernel(request: pytest.FixtureRequest) -> bool:
    if request.param and not openat.available():
        pytest.skip("this kernel has no openat2")
    return request.param


@pytest.fixture
def root(workspace: Path, kernel: bool) -> Root:
    return Root(str(workspace), (".toolcrib", "secrets/prod"), kernel=kernel)


@pytest.fixture
def outside(workspace: Path) -> Path:
    """A folder beside the workspace, whose name begins like the workspace's."""
    beside = workspace.parent / (workspace.name + "-beside")
    beside.mkdir()
    (beside / "secret.txt").write_bytes(SECRET)
    return beside


@pytest.fixture
def maze(workspace: Path, outside: Path) -> Path:
    """Every way out that links can make."""
    for folder in ("sub/deep", ".toolcrib", "secrets/prod", "secrets/test"):
        (workspace / folder).mkdir(parents=True)
    for file in (".toolcrib/key", "secrets/prod/key"):
        (workspace / file).write_bytes(PRIVATE)
    (workspace / "sub/a.txt").write_bytes(b"inside")
    links = {
        "out": outside,
        "out-file": outside / "secret.txt",
        "out-relative": Path("..") / outside.name,
        "sub/out-up": Path("../..") / outside.name,
        "sub/deep/out-up": Path("../../..") / outside.name / "secret.txt",
        "twice": "out",
        "thrice": "twice",
        "via-dots": Path("sub/../../") / outside.name,
        "via-self": Path("sub/deep/../../..") / outside.name,
        "absolute-dots": Path(f"{workspace}/../{outside.name}"),
        "root": "/",
        "etc": "/etc",
        "proc": "/proc/self/root",
        "proc-cwd": "/proc/self/cwd",
        "fd": "/proc/self/fd",
        "parent": "..",
        "dangling": outside / "nothing",
        "dangling-folder": outside / "nothing/at/all",
        "denied": ".toolcrib",
        "denied-file": ".toolcrib/key",
        "sub/denied": "../secrets/prod",
        "denied-absolute": workspace / ".toolcrib/key",
        "denied-twice": "denied",
        "denied-dots": "secrets/test/../prod",
    }
    for name, target in links.items():
        (workspace / name).symlink_to(target)
    os.link(outside / "secret.txt", workspace / "hard")
    os.link(workspace / ".toolcrib/key", workspace / "hard-denied")
    return workspace
