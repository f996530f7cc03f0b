"""What a shell knows at one place of a command: variables, functions, aliases, files it wrote, the folder it is in."""

from typing import Any

from toolcrib.safety.shell.marks import UNKNOWN

# Their value is known well enough for what is decided by it. `~` stands for the home folder throughout.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
KNOWN = {
    "HOME": "~",
    "IFS": " \t\n",
    "SHELL": "/bin/bash",
    "BASH": "/bin/bash",
    "0": "bash",
    "TMPDIR": "/tmp",  # noqa: S108 - a name that commands use, not a file of ours
    "PATH": PATH,
    **dict.fromkeys(("?", "$", "!", "#", "UID", "EUID", "PPID", "RANDOM", "SECONDS", "LINENO", "COLUMNS"), "1"),
}


class Scope:
    """Changes as the commands are walked through in order; a subshell gets a copy."""

    __slots__ = ("aliases", "arguments", "cwd", "files", "functions", "loose", "names", "wrote")

    def __init__(self, cwd: str = "") -> None:
        self.names: dict[str, str | list[str]] = {}
        self.arguments: list[str] | None = []
        self.functions: dict[str, Any] = {}
        self.aliases: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.cwd = cwd
        self.loose = 0  # how many loops and branches stand around: what is assigned there may not have been
        self.wrote = False

    def copy(self) -> "Scope":
        """What a subshell or a branch sees."""
        made = Scope(self.cwd)
        made.names, made.functions, made.aliases = dict(self.names), dict(self.functions), dict(self.aliases)
        made.arguments, made.loose = self.arguments, self.loose
        made.files, made.wrote = self.files, self.wrote  # files are shared by all
        return made

    def assign(self, name: str, value: str | list[str], *, more: bool = False) -> None:
        """Sets a variable. In a branch nobody knows whether that happened, so the value carries a mark."""
        if more:
            value = self._added(self.names.get(name, ""), value)
        if self.loose:
            value = value + UNKNOWN if isinstance(value, str) else [part + UNKNOWN for part in value]
        self.names[name] = value

    @staticmethod
    def _added(old: str | list[str], value: str | list[str]) -> str | list[str]:
        if isinstance(old, str) and isinstance(value, str):
            return old + value
        return [*([old] if isinstance(old, str) else old), *([value] if isinstance(value, str) else value)]

    def value(self, name: str) -> str | list[str] | None:
        """A variable's value; None when nothing is known of it."""
        found = self.names.get(name)
        if found is not None:
            return found
        if name in {"@", "*"}:
            return list(self.arguments) if self.arguments is not None else None
        if name.isdigit() and name != "0":
            if self.arguments is None:
                return None
            return self.arguments[int(name) - 1] if 0 < int(name) <= len(self.arguments) else ""
        if name == "PWD":
            return self.cwd or "."
        return KNOWN.get(name)
