"""The names that one thing goes by: what a rule denies under one of them it denies under all of them."""

import posixpath
from collections.abc import Callable

from toolcrib.core.errors import ToolFailed
from toolcrib.safety.paths import LONGEST
from toolcrib.safety.urls import BadUrl, read_url


def spellings(text: str, relative: Callable[[str], str] = posixpath.normpath) -> tuple[str, ...]:
    """A text as it was given and, where it reads as a path or a web address, as it is meant.

    `relative` cleans a path and makes it relative to the workspace. No link is followed.
    """
    if len(text) > LONGEST or "\n" in text:
        return (text,)
    if "://" in text:
        try:
            return text, str(read_url(text))
        except BadUrl:
            return (text,)
    if "/" not in text:
        return (text,)
    try:
        return text, relative(text)
    except ToolFailed:  # outside the workspace, and the tool will say so
        return text, posixpath.normpath(text)
