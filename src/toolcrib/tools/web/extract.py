"""The main text of a page: with trafilatura where it is installed, and with our own reader where it is not."""

from typing import Any

from toolcrib.core.heavy import heavy
from toolcrib.safety.pages import Page, read_page
from toolcrib.safety.urls import Url

# What a parser of broken pages may stumble over. A page that it cannot read is read by our own reader.
_STUMBLES = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_MOST_TAGS = 20_000  # it takes 30 us for each, and no thread can be stopped
_ENOUGH = 200  # characters; a page with fewer has no main text that trafilatura can tell from the rest


def extract(html: str, url: Url, *, markdown: bool) -> Page:
    """Title and text of a page. It takes a moment, so call it in a thread."""
    page = read_page(html, url, markdown=markdown)
    if html.count("<") > _MOST_TAGS:
        return page
    try:
        trafilatura: Any = heavy("trafilatura")
    except ModuleNotFoundError:
        return page
    try:
        found: str | None = trafilatura.extract(
            html,
            url=str(url),
            fast=True,
            output_format="markdown" if markdown else "txt",
            include_links=markdown,
            include_comments=False,
        )
    except (*_STUMBLES, heavy("lxml.etree").LxmlError):
        return page
    if not found or len(found) < min(_ENOUGH, len(page.text)):
        return page
    return Page(title=page.title, text=found, links=())
