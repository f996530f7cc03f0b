"""HTML as a run of pieces, in time that grows with its length only, however broken or hostile it is.

A tag, comment or script that is never closed takes all the rest with it: so no part is looked at twice.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/>]*+)((?>=\s*+"[^"]*+"|=\s*+'[^']*+'|[^>])*+)>""")
_OPENS = re.compile(r"</?[a-zA-Z]")
_ATTRIBUTE = re.compile(r"""(?<![^\s"'/])([^\s=>/"']++)\s*+(?:=\s*+(?>"([^"]*+)"|'([^']*+)'|([^\s>"']++)))?""")
# What stands in these is no markup and no text.
_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style", "textarea", "title", "xmp")
}
_ATTRIBUTES_CHARACTERS = 8192


class Tag(Struct, frozen=True):
    """A tag that opens or closes an element."""

    name: str
    closes: bool
    rest: str  # its attributes as they are written

    def attributes(self) -> dict[str, str]:
        """Its attributes; of two with one name the first."""
        found: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(self.rest[:_ATTRIBUTES_CHARACTERS]):
            found.setdefault(name.lower(), double or single or bare)
        return found


def pieces(html: str) -> Iterator[Tag | str]:
    """Tags and the text between them, in order. Comments, scripts and styles are left out."""
    at, end = 0, len(html)
    while at < end:
        opens = html.find("<", at)
        if opens != at:
            yield html[at : opens if opens > 0 else end]
        if opens < 0:
            return
        found, at = _markup(html, opens)
        yield from found


def _markup(html: str, opens: int) -> tuple[tuple[Tag | str, ...], int]:
    """What stands at a "<", and where the text goes on."""
    if html[opens + 1 : opens + 2] in {"!", "?"}:
        return (), _after_comment(html, opens)
    tag = _TAG.match(html, opens)
    if tag is None:
        return ((), len(html)) if _OPENS.match(html, opens) else (("<",), opens + 1)
    name, at = tag[2].lower(), tag.end()
    read = Tag(name, bool(tag[1]), tag[3])
    if read.closes or name not in _RAW:
        return (read,), at
    after = _after_raw(html, name, at)
    return ((read, html[at:after]) if name == "title" else (read,)), after


def _after_raw(html: str, name: str, at: int) -> int:
    """Where an element ends in which nothing is markup."""
    close = _RAW[name].search(html, at)
    return close.start() if close else len(html)


def _after_comment(html: str, opens: int) -> int:
    """Where the markup goes on after a comment, a doctype or the like."""
    if html.startswith("<!--", opens):
        # "<!-->" and "<!--->" are whole comments.
        short = next((opens + n for n in (5, 6) if html[opens + 2 : opens + n] in {"-->", "--->"}), 0)
        close = html.find("-->", opens + 4)
        return short or (len(html) if close < 0 else close + 3)
    close = html.find(">", opens)
    return len(html) if close < 0 else close + 1
