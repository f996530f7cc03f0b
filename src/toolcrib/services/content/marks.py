"""The marks that stand for secrets in what agents see, and the way back: a file that is written gets its secrets again.

Only tools that write files below a workspace ask for this. What goes to a program, a host or another agent never does.
"""

from typing import Protocol

BEGINS = "[REDACTED:"


class Marks(Protocol):
    """The secrets behind the marks of this session."""

    def restored(self, text: str, held: str = "") -> str:
        """The text with each mark's secret in its place.

        A mark that is not known here and does not stand in what the file holds already is refused: written as it is,
        it would destroy the secret.
        """
        ...


class NoMarks:
    """No scrubber here keeps marks, so every text is meant as it stands."""

    def restored(self, text: str, held: str = "") -> str:  # noqa: ARG002 - the port's words
        """The text as it stands."""
        return text
