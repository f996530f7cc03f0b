"""The vault's rows in memory."""

from collections.abc import Sequence

from msgspec.structs import replace

from toolcrib.services.vault.ports import Change, Rewrap
from toolcrib.services.vault.values import Head, Place, Row, Term


class MemoryVaultRows:
    """A dict of rows, a dict of terms, a head. Nothing here waits, so each call is one moment."""

    def __init__(self) -> None:
        self._head: Head | None = None
        self._rows: dict[Place, Row] = {}
        self._terms: dict[int, Term] = {}

    async def begin(self, head: Head, term: Term) -> bool:
        if self._head is not None:
            return False
        self._head, self._terms = head, {term.number: term}
        return True

    async def head(self) -> Head | None:
        return self._head

    async def terms(self) -> tuple[Term, ...]:
        return tuple(self._terms[number] for number in sorted(self._terms))

    async def get(self, place: Place) -> tuple[Row | None, int]:
        return self._rows.get(place), self._head.generation if self._head else 0

    async def everything(self, kinds: Sequence[str] = ()) -> tuple[Head | None, tuple[Row, ...]]:
        rows = sorted(self._rows.values(), key=_order)
        return self._head, tuple(
            row if row.facts.place.kind in kinds else replace(row, seal="", body="") for row in rows
        )

    async def change(self, change: Change) -> bool:
        if self._head is None or self._head.generation != change.expected:
            return False
        self._head = change.head
        for place in change.drop:
            self._rows.pop(place, None)
        self._rows.update({row.facts.place: row for row in change.put})
        self._terms.update({term.number: term for term in change.terms})
        self._count(change.head.term, change.sealed)
        return True

    async def behind(self, term: int, limit: int) -> tuple[Row, ...]:
        rows = sorted((row for row in self._rows.values() if row.term < term), key=_order)
        return tuple(replace(row, body="") for row in rows[:limit])

    async def rewrap(self, rows: Sequence[Rewrap], term: int) -> int:
        done = 0
        for one in rows:
            row = self._rows.get(one.place)
            if row is not None and row.seal == one.old:
                self._rows[one.place] = replace(row, seal=one.new, term=term)
                done += 1
        self._count(term, len(rows))
        return done

    async def drop_terms(self, current: int) -> int:
        used = {row.term for row in self._rows.values()}
        unused = [number for number in self._terms if number < current and number not in used]
        for number in unused:
            del self._terms[number]
        return len(unused)

    def _count(self, term: int, times: int) -> None:
        if times and term in self._terms:
            known = self._terms[term]
            self._terms[term] = replace(known, sealed=known.sealed + times)


def _order(row: Row) -> tuple[str, str, str]:
    return row.facts.place.team, row.facts.place.kind, row.facts.place.name
