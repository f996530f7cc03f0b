"""No path, link or race leads out of a workspace, and every good path stays good."""

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.files.root import Root

ESCAPES = [
    "..",
    "../",
    "../..",
    "../workspace-beside/secret.txt",
    "../workspace-beside",
    "./../workspace-beside/secret.txt",
    "sub/../../workspace-beside/secret.txt",
    "sub/deep/../../../workspace-beside/secret.txt",
    "a/b/c/../../../../workspace-beside/secret.txt",
    "sub//..//..//workspace-beside/secret.txt",
    "../../../../../../../../../../etc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "///etc/passwd",
    "/",
    "/proc/self/environ",
    "/proc/self/cwd/secret",
    "/dev/null",
    "{workspace}-beside/secret.txt",
    "{workspace}/../workspace-beside/secret.txt",
    "{workspace}/sub/../../workspace-beside/secret.txt",
    "/{workspace}/../workspace-beside/secret.txt",
    "{workspace}//../workspace-beside/secret.txt",
    "{outside}/secret.txt",
    "out/secret.txt",
    "out/../secret.txt",
    "out/./secret.txt",
    "out//secret.txt",
    "out-file",
    "./out-file",
    "out-relative/secret.txt",
    "sub/out-up/secret.txt",
    "sub/deep/out-up",
    "twice/secret.txt",
    "thrice/secret.txt",
    "via-dots/secret.txt",
    "via-self/secret.txt",
    "absolute-dots/secret.txt",
    "root/etc/passwd",
    "root{outside}/secret.txt",
    "etc/passwd",
    "proc/etc/passwd",
    "proc-cwd/x",
    "fd/0",
    "parent/workspace-beside/secret.txt",
    "parent",
    "dangling",
    "dangling-folder",
    "dangling-folder/x",
    "hard",
    "./hard",
    "hard-denied",
    ".toolcrib/key",
    ".toolcrib",
    "./.toolcrib/key",
    ".toolcrib//key",
    ".toolcrib/./key",
    ".toolcrib/",
    "sub/../.toolcrib/key",
    "secrets/prod/key",
    "secrets/prod",
    "secrets/test/../prod/key",
    "{workspace}/.toolcrib/key",
    "denied/key",
    "denied-file",
    "denied-absolute",
    "denied-twice/key",
    "denied-dots/key",
    "sub/denied/key",
    "secrets/../denied/key",
    ".toolcrib/../.toolcrib/key",
    "x\0y",
    "sub/a.txt\0.png",
    "\0",
    "..\0",
    "~root/../../../etc/passwd",
]
HARMLESS = {
    "exists",
    "path_outside_workspace",
    "access_denied",
    "bad_path",
    "not_found",
    "not_a_directory",
    "is_a_directory",
}


@pytest.mark.meets(
    "path:parent:refused", "path:symlink:refused", "path:hard-link:refused", "path:deny:hidden", "path:fallback:same"
)
@pytest.mark.parametrize("path", ESCAPES)
def test_no_path_leads_out(root: Root, maze: Path, outside: Path, path: str) -> None:
    path = path.replace("{workspace}", str(maze)).replace("{outside}", str(outside))
    kept = [outside, maze / ".toolcrib", maze / "secrets/prod"]
    before = [_everything(folder) for folder in kept]
    with pytest.raises(ToolFailed) as caught:
        root.read(path)
    attempts: list[Callable[[], object]] = [
        lambda: root.write(path, b"changed"),
        lambda: root.write(path + "/new", b"changed"),
        lambda: root.change(path, lambda _: b"changed"),
        lambda: root.remove(path),
    ]
    refusals = [caught.value]
    for attempt in attempts:
        try:
            attempt()  # `out/../new` may be written: it is a new name in the workspace
        except ToolFailed as error:
            refusals.append(error)
        assert [_everything(folder) for folder in kept] == before
    for fault in (error.as_fault() for error in refusals):
        assert fault.code in HARMLESS, fault
        told = fault.message.replace(path, "") + fault.hint
        assert str(maze) not in told


GOOD = [
    "sub/a.txt",
    "./sub/a.txt",
    "sub/./a.txt",
    "sub//a.txt",
    "sub/deep/../a.txt",
    "missing/../sub/a.txt",
    "../workspace/sub/a.txt",
    "{workspace}/sub/a.txt",
    "/{workspace}/sub/a.txt",
    "{workspace}/sub/deep/../a.txt",
    "good-link",
    "good-folder/a.txt",
    "good-absolute",
    "good-absolute-folder/a.txt",
    "good-dots",
    "good-chain",
    "good-top/sub/a.txt",
    "~",
    "~root",
    "%2e%2e",
    "file:/sub/a.txt",
    ".TOOLCRIB",
    ".toolcrib2",
    "secrets/prod2",
    "..a",
    "...",
    "a\nb",
    "\uff41\uff0e\uff0e",
    "-rf",
    "$HOME",
    "*",
]


@pytest.mark.meets("path:odd:refused")
@pytest.mark.parametrize("path", GOOD)
def test_a_path_inside_is_read_whatever_it_looks_like(root: Root, maze: Path, path: str) -> None:
    links = {
        "good-link": "sub/a.txt",
        "good-folder": "sub",
        "good-absolute": maze / "sub/a.txt",
        "good-absolute-folder": maze / "sub",
        "good-dots": "sub/deep/../a.txt",
        "good-chain": "good-absolute",
        "good-top": ".",
    }
    for name, target in links.items():
        (maze / name).symlink_to(target)
    for name in GOOD[17:]:
        (maze / name).parent.mkdir(parents=True, exist_ok=True)
        (maze / name).write_bytes(b"inside")
    assert root.read(path.replace("{workspace}", str(maze))).data == b"inside"


def _everything(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for top, folders, files in os.walk(folder):
        for name in folders + files:
            path = Path(top) / name
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
            found[str(path)] = (status.st_mode, status.st_nlink, content)
    return found


@pytest.mark.meets("path:race:none")
def test_a_link_swapped_in_while_reading_does_not_lead_out(root: Root, workspace: Path, outside: Path) -> None:
    (workspace / "inner").mkdir()
    (workspace / "inner/secret.txt").write_bytes(b"inside")
    (workspace / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for source in ("inner", "link"):
                (workspace / source).rename(workspace / "door")
                (workspace / "door").rename(workspace / source)

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen: set[bytes] = set()
    codes: set[str] = set()
    try:
        for _ in range(3000):
            try:
                seen.add(root.read("door/secret.txt").data)
            except ToolFailed as error:
                codes.add(error.as_fault().code)
    finally:
        stop.set()
        swapper.join()
    assert seen <= {b"inside"}
    assert codes <= HARMLESS


@pytest.mark.meets("path:race:none")
def test_a_link_swapped_in_while_writing_does_not_lead_out(root: Root, workspace: Path, outside: Path) -> None:
    (workspace / "inner").mkdir()
    (workspace / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for source in ("inner", "link"):
                (workspace / source).rename(workspace / "door")
                (workspace / "door").rename(workspace / source)

    swapper = threading.Thread(target=swap)
    swapper.start()
    codes: set[str] = set()
    try:
        for _ in range(500):
            try:
                root.write("door/new.txt", b"changed", directories=False)
            except ToolFailed as error:
                codes.add(error.as_fault().code)
    finally:
        stop.set()
        swapper.join()
    assert sorted(one.name for one in outside.iterdir()) == ["secret.txt"]
    assert codes <= HARMLESS
