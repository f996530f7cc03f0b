"""Tells the scrubber what it must never let out: each value of the vault, under a name of its own."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec

from toolcrib.services.vault.values import BUILT_IN, LONGEST_VALUE, Facts, Kept, Kind

PIECE = 256  # characters
_kept = msgspec.json.Decoder(Kept)
_arguments = msgspec.json.Decoder(dict[str, Any])
_open_fields = frozenset(rule.name for kind in BUILT_IN for rule in kind.fields if not rule.secret)


MOST_GIVEN = 100  # calls whose values stay known though they were not stored
_LEFT_OUT = b'{"value":"(too long, and left out)"}'


class Teller:
    """Hands on every value once. What was secret stays known: it may still stand somewhere."""

    def __init__(self, learn: Callable[[str, str], None], forget: Callable[[str], None] = lambda _: None) -> None:
        self._learn = learn
        self._forget = forget
        self._given: deque[list[str]] = deque()
        self._told: dict[str, int] = {}
        self._count = 0

    def __call__(self, facts: Facts, value: bytes) -> None:
        if not facts.secret:
            return
        place = facts.place
        name = f"{place.team}/{place.name}" if place.team else place.name
        print_ = hash(value)
        if self._told.get(f"{place.kind}:{name}") == print_:
            return
        self._count += 1
        number = self._count  # a name of its own: a value that was replaced stays known
        if place.kind == Kind.SECRET:
            self._hear(f"secret:{name}.{number}", value.decode())
        elif place.kind == Kind.ENTRY:
            entry = _kept.decode(value)
            for field in entry.secret:
                self._hear(f"secret:{name}:{field}.{number}", entry.value.get(field, ""))
        elif len(value) <= LONGEST_VALUE:
            self._file(f"secret:{name}.{number}", value)
        self._told[f"{place.kind}:{name}"] = print_

    def entrusted(self, raw: bytes) -> bytes:
        """Hand on what stands in the argument `value` of a call, before anybody has looked at the call.

        Gives back the arguments as they may be recorded: those that are too long to be kept are left out.
        """
        if len(raw) > 2 * LONGEST_VALUE:
            return _LEFT_OUT
        self._count += 1
        if len(self._given) >= MOST_GIVEN:  # their calls are on record long since
            for name in self._given.popleft():
                self._forget(name)
        names: list[str] = []
        for field, value in _given_values(raw):
            names += self._hear(f"secret:given{field}.{self._count}", value)
        self._given.append(names)
        return raw

    def _hear(self, name: str, value: str) -> list[str]:
        """A long value goes piece by piece: each is found in every encoding of the whole, and far more quickly."""
        if len(value) < 2 * PIECE:
            self._learn(name, value)
            return [name]
        names: list[str] = []
        for number, start in enumerate(range(0, len(value) - PIECE + 1, PIECE)):
            end = start + PIECE if len(value) - start >= 2 * PIECE else len(value)
            names.append(f"{name}-{number}")
            self._learn(names[-1], value[start:end])
        return names

    def _file(self, name: str, value: bytes) -> None:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return  # what is no text is never written into one
        self._hear(name, text)


def _given_values(raw: bytes) -> Iterator[tuple[str, str]]:
    """What may be a secret in the arguments of a call; all of them, when they cannot be read."""
    try:
        said = _arguments.decode(raw)
    except msgspec.MsgspecError:
        yield "", raw.decode("utf-8", "replace")
        return
    value = said.get("value")
    if isinstance(value, str):
        yield "", value
    elif isinstance(value, dict):
        for field, part in cast("dict[str, object]", value).items():
            if isinstance(part, str) and field not in _open_fields:
                yield f":{field}", part
