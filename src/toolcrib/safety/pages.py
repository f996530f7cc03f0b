"""What a web page says, without what stands round it: its text as plain markdown, its title and its links.

A small reader that needs nothing else. What it takes for the page's own text is what stands in <main> or <article>,
and otherwise everything but menus and the like.
"""

import html as entities
import re
from collections.abc import Callable

from msgspec import Struct, field

from toolcrib.safety.markup import Tag, pieces
from toolcrib.safety.urls import BadUrl, Url, join

_NO_TEXT = frozenset({
    "template", "svg", "math", "iframe", "object", "canvas", "select", "noscript", "audio", "video", "head",
})  # fmt: skip
_ROUND_ABOUT = frozenset({"nav", "header", "footer", "aside", "form", "button", "dialog", "menu"})
_MAIN = frozenset({"main", "article"})
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hgroup", "main", "nav", "p", "section", "summary", "table",
    "ul", "ol",
})  # fmt: skip
_HEADINGS = {f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)}
_BREAKS = {"br": "\n", "tr": "\n", "hr": "\n\n"}
_ENOUGH = 200  # characters: a main part with fewer is none
_DEEPEST_LIST = 8
_SPACE = re.compile(r"[ \t\r\n\f\v\xa0]+")
_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_LINE_ENDS = re.compile(r"[ \t]+\n")


class Link(Struct, frozen=True):
    """A link as it stands on a page, its address made whole."""

    url: str
    text: str


class Page(Struct, frozen=True, kw_only=True):
    """What was read off a page."""

    title: str
    text: str
    links: tuple[Link, ...]


def read_page(html: str, base: Url, *, markdown: bool = True) -> Page:
    """The page's own text, with links in it if `markdown`."""
    reader = _Reader(base, markdown=markdown, skipped=_NO_TEXT | _ROUND_ABOUT)
    text = reader.read(html)
    if len(text) < _ENOUGH:  # an unclosed menu swallows a page; then better everything than nothing
        whole = _Reader(base, markdown=markdown, skipped=_NO_TEXT - {"head"})
        everything = whole.read(html)
        if len(everything) > 2 * len(text):
            text = everything
    return Page(title=reader.title, text=text, links=())


def read_links(html: str, base: Url) -> Page:
    """Every link of the page, menus and all, each once."""
    reader = _Reader(base, markdown=False, skipped=frozenset())
    reader.read(html)
    first = {link.url: link for link in reversed(reader.links)}
    unique = {link.url: first[link.url] for link in reader.links}
    return Page(title=reader.title, text="", links=tuple(unique.values()))


