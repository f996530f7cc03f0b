"""Which files a search leaves out, as ripgrep decides it: globs of the call, ignore files, hidden names."""

import os
from collections.abc import Sequence

from msgspec import Struct

from toolcrib.safety.globs import BadGlob, Globs, as_regex, bad_glob

# Of one directory, the first that has something to say decides; of one kind, the deepest directory's does.
NAMES = (".rgignore", ".ignore", ".gitignore")
VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", "CVS"})
BUILT = frozenset(
    {
        ".cache",
        ".mypy_cache",
        ".next",
        ".nox",
        ".nuxt",
        ".nyc_output",
        ".output",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        "__pycache__",
        "coverage",
        "dist",
        "node_modules",
    }
)
SKIPPED = VERSION_CONTROL | BUILT
LINES = 20_000


class _Rule(Struct, frozen=True):
    expression: bytes
    keeps: bool  # the line begins with "!"
    folders: bool  # the line ends with "/"


class Rules:
    """The lines of one ignore file. The last that fits decides."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self.rules = [rule for line in lines[:LINES] if (rule := _rule(line))]
        self._globs = Globs(rule.expression for rule in self.rules)

    def verdict(self, path: bytes, *, folder: bool) -> bool | None:
        """True: left out; False: kept; None: nothing said. The path is relative to the file's directory."""
        for number in sorted(self._globs.matches(path), reverse=True):
            rule = self.rules[number]
            if folder or not rule.folders:
                return not rule.keeps
        return None


def read_rules(data: bytes) -> Rules:
    """Rules from an ignore file's bytes."""
    return Rules(data.removeprefix(b"\xef\xbb\xbf").splitlines())


def _rule(line: bytes) -> _Rule | None:
    if line.startswith(b"#"):
        return None
    line = line if line.endswith(b"\\ ") else line.rstrip()
    keeps = line.startswith(b"!")
    line = line[1:] if keeps or line.startswith((b"\\!", b"\\#")) else line
    rooted = line.startswith(b"/")
    line = line[1:] if rooted else line
    folders = line.endswith(b"/")
    line = line[:-1] if folders else line
    if not line:
        return None
    if not rooted and b"/" not in line:
        line = b"**/" + line
    if line.endswith(b"/**"):
        line += b"/*"  # everything inside, not the directory itself
    try:
        return _Rule(as_regex(line), keeps, folders)
    except BadGlob:
        return None  # a line that means nothing says nothing


class Wanted:
    """The globs of a call, as ripgrep's -g: the last that fits decides, and stands above every ignore file."""

    def __init__(self, globs: Sequence[str]) -> None:
        for glob in globs:
            try:
                as_regex(os.fsencode(glob))
            except BadGlob as error:
                raise bad_glob(glob, error) from None
        self._rules = Rules([os.fsencode(glob) for glob in globs])
        self._asks = any(not rule.keeps for rule in self._rules.rules)

    def verdict(self, path: bytes, *, folder: bool) -> bool | None:
        """True: left out; False: wanted; None: nothing said."""
        said = self._rules.verdict(path, folder=folder)
        if said is None:
            return True if self._asks and not folder else None
        return not said  # a plain glob, which an ignore file would leave out, is what is wanted here


class Level(Struct, frozen=True):
    """A directory's own ignore files, and those of the directories above it."""

    prefix: bytes  # the directory with a final "/", b"" for the workspace
    own: tuple[Rules | None, ...] = ()  # in the order of NAMES
    above: "Level | None" = None


class Sieve(Struct, frozen=True):
    """Decides which names a walk leaves out."""

    wanted: Wanted
    hidden: bool = False

    def drops(self, path: bytes, level: Level | None, *, folder: bool) -> bool:
        """Whether a file or a folder is left out. `level` is that of the directory it lies in."""
        said = self.wanted.verdict(path, folder=folder)
        if said is not None:
            return said
        ignored = _ignored(path, level, folder=folder)
        if ignored is not None:
            return ignored
        return not self.hidden and path[path.rfind(b"/") + 1 :].startswith(b".")


def _ignored(path: bytes, level: Level | None, *, folder: bool) -> bool | None:
    said: list[bool | None] = [None] * len(NAMES)
    while level is not None:
        for kind, rules in enumerate(level.own):
            if rules is not None and said[kind] is None:
                said[kind] = rules.verdict(path[len(level.prefix) :], folder=folder)
        level = level.above
    return next((verdict for verdict in said if verdict is not None), None)
