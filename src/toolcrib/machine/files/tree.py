"""Walks below a workspace: listings, globs, and the files that a search looks into.

Every directory is opened anew from the root's handle and through no link, so a walk cannot be led outside and holds
one handle at a time however deep it goes.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress

from msgspec import Struct

from toolcrib.machine.files.root import Root
from toolcrib.safety.globs import Glob
from toolcrib.safety.ignore import NAMES, SKIPPED, Level, Rules, Sieve, read_rules
from toolcrib.services.content.files import Entry, Kind, Listing

BYTES_OF_RULES = 1 << 20
DEEPEST = 200
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY


class _Name(Struct, frozen=True):
    """A name that was found. Its kind is a hint: what counts is what is opened."""

    name: str
    path: str
    kind: Kind
    size: int
    links: int = 1

    @property
    def skipped(self) -> bool:
        """Whether it is a folder that listings leave out."""
        return self.kind is Kind.DIRECTORY and self.name in SKIPPED


def names(root: Root, handle: int, path: str, *, sizes: bool = False) -> list[_Name]:
    """What a directory holds that is not barred, in byte order. One that cannot be opened holds nothing."""
    try:
        fd = root.beneath.open_plain(handle, path, _DIRECTORY)
    except OSError:
        return []
    prefix = "" if path == "." else path + "/"
    try:
        with os.scandir(fd) as found:
            listed = [_name(entry, prefix, sizes=sizes) for entry in found]
    finally:
        os.close(fd)
    listed.sort(key=lambda one: os.fsencode(one.name))
    return [one for one in listed if not root.barred.holds(one.path)]


def _name(entry: "os.DirEntry[str]", prefix: str, *, sizes: bool) -> _Name:
    kind = _kind(entry)
    if sizes and kind is Kind.FILE:
        with suppress(OSError):  # gone since
            status = entry.stat(follow_symlinks=False)
            return _Name(entry.name, prefix + entry.name, kind, status.st_size, status.st_nlink)
    return _Name(entry.name, prefix + entry.name, kind, 0)


def _kind(entry: "os.DirEntry[str]") -> Kind:
    if entry.is_symlink():
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.DIRECTORY
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER


def start(root: Root, handle: int, asked: str) -> tuple[str, os.stat_result]:
    """Where a walk begins: the path without links, and what is there."""
    relative = root.relative(asked)
    if relative == ".":
        return ".", os.fstat(handle)
    spot = root.beneath.spot(handle, relative, asked=asked)
    try:
        return spot.path, os.stat(spot.name, dir_fd=spot.directory, follow_symlinks=False)
    finally:
        os.close(spot.directory)


def _directory(root: Root, handle: int, asked: str) -> str:
    path, status = start(root, handle, asked)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(20, "")
    os.close(root.beneath.open_plain(handle, path, _DIRECTORY))  # says so if it may not be read
    return path


def listing(root: Root, asked: str, *, depth: int, pattern: str, limit: int) -> Listing:
    """What a directory holds, `depth` levels down. The pattern chooses what is shown, not where one looks."""
    glob = Glob(pattern) if pattern else None
    with root.entered(asked) as handle:
        top = _directory(root, handle, asked)
        base = 0 if top == "." else len(top) + 1

        def goes_into(one: _Name) -> bool:
            return not one.skipped and one.path.count("/", base) + 1 < depth

        found = (one for one in _descend(root, handle, top, goes_into) if one.skipped or _fits(glob, one.path[base:]))
        return _collected(found, limit)


def find(root: Root, pattern: str, asked: str, limit: int) -> Listing:
    """Files whose path below `asked` fits a glob. A skipped folder is gone into only if the glob names it."""
    glob = Glob(pattern)
    named = SKIPPED.intersection(pattern.split("/"))
    with root.entered(asked) as handle:
        top = _directory(root, handle, asked)
        base = 0 if top == "." else len(top) + 1

        def goes_into(one: _Name) -> bool:
            return not one.skipped or one.name in named

        def shows(one: _Name) -> bool:
            if one.kind is Kind.DIRECTORY:
                return one.skipped and one.name not in named
            return one.kind is not Kind.OTHER and glob.fits(one.path[base:])

        return _collected(filter(shows, _descend(root, handle, top, goes_into)), limit)


def _fits(glob: Glob | None, path: str) -> bool:
    return glob is None or glob.fits(path)


def _collected(found: Iterator[_Name], limit: int) -> Listing:
    entries: list[Entry] = []
    skipped: list[str] = []
    for one in found:
        if one.skipped:
            skipped.append(one.path)
        elif len(entries) == limit:
            return Listing(tuple(entries), tuple(skipped), cut=True)
        else:
            entries.append(Entry(one.path, one.kind, one.size))
    return Listing(tuple(entries), tuple(skipped))


def _descend(root: Root, handle: int, top: str, goes_into: Callable[[_Name], bool]) -> Iterator[_Name]:
    todo = names(root, handle, top, sizes=True)[::-1]
    while todo:
        one = todo.pop()
        yield one
        if one.kind is Kind.DIRECTORY and goes_into(one):
            todo += names(root, handle, one.path, sizes=True)[::-1]


class Passed:
    """The files that a search comes by and does not look into."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.large: list[str] = []
        self.linked: list[str] = []

    def takes(self, one: _Name) -> bool:
        """Whether the file is one of them."""
        mine = self.linked if one.links > 1 else self.large if one.size > self._most else None
        if mine is not None:
            mine.append(one.path)
        return mine is not None


