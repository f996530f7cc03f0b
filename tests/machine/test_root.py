"""Files below a root: what is read and written, and what is refused. Everything runs on both ways of opening."""

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
from toolcrib.machine.files import faults, openat
from toolcrib.machine.files.root import Root
from toolcrib.machine.files.workspace import LocalWorkspaces
from toolcrib.services.files import BYTES_OF_FILE, CODES

SECRET = b"outside secret"
PRIVATE = b"denied secret"
WAYS = [pytest.param(True, id="openat2"), pytest.param(False, id="walk")]
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")


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


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def _refused(code: str, act: Callable[[], object]) -> ToolError:
    with pytest.raises(ToolFailed) as caught:
        act()
    assert caught.value.as_fault().code == code
    assert code in CODES
    return caught.value


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
    assert names(outside) == ["secret.txt"]
    assert codes <= HARMLESS


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
    _refused("not_found", lambda: root.read("loop"))
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
