"""Files below a root: what is read and written, and each trouble's code. Everything runs on both ways of opening."""

import errno
import os
import resource
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolError, ToolFailed
from toolcrib.machine.files import faults
from toolcrib.machine.files.root import Root
from toolcrib.machine.files.workspace import LocalWorkspaces
from toolcrib.services.content.files import BYTES_OF_FILE, CODES

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def _refused(code: str, act: Callable[[], object]) -> ToolError:
    with pytest.raises(ToolFailed) as caught:
        act()
    assert caught.value.as_fault().code == code
    assert code in CODES
    return caught.value


@pytest.mark.meets("path:odd:refused")
def test_what_is_not_a_regular_file_is_refused_and_does_not_hang(root: Root, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    for act in (lambda: root.read("pipe"), lambda: root.write("pipe", b"x"), lambda: root.change("pipe", bytes)):
        _refused("not_a_file", act)


@root_only
@pytest.mark.meets("path:odd:refused")
def test_a_device_is_refused(root: Root, workspace: Path) -> None:
    os.mknod(workspace / "device", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    _refused("not_a_file", lambda: root.read("device"))


def test_each_trouble_has_its_code(root: Root, workspace: Path) -> None:
    (workspace / "file").write_bytes(b"x")
    (workspace / "folder").mkdir()
    (workspace / "loop").symlink_to("loop")
    _refused("not_found", lambda: root.read("none"))
    _refused("not_found", lambda: root.change("none", bytes))
    _refused("not_found", lambda: root.write("no/such/file", b"", directories=False))
    _refused("bad_path", lambda: root.read("loop"))
    _refused("is_a_directory", lambda: root.read("folder"))
    _refused("is_a_directory", lambda: root.read("."))
    _refused("is_a_directory", lambda: root.write("folder", b""))
    _refused("is_a_directory", lambda: root.write(".", b""))
    _refused("not_a_directory", lambda: root.read("file/below"))
    _refused("not_a_directory", lambda: root.write("file/below", b""))
    _refused("bad_path", lambda: root.read("n" * 300))
    _refused("bad_path", lambda: root.write("n" * 300, b""))
    _refused("bad_path", lambda: root.write("d/" * 3000 + "x", b"", directories=False))
    _refused(
        "exists", lambda: root.remove("./") if (workspace / "folder/x").write_bytes(b"") else root.remove("folder/")
    )
    assert names(workspace) == ["file", "folder", "loop"]


@pytest.mark.meets("read-file:unfit:refused")
def test_a_file_over_the_limit_is_refused_unread(root: Root, workspace: Path) -> None:
    with (workspace / "huge").open("wb") as file:
        file.truncate(2 << 30)
    error = _refused("too_large", lambda: root.read("huge"))
    assert "2,048.0 MB" in error.message
    _refused("too_large", lambda: root.change("huge", bytes))
    (workspace / "full").write_bytes(b"x" * BYTES_OF_FILE)
    assert len(root.read("full").data) == BYTES_OF_FILE


@pytest.mark.meets("path:workspace:gone")
def test_a_workspace_that_vanished_is_said_so(root: Root, workspace: Path) -> None:
    assert root.write("a", b"x").created
    workspace.rename(workspace.parent / "elsewhere")
    for act in (lambda: root.read("a"), lambda: root.write("a", b"y"), lambda: root.remove("a")):
        error = _refused("workspace_missing", act)
        assert str(workspace) not in error.message
    workspace.mkdir()
    _refused("not_found", lambda: root.read("a"))


@pytest.mark.meets("write-file:atomic")
def test_a_write_replaces_the_file_and_keeps_its_mode(root: Root, workspace: Path) -> None:
    script = workspace / "run.sh"
    script.write_bytes(b"old")
    script.chmod(0o750)
    inode = script.stat().st_ino
    with script.open("rb") as reader:
        done = root.write("run.sh", b"new", keep=True)
        assert reader.read() == b"old"
    assert (done.created, done.before, done.mode) == (False, b"old", 0o750)
    assert script.read_bytes() == b"new"
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert script.stat().st_ino != inode
    assert names(workspace) == ["run.sh"]


def test_a_new_file_has_the_mode_of_the_umask(root: Root, workspace: Path) -> None:
    earlier = os.umask(0o027)
    try:
        root.write("new", b"")
    finally:
        os.umask(earlier)
    assert stat.S_IMODE((workspace / "new").stat().st_mode) == 0o640


@root_only
def test_an_owner_keeps_the_file(root: Root, workspace: Path) -> None:
    (workspace / "theirs").write_bytes(b"old")
    os.chown(workspace / "theirs", 12345, 54321)
    root.write("theirs", b"new")
    assert ((workspace / "theirs").stat().st_uid, (workspace / "theirs").stat().st_gid) == (12345, 54321)


@pytest.mark.meets("write-file:new-and-over")
def test_folders_are_made_only_when_asked_and_told_of(root: Root, workspace: Path) -> None:
    _refused("not_found", lambda: root.write("a/b/c.txt", b"", directories=False))
    assert names(workspace) == []
    assert root.write("a/b/c.txt", b"x").directories == ("a", "a/b")
    assert root.write("a/b/d.txt", b"x").directories == ()


def test_a_write_goes_through_a_link_that_stays_inside(root: Root, workspace: Path) -> None:
    (workspace / "real").mkdir()
    (workspace / "link").symlink_to("real/target.txt")
    assert root.write("link", b"x").created
    assert (workspace / "link").is_symlink()
    assert (workspace / "real/target.txt").read_bytes() == b"x"


def test_an_undo_can_take_back_a_write(root: Root, workspace: Path) -> None:
    done = root.write("a/b", b"x")
    assert root.remove("a/b").data == b"x"
    for folder in reversed(done.directories):
        root.remove(folder + "/")
    assert names(workspace) == []


@pytest.fixture
def commons() -> Iterator[Path]:
    """A folder that everybody may use: pytest's own are private."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def test_a_read_only_file_is_left_alone(commons: Path, kernel: bool) -> None:
    (commons / "fixed").write_bytes(b"old")
    (commons / "fixed").chmod(0o444)
    assert _as_nobody(lambda: Root(str(commons), kernel=kernel).write("fixed", b"new")) == "access_denied"
    assert (commons / "fixed").read_bytes() == b"old"
    assert names(commons) == ["fixed"]


def test_what_may_not_be_opened_is_refused(commons: Path, kernel: bool) -> None:
    (commons / "shut").write_bytes(b"old")
    (commons / "shut").chmod(0)
    (commons / "folder").mkdir(0)
    root = Root(str(commons), kernel=kernel)
    inner = Root(str(commons / "folder/inner"), kernel=kernel)
    assert _as_nobody(lambda: root.read("shut")) == "access_denied"
    assert _as_nobody(lambda: root.read("folder/x")) == "access_denied"
    assert _as_nobody(lambda: root.write("folder/x", b"")) == "access_denied"
    assert _as_nobody(lambda: inner.read("x")) == "workspace_missing"


def _as_nobody(act: Callable[[], object]) -> str:
    """The code that someone without rights gets. Root may do anything, so root asks as someone else."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:  # pragma: no cover - another process
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            act()
            os.write(writing, b"done")
        except ToolFailed as error:
            os.write(writing, error.as_fault().code.encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as told:
        return told.read()


@pytest.fixture
def small_disk(workspace: Path) -> Iterator[Path]:
    mounted = workspace / "disk"
    mounted.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", mounted], check=False).returncode:
        pytest.skip("no small disk could be mounted")
    yield mounted
    subprocess.run(["umount", mounted], check=True)


@root_only
@pytest.mark.meets("path:disk:full", "write-file:atomic")
def test_a_full_disk_changes_nothing(small_disk: Path, kernel: bool) -> None:
    root = Root(str(small_disk), kernel=kernel)
    root.write("kept", b"old")
    error = _refused("disk_full", lambda: root.write("kept", b"x" * 200_000))
    assert "nothing was written" in error.message
    _refused("disk_full", lambda: root.write("new/folder/file", b"x" * 200_000))
    assert names(small_disk) == ["kept"]
    assert root.read("kept").data == b"old"


@pytest.mark.meets("path:disk:full")
def test_a_size_limit_of_the_system_changes_nothing(root: Root, workspace: Path) -> None:
    root.write("kept", b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        _refused("disk_full", lambda: root.write("kept", b"x" * 2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names(workspace) == ["kept"]
    assert root.read("kept").data == b"old"


def test_a_change_is_not_lost_beside_another(root: Root, workspace: Path) -> None:
    (workspace / "count").write_bytes(b"0")

    def add() -> None:
        for _ in range(50):
            root.change("count", lambda data: str(int(data) + 1).encode())

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert root.read("count").data == b"200"


def test_a_change_by_someone_else_meanwhile_is_not_overwritten(root: Root, workspace: Path) -> None:
    (workspace / "a").write_bytes(b"old")

    def edit(_: bytes) -> bytes:
        (workspace / "a").write_bytes(b"theirs")
        return b"ours"

    _refused("changed_meanwhile", lambda: root.change("a", edit))
    assert root.read("a").data == b"theirs"


def test_no_handle_is_left_open(root: Root, maze: Path) -> None:
    def everything() -> None:
        for path in ("sub/a.txt", "out/secret.txt", "nope", "denied/key", "good/x", "dangling"):
            for act in (lambda p=path: root.read(p), lambda p=path: root.change(p, bytes)):
                with suppress(ToolFailed):
                    act()

    everything()
    before = len(names(Path("/proc/self/fd")))
    everything()
    assert len(names(Path("/proc/self/fd"))) == before


def test_a_name_is_shown_on_one_line_without_invalid_characters(root: Root, workspace: Path) -> None:
    error = _refused("not_found", lambda: root.read("a\nb\x1b[31m\udcff"))
    assert "a\\nb\\x1b[31m\\xff" in error.message
    assert "\n" not in error.message


def test_unknown_troubles_are_told_without_the_hosts_paths() -> None:
    error = faults.told(OSError(errno.EIO, "Input/output error", "/host/path"), "a.txt")
    assert error.as_fault().code == "io_error"
    assert error.message == "a.txt: Input/output error."


@pytest.mark.meets("path:workspace:by-caller", "path:deny:hidden")
async def test_each_caller_works_in_its_own_workspace_with_its_own_denials(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "private").mkdir(parents=True)
        (tmp_path / name / "private/a").write_text(name)
    spaces = LocalWorkspaces(str(tmp_path / "one"), {"scout": ["private"], "*": ["never"]})
    assert (await spaces.of(Caller(agent="dev")).read("private/a")).data == b"one"
    assert (await spaces.of(Caller(agent="dev", workspace=str(tmp_path / "two"))).read("private/a")).data == b"two"
    for path in ("private/a", "never", ".toolcrib/x"):
        with pytest.raises(ToolFailed, match=f"access denied: path {path} is restricted"):
            await spaces.of(Caller(agent="scout")).read(path)
    with pytest.raises(ToolFailed, match="workspace is not there"):
        LocalWorkspaces().of(Caller(agent="dev"))


def test_a_durable_root_writes_the_same(workspace: Path, kernel: bool) -> None:
    root = Root(str(workspace), kernel=kernel, durable=True)
    assert root.write("a", b"x").size == 1
    assert root.read("a").data == b"x"
    _refused("not_found", lambda: root.remove("b"))
    _refused("is_a_directory", lambda: root.change(".", bytes))


@pytest.mark.parametrize(
    "path",
    [".git/hooks/pre-commit", "lib/.git/config", ".git", ".bashrc", ".vscode/settings.json", ".mcp.json", "aside/x"],
)
def test_what_other_programs_run_is_read_and_not_changed(root: Root, workspace: Path, path: str) -> None:
    (workspace / ".git/hooks").mkdir(parents=True)
    (workspace / "aside").symlink_to(".git/hooks")
    for act in (lambda: root.write(path, b"x"), lambda: root.permits(path, "write")):
        assert "protected" in _refused("access_denied", act).message
    assert list((workspace / ".git/hooks").iterdir()) == []
    assert root.write(".gitignore", b"x").created


def test_the_way_back_from_a_link_that_leads_outside_is_refused(root: Root, workspace: Path) -> None:
    (workspace / "out").symlink_to(workspace.parent)
    (workspace / "sub").mkdir()
    (workspace / "a").write_bytes(b"x")
    _refused("path_outside_workspace", lambda: root.read("out/../a"))
    assert root.read("sub/../a").data == b"x"
