"""Bytes inside of messages, as base64: laid aside while the rest is scrubbed, and put back as they were.

A picture holds no words. Scrubbing it would cost much, and a chance likeness to a secret would spoil it. What only says
that it is one, and is short or no base64, is scrubbed as everything else.
"""

from string import ascii_letters, digits
from typing import Any, cast

from msgspec.json import encode

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolFailed

BINARY = frozenset({"image", "audio"})
_ALPHABET = f"{ascii_letters}{digits}+/=\r\n".encode()  # without - and _, which tokens have and pictures do not
_SHORTEST = 64  # characters; the smallest pictures there are have some more
Kept = list[tuple[tuple[str | int, ...], str]]


def bytes_in(part: JsonObject) -> str:
    """The key under which an object of a message holds bytes; "" for one without."""
    key = "data" if part.get("type") in BINARY else "blob" if "uri" in part else ""
    value = part.get(key)
    return key if isinstance(value, str) and len(value) >= _SHORTEST and _is_base64(value) else ""


def _is_base64(value: str) -> bool:
    """Whether it could be. Some servers wrap their lines, and some leave the end out."""
    return not value.encode("ascii", "replace").translate(None, _ALPHABET)


def laid_aside(message: Any) -> tuple[Any, Kept]:  # noqa: ANN401 - any JSON
    """The message without its bytes, and where they stood. Raises ToolFailed for one that is nested too deeply."""
    kept: Kept = []
    try:
        return _bare(message, (), kept), kept
    except RecursionError:
        raise ToolFailed("What it gave is nested too deeply to be looked at.", code="bad_response") from None


def size_of(message: Any) -> int:  # noqa: ANN401
    """How long it is, written down. Raises ToolFailed for one that is nested too deeply."""
    try:
        return len(encode(message))
    except RecursionError:
        raise ToolFailed("What it gave is nested too deeply to be looked at.", code="bad_response") from None


def put_back(message: Any, kept: Kept) -> Any:  # noqa: ANN401
    """The message with its bytes again, wherever their place is still there."""
    for path, value in kept:
        place: Any = message
        for step in path[:-1]:
            place = _at(place, step)
        if isinstance(place, dict) and path[-1] in place:
            place[path[-1]] = value
    return message


def _bare(part: Any, path: tuple[str | int, ...], kept: Kept) -> Any:  # noqa: ANN401
    if isinstance(part, list):
        return [_bare(one, (*path, i), kept) for i, one in enumerate(cast("list[Any]", part))]
    if not isinstance(part, dict):
        return part
    known = cast("JsonObject", part)
    held = bytes_in(known)
    if held:
        kept.append(((*path, held), known[held]))
        known = {**known, held: ""}
    return {key: _bare(value, (*path, key), kept) for key, value in known.items()}


def _at(place: Any, step: str | int) -> Any:  # noqa: ANN401
    try:
        return place[step]
    except (TypeError, LookupError):  # the scrubber has changed more than words there
        return None
