"""One command that is about to run, as the tables of programs see it."""

from collections.abc import Callable, Sequence
from typing import Protocol

from toolcrib.safety.shell.judged import ASK, DENY
from toolcrib.safety.shell.marks import blurred
from toolcrib.safety.shell.rules import ShellRule
from toolcrib.safety.shell.scope import Scope


class Machine(Protocol):
    """What may be asked of the walk that a command belongs to."""

    workspace: str
    depth: int
    storable: bool
    rules: Sequence[ShellRule]
    calls: list[str]

    def worry(self, rule: str, why: str) -> None: ...

    def permitted(self, rule: str, why: str) -> None: ...

    def named(self, name: str, value: str | list[str]) -> None: ...

    def call(self, name: str, arguments: Sequence[str], scope: Scope, stdin: str | None) -> str: ...

    def note(self, level: str, rule: str, why: str, instead: str = "") -> None: ...

    def text(self, code: str, scope: Scope, stdin: str | None = None) -> str: ...

    def command(self, argv: Sequence[str], scope: Scope, stdin: str | None = None) -> str: ...


class Run:
    """A program's name, its words, what comes in, and where it stands."""

    __slots__ = ("_allowed", "machine", "name", "path", "scope", "stdin", "words")

    def __init__(
        self, path: str, name: str, words: Sequence[str], stdin: str | None, where: "tuple[Machine, Scope]"
    ) -> None:
        self.path = path
        self.name = name
        self.words = list(words)
        self.stdin = stdin
        self.machine, self.scope = where
        self._allowed = False

    def allow(self) -> None:
        """A rule takes away what would be asked about this command. Denials stay."""
        self._allowed = True

    def ask(self, rule: str, why: str, instead: str = "") -> None:
        """A person has to agree."""
        if not self._allowed:
            self.machine.note(ASK, rule, why, instead)

    def deny(self, rule: str, why: str, instead: str = "") -> None:
        """It is not run."""
        self.machine.note(DENY, rule, why, instead)

    def again(self, argv: Sequence[str], stdin: str | None = None) -> str:
        """Judges the command that this one runs."""
        return self.machine.command(argv, self.scope, self.stdin if stdin is None else stdin)

    def code(self, text: str, scope: Scope | None = None, stdin: str | None = None) -> str:
        """Judges a text that this command gives to a shell."""
        return self.machine.text(text, scope or self.scope, stdin)

    @property
    def cwd(self) -> str:
        """The folder that relative words start from."""
        return self.scope.cwd

    @property
    def told(self) -> str:
        """All words and the input as one text, for what is known of their origin."""
        return "".join(self.words) + (self.stdin or "")

    def has(self, *options: str) -> bool:
        """Whether one of the options is given: `-x` in any cluster, `--long` also cut short or with a value."""
        return any(is_option(word, option) for word in self.words for option in options)

    def operands(self, valued: str = "") -> list[str]:
        """The words that are no options; `valued` names the options that take the next word."""
        return operands(self.words, valued)

    def after(self, *options: str) -> str | None:
        """The value of an option: the next word, or what stands behind `=` or behind the letter."""
        for at, word in enumerate(self.words):
            for option in options:
                if word == option:
                    return self.words[at + 1] if at + 1 < len(self.words) else ""
                if len(option) > 2 and word.startswith(option + "="):
                    return word[len(option) + 1 :]
                if len(option) == 2 and word.startswith(option) and not word.startswith("--"):
                    return word[2:]
        return None

    def unknown(self) -> str:
        """Output of which only the origin is known."""
        return blurred(self.told)


Handle = Callable[[Run], str | None]


def is_option(word: str, option: str) -> bool:
    """Whether a word gives this option."""
    if not word.startswith("-"):
        return False
    if option.startswith("--"):
        name = word.partition("=")[0]
        return name == option or (len(name) > 4 and option.startswith(name))
    if len(option) == 2:
        return not word.startswith("--") and option[1] in word[1:].partition("=")[0]
    return word == option or word.startswith(option + "=")


def operands(words: Sequence[str], valued: str = "") -> list[str]:
    """The words that are no options and no option's value."""
    takes = frozenset(valued.split())
    out: list[str] = []
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif word == "--":
            return out + list(words[at + 1 :])
        elif word in takes:
            skip = True
        elif not word.startswith("-") or word == "-":
            out.append(word)
    return out
