"""Tells the scrubber what it must never let out: each value of the vault, under a name of its own."""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from toolcrib.services.vault.values import BUILT_IN, LONGEST_VALUE, Facts, Kept, Kind

_kept = msgspec.json.Decoder(Kept)
_arguments = msgspec.json.Decoder(dict[str, Any])
_open_fields = frozenset(rule.name for kind in BUILT_IN for rule in kind.fields if not rule.secret)


class Teller:
    """Hands on every value once. What was secret stays known: it may still stand somewhere."""

    def __init__(self, learn: Callable[[str, str], None]) -> None:
        self._learn = learn
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
            self._learn(f"secret:{name}.{number}", value.decode())
        elif place.kind == Kind.ENTRY:
            entry = _kept.decode(value)
            for field in entry.secret:
                self._learn(f"secret:{name}:{field}.{number}", entry.value.get(field, ""))
        elif len(value) <= LONGEST_VALUE:
            self._file(f"secret:{name}.{number}", value)
        self._told[f"{place.kind}:{name}"] = print_

    def entrusted(self, raw: bytes) -> None:
        """Hand on what stands in the argument `value` of a call, before anybody has looked at the call."""
        self._count += 1
        try:
            said = _arguments.decode(raw)
        except msgspec.MsgspecError:
            self._learn(f"secret:given.{self._count}", raw.decode("utf-8", "replace"))
            return
        value = said.get("value")
        if isinstance(value, str):
            self._learn(f"secret:given.{self._count}", value)
        elif isinstance(value, dict):
            for field, part in cast("dict[str, object]", value).items():
                if isinstance(part, str) and field not in _open_fields:
                    self._learn(f"secret:given:{field}.{self._count}", part)

    def _file(self, name: str, value: bytes) -> None:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return  # what is no text is never written into one
        self._learn(name, text)
