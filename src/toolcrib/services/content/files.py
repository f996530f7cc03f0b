"""The files of a workspace, as the tools see them: ports, and the values that pass through them.

Paths are relative to the workspace, cleaned, and separated by "/"; "." is the workspace itself. Every failure is a
ToolFailed with one of the codes below, and then nothing was changed.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from toolcrib.core.call import Caller

BYTES_OF_FILE = 10 * 1024 * 1024
BYTES_SEARCHED = 50 * 1024 * 1024  # of one file; a search passes over a larger one and says so
CODES = (
    "access_denied",
    "bad_edit",
    "bad_path",
    "bad_pattern",
    "bad_range",
    "bad_text",
    "binary_file",
    "ambiguous_match",
    "changed_meanwhile",
    "disk_full",
    "exists",
    "io_error",
    "is_a_directory",
    "no_match",
    "not_a_directory",
    "not_a_file",
    "not_found",
    "path_outside_workspace",
    "too_large",
    "unknown_mark",
    "unreadable_pdf",
    "workspace_missing",
)

# What may be asked about a path, under each of its names.
OPERATIONS = {
    **dict.fromkeys(("read", "open", "stat", "search", "grep"), "read"),
    **dict.fromkeys(("list", "listing", "find", "ls"), "list"),
    **dict.fromkeys(("write", "create", "append", "mkdir"), "write"),
    **dict.fromkeys(("edit", "change", "patch"), "edit"),
    **dict.fromkeys(("delete", "remove", "unlink", "rename", "move"), "delete"),
}
Edit: TypeAlias = Callable[[bytes], bytes]


class Stored(Struct, frozen=True):
    """A file as it was read."""

    path: str
    data: bytes
    mode: int = 0o644
    modified_ns: int = 0


class Written(Struct, frozen=True, kw_only=True):
    """What a write did. `before` and `directories` are all that an undo needs."""

    path: str
    size: int
    created: bool
    mode: int
    before: bytes | None = None  # the earlier content; None when there was none, or it was not asked for
    directories: tuple[str, ...] = ()  # made on the way, outermost first


class Rewritten(Struct, frozen=True, kw_only=True):
    """A change of one file that is about to be made."""

    path: str
    existed: bool
    before: bytes | None  # None: there was no file, or it is too large to keep
    mode: int  # of the earlier file
    size: int  # of the earlier file
    after: bytes | None  # None: it is removed
    directories: tuple[str, ...] = ()  # made on the way


Noted: TypeAlias = Callable[[Rewritten], object]


class Kind(StrEnum):
    """What a name in a directory stands for."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"


class Entry(Struct, frozen=True):
    """One name in a directory."""

    path: str
    kind: Kind
    size: int | None = 0  # None where it is not known


class Listing(Struct, frozen=True):
    """What a directory holds, in path order. `skipped` are version-control and build folders that were left out."""

    entries: tuple[Entry, ...]
    skipped: tuple[str, ...] = ()
    cut: bool = False  # there is more than the limit


class Mode(StrEnum):
    """What a search gives back."""

    CONTENT = "content"
    FILES = "files_with_matches"
    COUNT = "count"


class Query(Struct, frozen=True, kw_only=True):
    """What to search for, and where."""

    pattern: str
    path: str = "."
    mode: Mode = Mode.CONTENT
    glob: str = ""
    before: int = 0
    after: int = 0
    ignore_case: bool = False
    multiline: bool = False
    hidden: bool = False
    no_ignore: bool = False
    limit: int = 100
    seconds: float = 30


class Line(Struct, frozen=True):
    """A line that matched, or one around it. `column` is the byte at which the first match begins."""

    number: int
    text: str
    match: bool = True
    column: int = 0


class FileHits(Struct, frozen=True):
    """What was found in one file. `count` is the number of matching lines."""

    path: str
    count: int = 0
    lines: tuple[Line, ...] = ()


class Hits(Struct, frozen=True):
    """What a search found, in path order. `cut` says that there is more than the limit.

    `large` and `linked` are files that were not looked into: too long, or with a second hard link.
    """

    files: tuple[FileHits, ...]
    cut: bool = False
    large: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()


class Workspace(Protocol):
    """The files one caller may reach."""

    def relative(self, path: str) -> str:
        """The path cleaned and relative to the workspace. Refuses one that leaves it; looks at no disk."""
        ...

    async def read(self, path: str, limit: int = BYTES_OF_FILE) -> Stored:
        """A regular file's bytes."""
        ...

    async def write(self, path: str, data: bytes, *, directories: bool = True, keep: bool = False) -> Written:
        """Put a whole file in place at once, or change nothing. `keep` hands back what it held before."""
        ...

    async def change(self, path: str, edit: Edit) -> Written:
        """Read, edit, write back, as one step. `before` is always handed back."""
        ...

    async def remove(self, path: str) -> Stored:
        """Remove a file, or an empty directory that is named with a final "/"."""
        ...

    async def listing(self, path: str, *, depth: int = 1, pattern: str = "", limit: int = 1000) -> Listing:
        """What a directory holds, `depth` levels down."""
        ...

    async def find(self, pattern: str, path: str = ".", limit: int = 1000) -> Listing:
        """Files whose path below `path` fits a glob."""
        ...

    async def search(self, query: Query) -> Hits:
        """Lines that a regular expression matches."""
        ...

    async def pdf_pages(self, path: str, data: bytes) -> Sequence[str]:
        """A PDF's text, page by page."""
        ...

    async def permits(self, path: str, op: str) -> None:
        """Raise what an operation of `OPERATIONS` would raise before it touches anything; touch nothing."""
        ...


@runtime_checkable
class Workspaces(Protocol):
    """Finds a caller's workspace."""

    def of(self, caller: Caller) -> Workspace:
        """The workspace the caller works in, with the paths its agent may not touch."""
        ...


class PathRoutes(Protocol):
    """Paths that look like files and are kept elsewhere: context files and memory (seed 004)."""

    def claims(self, caller: Caller, path: str) -> bool:
        """Whether this path is kept elsewhere."""
        ...

    async def read(self, caller: Caller, path: str) -> str | None:
        """The document; None when there is none."""
        ...

    async def write(self, caller: Caller, path: str, content: str) -> None:
        """Keep it."""
        ...

    async def listing(self, caller: Caller, directory: str) -> Sequence[str]:
        """The paths of what lies directly in a directory, relative to the workspace; a folder's ends with "/"."""
        ...


class NoRoutes:
    """Everything is on the disk."""

    def claims(self, caller: Caller, path: str) -> bool:  # noqa: ARG002 - the port's words
        """Claims no path."""
        return False

    async def read(self, caller: Caller, path: str) -> str | None:  # noqa: ARG002 - the port's words
        """Has no document."""
        return None

    async def write(self, caller: Caller, path: str, content: str) -> None:
        """Is never asked."""

    async def listing(self, caller: Caller, directory: str) -> Sequence[str]:  # noqa: ARG002 - the port's words
        """Has nothing to list."""
        return ()