class _Reader(Struct):
    """Writes a page down, piece by piece."""

    base: Url
    markdown: bool
    skipped: frozenset[str]
    title: str = ""
    links: list[Link] = field(default_factory=list[Link])
    _out: list[str] = field(default_factory=list[str])
    _inside: list[str] = field(default_factory=list[str])  # elements that are left out, outermost first
    _lists: list[int] = field(default_factory=list[int])  # of each open list the number of its next item; 0: bullets
    _main: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # where main parts begin and end
    _main_open: int = -1
    _main_depth: int = 0
    _pre: int = 0
    _in_title: bool = False
    _anchor: tuple[str, int] | None = None  # where a link leads, and where its text begins

    def read(self, html: str) -> str:
        for piece in pieces(html):
            if isinstance(piece, Tag):
                self._tag(piece)
            else:
                self._text(piece)
        self._close_anchor()
        return self._chosen()

    def _chosen(self) -> str:
        if self._main_open >= 0:
            self._main.append((self._main_open, len(self._out)))
        main = _tidy("".join("".join(self._out[start:end]) + "\n\n" for start, end in self._main))
        return main if len(main) >= _ENOUGH else _tidy("".join(self._out))

    def _text(self, text: str) -> None:
        text = entities.unescape(text)
        if self._in_title:
            self.title = self.title or " ".join(text.split())
        elif not self._inside:
            self._out.append(text if self._pre else _SPACE.sub(" ", text))

    def _tag(self, tag: Tag) -> None:
        name = tag.name
        if name == "title":
            self._in_title = not tag.closes and not {"svg", "math"}.intersection(self._inside)
        elif name in self.skipped:
            self._leave_out(tag)
        elif name == "base" and not tag.closes:
            self._rebase(tag)
        elif name == "body":
            self._inside.clear()
        elif not self._inside:
            self._shown(tag)

    def _leave_out(self, tag: Tag) -> None:
        if not tag.closes:
            if not tag.rest.endswith("/"):
                self._inside.append(tag.name)
        elif tag.name in self._inside:
            while self._inside.pop() != tag.name:
                pass

    def _rebase(self, tag: Tag) -> None:
        target = self._whole(tag.attributes().get("href", ""))
        if target is not None:
            self.base = target

    def _shown(self, tag: Tag) -> None:
        name = tag.name
        if (way := _WAYS.get(name)) is not None:
            way(self, tag)
        elif name in _HEADINGS:
            self._out.append("\n\n" if tag.closes or not self.markdown else _HEADINGS[name])
        elif name in _BREAKS:
            self._out.append(_BREAKS[name])
        elif name in {"td", "th"}:
            self._out.append(" " if tag.closes else "| ")
        elif name in _BLOCKS:
            self._block(tag)

    def picture(self, tag: Tag) -> None:
        alt = tag.attributes().get("alt", "").strip() if self.markdown else ""
        if alt:
            self._out.append(f"[picture: {_SPACE.sub(' ', entities.unescape(alt))}]")

    def _block(self, tag: Tag) -> None:
        if tag.name in {"ul", "ol"}:
            if self._lists and not tag.closes:
                self._lists.append(1 if tag.name == "ol" else 0)
                return
            if not tag.closes:
                self._lists.append(1 if tag.name == "ol" else 0)
            elif self._lists:
                self._lists.pop()
        self._out.append("\n" if self._lists else "\n\n")
        if tag.name in _MAIN:
            self._main_part(opens=not tag.closes)

    def _main_part(self, *, opens: bool) -> None:
        if opens:
            self._main_depth += 1
            if self._main_open < 0:
                self._main_open = len(self._out)
        elif self._main_depth:
            self._main_depth -= 1
            if not self._main_depth:
                self._main.append((self._main_open, len(self._out)))
                self._main_open = -1

    def item(self, tag: Tag) -> None:
        if tag.closes:
            return
        number = self._lists[-1] if self._lists else 0
        if number:
            self._lists[-1] += 1
        indent = "  " * min(len(self._lists) - 1, _DEEPEST_LIST) if self._lists else ""
        self._out.append(f"\n{indent}{number}. " if number else f"\n{indent}- ")

    def preformatted(self, tag: Tag) -> None:
        self._pre = max(0, self._pre + (-1 if tag.closes else 1))
        self._out.append("\n```\n" if self.markdown else "\n")

    def link(self, tag: Tag) -> None:
        self._close_anchor()
        if tag.closes:
            return
        attributes = tag.attributes()
        target = self._whole(attributes.get("href", ""))
        if target is None:
            return
        if tag.name == "area":
            self.links.append(Link(str(target), attributes.get("alt", "")))
        else:
            self._anchor = (str(target), len(self._out))

    def _close_anchor(self) -> None:
        if self._anchor is None:
            return
        url, start = self._anchor
        self._anchor = None
        words = " ".join("".join(self._out[start:]).split())
        self.links.append(Link(url, words))
        if self.markdown and words and len(self._out) - start <= 3:
            del self._out[start:]
            self._out.append(f"[{words}]({url})")

    def _whole(self, href: str) -> Url | None:
        """Where a link leads; None for what is no web address, and for a place on the same page."""
        href = entities.unescape(href).strip().replace(" ", "%20")
        if not href or href.startswith("#"):
            return None
        try:
            return join(self.base, href)
        except BadUrl:
            return None


_WAYS: dict[str, Callable[[_Reader, Tag], None]] = {
    "a": _Reader.link,
    "area": _Reader.link,
    "img": _Reader.picture,
    "li": _Reader.item,
    "pre": _Reader.preformatted,
}


def _tidy(text: str) -> str:
    """No line ends in space, and at most one line in a row is empty."""
    return _LINES.sub("\n\n", _LINE_ENDS.sub("\n", text)).strip()
