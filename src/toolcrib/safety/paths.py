"""Path rules that need no disk: what a path means inside a workspace, which are barred, and how a name is shown."""

import posixpath
import re
import unicodedata
from collections.abc import Sequence

from toolcrib.core.errors import ToolFailed

LONGEST = 4000
SHOWN = 200  # characters of a path in a message

# Names at the top of a workspace that make other programs run code, or ours trust somebody.
PROTECTED_FILES = (
    ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".envrc", ".gitconfig", ".gitmodules", ".mcp.json",
    ".profile", ".ripgreprc", ".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc", "toolcrib.yaml",
)  # fmt: skip
PROTECTED_FOLDERS = (".claude", ".cursor", ".idea", ".vscode")
_TOP = frozenset((*PROTECTED_FILES, *PROTECTED_FOLDERS))
_GIT = re.compile(r"(?:^|/)\.git(?:$|/(?:hooks|config)(?:$|/))")  # of any repository, or its folder's place


def refuse_protected(path: str, asked: str) -> None:
    """Raise if a cleaned, relative path may be read but not changed: what stands there runs on the machine outside."""
    if path.partition("/")[0] in _TOP or _GIT.search(path):
        raise ToolFailed(
            f"{shown(asked)} is protected: other programs run what stands there.",
            code="access_denied",
            hint="A person has to change it.",
        )


def clean(path: str, roots: Sequence[str]) -> str:
    """The path relative to the workspace, "." for the workspace itself.

    `roots` are the names of the one workspace, as configured and as resolved. Nothing but "." and ".." has a
    meaning here: "~", "%2e" and "file://" are names like any other.
    """
    if "\0" in path:
        raise ToolFailed("The path holds a NUL byte.", code="bad_path", hint="Use a plain path inside the workspace.")
    if len(path) > LONGEST:
        raise ToolFailed(f"The path has {len(path):,} characters; {LONGEST:,} is the most.", code="bad_path")
    whole = posixpath.normpath(path if path.startswith("/") else f"{roots[0]}/{path}")
    if whole.startswith("//"):
        whole = whole[1:]  # POSIX lets two slashes mean something else; Linux does not
    for root in roots:
        if whole == root:
            return "."
        below = root if root.endswith("/") else root + "/"
        if whole.startswith(below):
            return whole[len(below) :]
    raise outside(path)


def outside(path: str) -> ToolFailed:
    """The refusal of a path that leaves the workspace."""
    return ToolFailed(
        f"{shown(path)} is outside the workspace.",
        code="path_outside_workspace",
        hint="Use a path inside the workspace, such as src/main.py.",
    )


class Barred:
    """Path prefixes that an agent may not touch and does not see."""

    def __init__(self, prefixes: Sequence[str], *, folds: bool = False) -> None:
        self._folds = folds  # the file system takes A and a, or two forms of one letter, for the same name
        cleaned = (posixpath.normpath(self._key(prefix).strip("/")) for prefix in prefixes)
        self.prefixes = tuple(sorted({prefix for prefix in cleaned if prefix != "."}))
        self._below = tuple(prefix + "/" for prefix in self.prefixes)

    def holds(self, path: str) -> bool:
        """Whether a cleaned, relative path is barred."""
        key = self._key(path)
        return key in self.prefixes or key.startswith(self._below)

    def refuse(self, path: str, asked: str) -> None:
        """Raise if the path is barred. The message carries the path as it was asked for."""
        if self.holds(path):
            raise ToolFailed(f"access denied: path {shown(asked)} is restricted", code="access_denied")

    def _key(self, path: str) -> str:
        return unicodedata.normalize("NFC", path).casefold() if self._folds else path


def shown(path: str) -> str:
    """A path in a message or a result: one line, and never an invalid character."""
    if not path:
        return "."  # the workspace itself
    if path.isprintable() and path.isascii():
        return path if len(path) <= SHOWN else path[:SHOWN] + "…"
    told = "".join(_shown_character(character) for character in path)
    return told if len(told) <= SHOWN else told[:SHOWN] + "…"


def escaped(path: str) -> str:
    """Like `shown`, and whole: for listings, where a path must be usable as it stands."""
    if path.isprintable():
        return path
    return "".join(_shown_character(character) for character in path)


def _shown_character(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as os.fsdecode keeps it
        return f"\\x{code - 0xDC00:02x}"
    return character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
