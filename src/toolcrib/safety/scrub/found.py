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


def merged(finds: Iterable[Found]) -> list[Found]:
    """In order, none overlapping: two that do become one that covers both."""
    kept: list[Found] = []
    for find in sorted(finds):
        if kept and find.start < kept[-1].end:
            last = kept[-1]
            kind = last if last.rank <= find.rank else find
            kept[-1] = Found(last.start, max(last.end, find.end), kind.rank, kind.kind)
        else:
            kept.append(find)
    return kept
