"""The names that one thing goes by: what a rule denies under one of them it denies under all of them."""

import posixpath
import re
from collections.abc import Callable

from toolcrib.core.errors import ToolFailed
from toolcrib.safety.paths import LONGEST
from toolcrib.safety.urls import BadUrl, Url, read_url

_WRITTEN = re.compile(rb"%([0-9A-Fa-f]{2})")


def spellings(text: str, relative: Callable[[str], str] = posixpath.normpath) -> tuple[str, ...]:
    """A text as it was given and, where it reads as a path or a web address, as it is meant.

    `relative` cleans a path and makes it relative to the workspace. No link is followed.
    """
    if len(text) > LONGEST or "\n" in text:
        return (text,)
    if "://" in text:
        try:
            url = read_url(text)
        except BadUrl:
            return (text,)
        return text, str(url), _meant(url)
    if "/" not in text:
        return (text,)
    try:
        return text, relative(text)
    except ToolFailed:  # outside the workspace, and the tool will say so
        return text, posixpath.normpath(text)


def _meant(url: Url) -> str:
    """An address as most servers take it: without dots on the way, and with nothing written as %XX."""
    path, mark, query = url.target.partition("?")
    plain = _WRITTEN.sub(lambda found: bytes.fromhex(found[1].decode()), path.encode()).decode("utf-8", "replace")
    cleaned = posixpath.normpath(plain).replace("//", "/", 1) + (
        "/" if plain.endswith("/") and plain.strip("/") else ""
    )
    return f"{url.scheme}://{url.netloc}{cleaned}{mark}{query}"