def candidates(root: Root, handle: int, top: str, sieve: Sieve, *, ignore: bool, passed: Passed) -> Iterator[str]:
    """The files a search looks into, in path order: what ripgrep would look into."""
    level: Level | None = None
    for parent in parents(top) if ignore else ():
        level = _level(root, handle, parent, names(root, handle, parent), level)
    todo = [(_Name("", top, Kind.DIRECTORY, 0), level)]
    while todo:
        one, level = todo.pop()
        if one.kind is Kind.FILE:
            if not passed.takes(one):
                yield one.path
            continue
        listed = names(root, handle, one.path, sizes=True)
        level = _level(root, handle, one.path, listed, level) if ignore else None
        todo += [(below, level) for below in reversed(listed) if _stays(below, sieve, level)]


def _stays(one: _Name, sieve: Sieve, level: Level | None) -> bool:
    """Whether a walk goes on with a name: a file to look into, or a folder to go into."""
    folder = one.kind is Kind.DIRECTORY
    if not folder and one.kind is not Kind.FILE:
        return False
    return one.path.count("/") < DEEPEST and not sieve.drops(os.fsencode(one.path), level, folder=folder)


def _level(root: Root, handle: int, path: str, listed: list[_Name], above: Level | None) -> Level | None:
    """A directory's ignore files, above those that hold already."""
    present = {one.name for one in listed if one.kind is Kind.FILE}
    own = tuple(_rules(root, handle, path, name) if name in present else None for name in NAMES)
    if not any(own):
        return above
    return Level(b"" if path == "." else os.fsencode(path) + b"/", own, above)


def parents(path: str) -> list[str]:
    """The directories above a path, the workspace first."""
    if path == ".":
        return []
    parts = path.split("/")
    return [".", *("/".join(parts[:count]) for count in range(1, len(parts)))]


def _rules(root: Root, handle: int, directory: str, name: str) -> Rules | None:
    data = content(root, handle, name if directory == "." else f"{directory}/{name}", BYTES_OF_RULES)
    return None if data is None else read_rules(data)


def content(root: Root, handle: int, path: str, limit: int) -> bytes | None:
    """The bytes of a file that a walk found; None if it is not a plain file of this workspace, or too large."""
    try:
        fd = root.beneath.open_plain(handle, path, os.O_RDONLY)
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or status.st_size > limit:
            return None
        with os.fdopen(os.dup(fd), "rb", buffering=0) as file:
            return file.readall()
    except OSError:
        return None
    finally:
        os.close(fd)
