"""What a pass over a text has found, and how finds that overlap become one."""

from collections.abc import Iterable

from msgspec import Struct


class Found(Struct, frozen=True, order=True):
    """A secret in a text: where it stands, and of which kind it is."""

    start: int
    end: int
    rank: int  # of two that overlap, the lower rank names the kind
    kind: str


REGISTERED, PROVIDER, FORM, NAMED, DECODED = range(5)
LONG = 600  # characters; fewer have no say against a better rank


def merged(finds: Iterable[Found]) -> list[Found]:
    """In order, none overlapping: two that do become one that covers both."""
    kept: list[Found] = []
    for find in sorted(finds):
        if kept and find.start < kept[-1].end:
            last = kept[-1]
            teller = min(last, find, key=_telling)
            kept[-1] = Found(last.start, max(last.end, find.end), teller.rank, teller.kind)
        else:
            kept.append(find)
    return kept


def _telling(find: Found) -> tuple[bool, int]:
    """What looks like a token inside a whole key block is a part of the key."""
    return (find.rank != REGISTERED and find.end - find.start < LONG, find.rank)
