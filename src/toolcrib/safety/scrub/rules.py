"""All passes over one window of text, and the one look that says whether any of them is needed."""

from toolcrib.safety.scrub.finder import Finder, Row, View, view
from toolcrib.safety.scrub.forms import Forms
from toolcrib.safety.scrub.found import Found
from toolcrib.safety.scrub.named import Named
from toolcrib.safety.scrub.tokens import Tokens


class Rules:
    """The passes, compiled once a process."""

    view = staticmethod(view)

    def __init__(self, *, engine: bool = True) -> None:
        self._passes = (Tokens(engine=engine), Named(engine=engine), Forms(engine=engine))

    def finds(self, view: View) -> list[Found]:
        """Every find of every pass; they may overlap."""
        return [find for each in self._passes for find in each.finds(view)]

    def may_hold(self, text: str) -> bool:
        return True
