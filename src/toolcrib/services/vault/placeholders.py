"""`{{secret:NAME}}`, `{{secret:NAME|base64}}` and `{{secret:NAME|urlencode}}` in the arguments of a call."""

import re
from binascii import b2a_base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from msgspec import Struct

from toolcrib.core.heavy import heavy

OPEN = "{{secret:"
_WHOLE = re.compile(r"\{\{secret:([^{}|]*)((?:\|[^{}|]*)*)\}\}")
FILTERS: Mapping[str, Callable[[str], str]] = {
    "base64": lambda value: b2a_base64(value.encode(), newline=False).decode(),
    "urlencode": lambda value: heavy("urllib.parse").quote(value, safe=""),
}
_HOST = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:/*[^/?#]*\{\{secret:")


class Named(Struct, frozen=True):
    """A placeholder. `wrong` says what is wrong with it."""

    name: str
    filters: tuple[str, ...] = ()
    wrong: str = ""


def texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - checked arguments, of any shape
    """Every text in the arguments, the names in mappings too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in cast("Mapping[object, object]", value).items():
            yield from texts(key)
            yield from texts(part)
    elif isinstance(value, list | tuple):
        for part in cast("list[object]", value):
            yield from texts(part)
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from texts(getattr(value, name))


def named_in(text: str) -> Iterator[Named]:
    """The placeholders of a text; those that cannot be read too."""
    if OPEN not in text:
        return
    whole = 0
    for found in _WHOLE.finditer(text):
        whole += 1
        one = _named(found)
        unknown = [part for part in one.filters if part not in FILTERS]
        wrong = "it names no secret" if not one.name else ""
        if unknown:
            wrong = f"there is no filter {unknown[0][:40]!r}; there are {' and '.join(FILTERS)}"
        yield Named(one.name, one.filters, wrong)
    if text.count(OPEN) > whole:
        yield Named("", wrong="a placeholder is not closed, or holds braces")
    if _HOST.match(text):
        yield Named("", wrong="a secret stands where the address names its host")


def filled(value: Any, values: Mapping[str, str]) -> Any:  # noqa: ANN401 - the same shape
    """The arguments with every placeholder replaced. In one pass: what comes out of a secret is not looked at again."""
    if isinstance(value, str):
        return replaced(value, lambda one: filtered(one, values[one.name]))
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value).items()
        return {filled(key, values): filled(part, values) for key, part in entries}
    if isinstance(value, list | tuple):
        parts = [filled(part, values) for part in cast("list[object]", value)]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, Struct):
        return type(value)(**{name: filled(getattr(value, name), values) for name in value.__struct_fields__})
    return value


def replaced(text: str, give: Callable[[Named], str]) -> str:
    """The text with something in the place of every placeholder."""
    return _WHOLE.sub(lambda found: give(_named(found)), text) if OPEN in text else text


def filtered(one: Named, value: str) -> str:
    """A value as the placeholder wants it."""
    for name in one.filters:
        value = FILTERS[name](value)
    return value


def _named(found: re.Match[str]) -> Named:
    return Named(found[1].strip(), tuple(part.strip() for part in found[2].split("|")[1:]))
