"""What a program sees of this machine, and what of its workspace it may not change."""

import os
import pwd
import stat
from collections.abc import Iterable, Mapping
from functools import cache

from msgspec import Struct

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.sandbox.keeper.ghosts import is_ghost
from toolcrib.safety.paths import PROTECTED_FILES, PROTECTED_FOLDERS

# Programs and their libraries. A root that is a link (bin -> usr/bin) is made a link inside as well.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_SETTINGS = (
    "alternatives", "crypto-policies", "fonts", "group", "hosts", "ld.so.cache", "localtime", "mime.types",
    "nsswitch.conf", "os-release", "passwd", "pki/ca-trust", "pki/tls/certs", "protocols", "resolv.conf", "services",
    "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "timezone",
)  # fmt: skip
# No folder that may hold keys as well: root's own keys can be read by programs that root lets run.
SETTINGS = tuple(f"/etc/{name}" for name in _SETTINGS)
# Of the files those that are read wherever they lie. The others mean something in a home folder only, and are covered
# when they are there, or when the workspace is somebody's home.
_ANYWHERE = {".bashrc", ".envrc", ".gitmodules", ".mcp.json", ".profile", ".zshrc", "toolcrib.yaml"}
_GIT = ".git"
_NEVER = ("/", "/dev", "/etc", "/proc", "/sys", "/usr", *SYSTEM)
_INSIDE_NEVER = ("/dev/", "/proc/", "/sys/")


class Covers(Struct, frozen=True):
    """What is laid over a workspace so that it cannot be changed: paths, in the order in which they are laid."""

    pinned: tuple[str, ...] = ()  # stays writable, but cannot be moved away from what lies below
    fixed: tuple[str, ...] = ()  # read only
    ghosts: tuple[tuple[str, bool], ...] = ()  # is not there, and must not come; whether as a folder


@cache
def system() -> tuple[str, ...]:
    """The roots of programs that this machine has."""
    return tuple(path for path in SYSTEM if os.path.lexists(path))


@cache
def settings() -> tuple[str, ...]:
    """The settings that this machine has and programs may see."""
    return tuple(path for path in SETTINGS if os.path.exists(path))


@cache
def folders() -> tuple[str, ...]:
    """Those of the settings that are folders."""
    return tuple(path for path in settings() if os.path.isdir(path))


@cache
def linked() -> dict[str, str]:
    """Those that are links into the system, and where they lead: a link inside costs less than a copy."""
    ends = {path: os.path.realpath(path) for path in settings()}
    return {path: end for path, end in ends.items() if path != end and end.startswith("/usr/")}


@cache
def _real_system() -> tuple[str, ...]:
    return tuple(os.path.realpath(path) for path in system())


def workspace(path: str) -> os.stat_result:
    """What stands there. Raises ToolFailed when nobody may work there."""
    real = os.path.realpath(path)
    if not os.path.isabs(path) or real in _NEVER or real.startswith(_INSIDE_NEVER):
        raise ToolFailed(
            f"{path} cannot be the workspace of a program: it belongs to the system.",
            code="bad_workspace",
            hint="Set `workspace` to a folder of its own.",
        )
    try:
        facts = os.stat(real)
    except OSError:
        facts = None
    if facts is None or not stat.S_ISDIR(facts.st_mode):
        raise ToolFailed(
            f"The workspace {path} is gone, or is not a folder.",
            code="workspace_gone",
            hint="A person has to make it again, or set `workspace` to one that exists.",
        )
    return facts


def beginning(top: str, cwd: str) -> str:
    """The folder that a program begins in. Raises ToolFailed when it is not below the workspace."""
    path = os.path.normpath(os.path.join(top, cwd))
    if not within(path, os.path.normpath(top)) or not within(os.path.realpath(path), os.path.realpath(top)):
        raise ToolFailed(
            f"{cwd} is not below the workspace.", code="outside_workspace", hint="Name a folder inside it."
        )
    if not os.path.isdir(path):
        raise ToolFailed(f"There is no folder {cwd} in the workspace.", code="not_found", hint="Make it first.")
    return path


def within(path: str, top: str) -> bool:
    """Whether a path is a folder or below it, by its letters."""
    return path == top or path.startswith(top.rstrip("/") + "/")


def below(top: str, paths: Iterable[str]) -> list[str]:
    """What those paths of a workspace lead to, where it exists and is inside: nothing outside is shown anyway."""
    real = os.path.realpath(top)
    found = (
        os.path.realpath(os.path.join(real, path.lstrip("/") if not within(path, top) else path)) for path in paths
    )
    return sorted(
        {top + path[len(real) :] for path in found if path != real and within(path, real) and os.path.exists(path)}
    )


def covers(top: str) -> Covers:
    """What to lay over a workspace. Raises ToolFailed where a link stands at a protected name."""
    pinned, fixed, ghosts = list[str](), list[str](), list[tuple[str, bool]]()
    names = [(name, True) for name in (_GIT, *PROTECTED_FOLDERS)] + [(name, False) for name in PROTECTED_FILES]
    home = top in _homes()
    for name, folder in names:
        path = os.path.join(top, name)
        facts = _facts(path)
        if facts is None or is_ghost(facts):
            if folder or home or name in _ANYWHERE or "/" in name or facts is not None:
                ghosts.append(
                    (path, name == _GIT)
                )  # taking a folder away costs milliseconds on some disks; a file bars it too
        elif stat.S_ISLNK(facts.st_mode):
            raise _link(name)
        elif name == _GIT and stat.S_ISDIR(facts.st_mode):
            pinned.append(path)
            names += [(".git/hooks", True), (".git/config", False)]
        else:
            fixed.append(path)
    return Covers(tuple(pinned), tuple(fixed), tuple(ghosts))


def _facts(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


@cache
def _homes() -> frozenset[str]:
    return frozenset(entry.pw_dir for entry in pwd.getpwall())


def _link(name: str) -> ToolFailed:
    return ToolFailed(
        f"{name} of the workspace is a link. It is protected, and a link cannot be: a program could lead it elsewhere.",
        code="protected_link",
        hint=f"A person has to put the file or folder itself at {name}.",
    )


def program(name: str, env: Mapping[str, str], seen: Iterable[str], cwd: str) -> str:
    """Where a program is, in the system or among what else can be seen. Raises ToolFailed as a shell says 127."""
    if "/" in name:
        tried = [os.path.normpath(os.path.join(cwd, name))]
    else:
        tried = [os.path.join(folder, name) for folder in env.get("PATH", DEFAULT_PATH).split(":") if folder]
    roots = [*_real_system(), *(os.path.realpath(root) for root in seen)]
    for path in tried:
        real = os.path.realpath(path)
        if os.path.isfile(real) and os.access(real, os.X_OK) and any(within(real, root) for root in roots):
            return path
    raise ToolFailed(
        f"There is no program {name} here." if "/" not in name else f"{name} is not a program that can be run here.",
        code="no_program",
        hint="Look what there is: command -v NAME. Programs outside the system and the workspace are not shown.",
        data={"exit_code": 127},
    )


DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
