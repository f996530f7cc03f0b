"""All passes over one window of text, and the one look that says whether any of them is needed."""

from toolcrib.safety.scrub.codes import Codes
from toolcrib.safety.scrub.commands import Commands
from toolcrib.safety.scrub.finder import View, view
from toolcrib.safety.scrub.forms import Forms
from toolcrib.safety.scrub.found import Found
from toolcrib.safety.scrub.hidden import Replaced, has_hidden, without_hidden, wraps
from toolcrib.safety.scrub.lines import Lines
from toolcrib.safety.scrub.named import Named
from toolcrib.safety.scrub.tables import Tables
from toolcrib.safety.scrub.tokens import Tokens

DEPTH = 2  # decoders inside decoders


class Rules:
    """The passes, compiled once a process."""

    view = staticmethod(view)

    def __init__(self, *, engine: bool = True) -> None:
        self._tokens = Tokens(engine=engine)
        others = (Named, Forms, Lines, Commands, Tables)
        self._passes = (self._tokens, *(each(engine=engine) for each in others))
        self._codes = Codes(self.look, engine=engine)

    def finds(self, view: View) -> list[Found]:
        """Every find of every pass; they may overlap."""
        return self._seen(view, DEPTH)

    def look(self, text: str, depth: int) -> list[Found]:
        """What a decoded text holds."""
        return self._seen(view(text), depth - 1)

    def may_hold(self, text: str) -> bool:
        return True

    def _seen(self, seen: View, depth: int) -> list[Found]:
        """A text with hidden characters is looked at as a reader sees it."""
        if not has_hidden(seen.text):
            return self._all(seen, depth)
        bare = without_hidden(seen.text)
        return [bare.back(find) for find in self._all(view(bare.text), depth)]

    def _all(self, view: View, depth: int) -> list[Found]:
        finds = [find for each in self._passes for find in each.finds(view)]
        if depth:
            finds += self._codes.finds(view, depth)
        return finds + self._wrapped(view, finds)

    def _wrapped(self, seen: View, finds: list[Found]) -> list[Found]:
        return []


_ = Replaced, wraps
