"""What the operating system says, in words that a model can act on. The host's own paths are never in them."""

import errno
from typing import NamedTuple

from toolcrib.core.errors import ToolFailed
from toolcrib.safety.paths import shown
from toolcrib.services.content.files import BYTES_SEARCHED


class _Words(NamedTuple):
    code: str
    what: str
    hint: str = ""


_FULL = _Words("disk_full", "the disk is full, so nothing was written", "Free some space, or tell a person.")
_BUSY = _Words("io_error", "too many files are open; try again", "")
_WORDS = {
    errno.ENOENT: _Words("not_found", "there is no such file or directory", "list_directory shows what there is."),
    errno.EISDIR: _Words("is_a_directory", "it is a directory", "list_directory shows what it holds."),
    errno.ENOTDIR: _Words("not_a_directory", "a part of the path is a file, not a directory"),
    errno.ENXIO: _Words("not_a_file", "it is not a regular file"),
    errno.ENODEV: _Words("not_a_file", "it is not a regular file"),
    errno.EACCES: _Words("access_denied", "the operating system does not allow it"),
    errno.EPERM: _Words("access_denied", "the operating system does not allow it"),
    errno.EROFS: _Words("access_denied", "the file system is read-only"),
    errno.ELOOP: _Words("bad_path", "its symbolic links lead in a circle"),
    errno.ENAMETOOLONG: _Words("bad_path", "the name is too long", "A name may have 255 bytes."),
    errno.EINVAL: _Words("bad_path", "the name is not one this file system takes"),
    errno.EILSEQ: _Words("bad_path", "the name is not one this file system takes"),
    errno.EEXIST: _Words("exists", "something of that name is already there"),
    errno.ENOTEMPTY: _Words("exists", "the directory is not empty"),
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _Words("disk_full", "the file is larger than the system allows, so nothing was written"),
    errno.EMFILE: _BUSY,
    errno.ENFILE: _BUSY,
}


def told(error: OSError, path: str) -> ToolFailed:
    """The failure of a call about `path`, which is the path as it was asked for."""
    if error.errno == errno.ESTALE:
        return missing()
    words = _WORDS.get(error.errno or 0)
    if words is None:
        return ToolFailed(f"{shown(path)}: {error.strerror}.", code="io_error", hint="Tell a person if it stays so.")
    return ToolFailed(f"{shown(path)}: {words.what}.", code=words.code, hint=words.hint, retryable=words is _BUSY)


def missing(error: OSError | None = None) -> ToolFailed:
    """The workspace itself is not there, or not for us."""
    shut = error is not None and error.errno == errno.EACCES
    return ToolFailed(
        "The workspace may not be opened." if shut else "The workspace is not there any more, or was never set.",
        code="workspace_missing",
        hint="Tell a person: no file tool works until it is back.",
    )


def irregular(path: str) -> ToolFailed:
    """A FIFO, a device, a socket."""
    return ToolFailed(f"{shown(path)}: it is not a regular file.", code="not_a_file")


def linked(path: str) -> ToolFailed:
    """A file with a second hard link may be one from outside the workspace."""
    return ToolFailed(
        f"{shown(path)}: it has more than one hard link, so it may be a file from outside the workspace.",
        code="access_denied",
        hint="Copy it under another name and use the copy.",
    )


def too_large(path: str, size: int, limit: int) -> ToolFailed:
    """More than may be read at once."""
    cut = "A shell command can search it or cut it into parts."
    return ToolFailed(
        f"{shown(path)} has {size / 1048576:,.1f} MB; at most {limit / 1048576:,.0f} MB can be read.",
        code="too_large",
        hint="grep finds lines in it, and a shell command can cut it into parts." if size <= BYTES_SEARCHED else cut,
    )
