"""The scrubber of a crib."""

from collections.abc import Iterable, Mapping
from typing import cast

from toolcrib.core.heavy import heavy
from toolcrib.core.shape import Scrub


def scrubber(secrets: Mapping[str, str] | Iterable[str], more: Mapping[str, str] = {}) -> Scrub:
    """It never lets these values out, nor what looks like a credential."""
    return heavy("toolcrib.safety.scrub").Scrubber([*_named(secrets), *more.items()])


def _named(secrets: Mapping[str, str] | Iterable[str]) -> list[tuple[str, str]]:
    if isinstance(secrets, Mapping):
        return list(cast("Mapping[str, str]", secrets).items())
    return [("secret", value) for value in secrets]
