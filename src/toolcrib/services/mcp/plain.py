"""A quick check for the schemas that most tools have: plain objects of plain values.

`compiled` gives a function that says yes or no, or None for a schema with anything in it that is not known here.
It says the same as the JSON schema library, which is asked for the words when the answer is no.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

Fits = Callable[[Any], bool]
_SAYS_NOTHING = frozenset(
    {"title", "description", "default", "examples", "format", "deprecated", "readOnly", "writeOnly", "$schema"}
    | {"$id", "$comment", "contentMediaType", "contentEncoding"}
)
_DRAFTS = ("https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema")
_OLD_DRAFTS = tuple(f"http://json-schema.org/draft-0{n}/schema" for n in (6, 7))
_DEEPEST = 32


def compiled(schema: object) -> Fits | None:
    """Whether a value fits, as a function; None for a schema that is not plain."""
    if not isinstance(schema, dict):
        return None
    draft = cast("dict[str, Any]", schema).get("$schema", _DRAFTS[0])
    if not isinstance(draft, str) or draft.rstrip("#") not in (*_DRAFTS, *_OLD_DRAFTS):
        return None
    try:
        return _schema(cast("dict[str, Any]", schema), 0)
    except _NotPlainError:
        return None


class _NotPlainError(Exception):
    """There is something in the schema that is not known here."""


def _schema(schema: object, depth: int) -> Fits:
    if schema is True:
        return _anything
    if not isinstance(schema, dict) or depth > _DEEPEST or (depth and "$id" in schema):
        raise _NotPlainError
    checks: list[Fits] = []
    for key, value in cast("dict[str, Any]", schema).items():
        maker = _MAKERS.get(key)
        if maker is not None:
            checks.append(maker(value, cast("dict[str, Any]", schema), depth + 1))
        elif key not in _SAYS_NOTHING and not key.startswith("x-"):
            raise _NotPlainError
    return _all([check for check in checks if check is not _anything])


def _all(checks: Sequence[Fits]) -> Fits:
    if not checks:
        return _anything
    if len(checks) == 1:
        return checks[0]
    if len(checks) == 2:
        first, second = checks
        return lambda value: first(value) and second(value)

    def fits(value: Any) -> bool:  # noqa: ANN401
        for check in checks:  # noqa: SIM110 - a generator costs as much again
            if not check(value):
                return False
        return True

    return fits


def _anything(value: Any) -> bool:  # noqa: ANN401, ARG001
    return True


def _integer(value: Any) -> bool:  # noqa: ANN401
    return value.__class__ is int or (value.__class__ is float and value.is_integer())


_TYPES: Mapping[str, Fits] = {
    "string": lambda value: value.__class__ is str,
    "integer": _integer,
    "number": lambda value: value.__class__ is int or value.__class__ is float,
    "boolean": lambda value: value.__class__ is bool,
    "null": lambda value: value is None,
    "array": lambda value: value.__class__ is list,
    "object": lambda value: value.__class__ is dict,
}


def _type(value: Any, _schema: Mapping[str, Any], _depth: int) -> Fits:  # noqa: ANN401
    if isinstance(value, str) and value in _TYPES:
        return _TYPES[value]
    if isinstance(value, list) and value and all(isinstance(one, str) and one in _TYPES for one in cast("Any", value)):
        kinds = [_TYPES[one] for one in cast("list[str]", value)]
        return lambda value: any(kind(value) for kind in kinds)
    raise _NotPlainError


def _enum(value: Any, _schema: Mapping[str, Any], _depth: int) -> Fits:  # noqa: ANN401
    if not isinstance(value, list) or not all(one is None or isinstance(one, str) for one in cast("Any", value)):
        raise _NotPlainError
    known = frozenset(cast("list[str | None]", value))
    return lambda value: (value.__class__ is str or value is None) and value in known


def _bound(over: Callable[[Any, Any], bool]) -> Callable[[Any, Mapping[str, Any], int], Fits]:
    def maker(limit: Any, _schema: Mapping[str, Any], _depth: int) -> Fits:  # noqa: ANN401
        if limit.__class__ is not int and limit.__class__ is not float:
            raise _NotPlainError
        return lambda value: not (value.__class__ is int or value.__class__ is float) or not over(value, limit)

    return maker


def _length(kind: type, over: Callable[[int, int], bool]) -> Callable[[Any, Mapping[str, Any], int], Fits]:
    def maker(limit: Any, _schema: Mapping[str, Any], _depth: int) -> Fits:  # noqa: ANN401
        if limit.__class__ is not int:
            raise _NotPlainError
        return lambda value: value.__class__ is not kind or not over(len(value), limit)

    return maker


def _items(value: Any, _around: Mapping[str, Any], depth: int) -> Fits:  # noqa: ANN401
    each = _schema(value, depth)
    return lambda value: value.__class__ is not list or all(map(each, value))


def _properties(value: Any, _around: Mapping[str, Any], depth: int) -> Fits:  # noqa: ANN401
    if not isinstance(value, dict):
        raise _NotPlainError
    parts = {key: _schema(part, depth) for key, part in cast("dict[str, Any]", value).items()}
    told = {key: part for key, part in parts.items() if part is not _anything}
    if not told:
        return _anything

    def fits(value: Any) -> bool:  # noqa: ANN401
        if value.__class__ is dict:
            for key, part in value.items():
                check = told.get(key)
                if check is not None and not check(part):
                    return False
        return True

    return fits


def _required(value: Any, _schema: Mapping[str, Any], _depth: int) -> Fits:  # noqa: ANN401
    if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("Any", value)):
        raise _NotPlainError
    names = tuple(cast("list[str]", value))
    if not names:
        return _anything

    def fits(value: Any) -> bool:  # noqa: ANN401
        if value.__class__ is dict:
            for name in names:
                if name not in value:
                    return False
        return True

    return fits


def _more(value: Any, around: Mapping[str, Any], depth: int) -> Fits:  # noqa: ANN401
    if value is True:
        return _anything
    known = around.get("properties", {})
    if not isinstance(known, dict) or "patternProperties" in around:
        raise _NotPlainError
    names = frozenset(cast("dict[str, Any]", known))
    if value is False:
        return lambda value: value.__class__ is not dict or value.keys() <= names
    each = _schema(value, depth)
    return lambda value: (
        value.__class__ is not dict or all(each(part) for key, part in value.items() if key not in names)
    )


def _any_of(value: Any, _around: Mapping[str, Any], depth: int) -> Fits:  # noqa: ANN401
    if not isinstance(value, list) or not value:
        raise _NotPlainError
    ways = [_schema(one, depth) for one in cast("list[Any]", value)]
    return lambda value: any(way(value) for way in ways)


_MAKERS: Mapping[str, Callable[[Any, Mapping[str, Any], int], Fits]] = {
    "type": _type,
    "enum": _enum,
    "minimum": _bound(lambda value, limit: value < limit),
    "maximum": _bound(lambda value, limit: value > limit),
    "exclusiveMinimum": _bound(lambda value, limit: value <= limit),
    "exclusiveMaximum": _bound(lambda value, limit: value >= limit),
    "minLength": _length(str, lambda size, limit: size < limit),
    "maxLength": _length(str, lambda size, limit: size > limit),
    "minItems": _length(list, lambda size, limit: size < limit),
    "maxItems": _length(list, lambda size, limit: size > limit),
    "items": _items,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _more,
    "anyOf": _any_of,
}
