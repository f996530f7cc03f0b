"""Every row of the vault behind its key: opened when it is first needed, and checked against the head's sum.

read a row ► the vault as we know it? ► the row as the sum has it? ► open it ► tell the scrubber ► give it
"""

import os
import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolcrib.services.vault.faults import VaultBusy, VaultError, changed, key_lost, key_wrong, tampered
from toolcrib.services.vault.ports import Change, Crypto, Keys, MasterKey, Rewrap, VaultRows
from toolcrib.services.vault.values import Checked, Facts, Head, Kind, Place, Report, Row, Term

MOST_SEALED = 2**28  # wraps under one term, after which the next begins by itself: far below what GCM bears
BATCH = 500
TRIES = 50
_MODULUS = 1 << 256
Check = Callable[[Facts | None], None]
Told = Callable[[Facts, bytes], None]


class Known(Struct):
    """The vault as we last saw and checked it."""

    head: Head
    keys: Keys
    facts: dict[Place, Facts]
    marks: dict[Place, int]


class Book:
    """The rows of a vault. One for each crib."""

    def __init__(self, rows: VaultRows, master: MasterKey, crypto: Crypto, told: Told) -> None:
        """`told` is given every value before anybody else is."""
        self._rows = rows
        self._master = master
        self._crypto = crypto
        self._told = told
        self._known: Known | None = None
        self._learned = -1  # the generation of which every value was told

    @property
    def where(self) -> str:
        """Where the key is, in words."""
        return self._master.where

    async def exists(self) -> bool:
        """Whether there is a vault. It need not be open for that."""
        return self._known is not None or await self._rows.head() is not None

    async def begin(self) -> bool:
        """Make the vault unless there is one; whether it was made. Raises VaultError where its key is missing."""
        if await self._open() is not None:
            return False
        vault = os.urandom(16).hex()
        master = await self._master.make(vault)
        root, name, keys = self._crypto.create(master, vault)
        term = Term(number=1, wrapped=keys.new_term(1), made=time.time())
        blank = Head(vault=vault, root=root, key=name, total=f"{0:064x}")
        made = await self._rows.begin(replace(blank, mac=keys.mac(blank)), term)
        await self._open()
        return made

    async def get(self, place: Place) -> tuple[Facts, bytes] | None:
        """A row and its value; None when there is none."""
        for _ in range(TRIES):
            row, generation = await self._rows.get(place)
            known = self._known
            if known is not None and known.head.generation == generation:
                break
            if await self._open() is None:
                return None
        else:
            raise _busy()
        if row is None:
            if place in known.marks:
                raise tampered()
            return None
        return row.facts, self._opened(known, row)

    async def said(self, place: Place) -> Facts | None:
        """What is said of a row, whether it opens or not."""
        known = await self._open()
        return known.facts.get(place) if known else None

    async def facts(self, team: str, kind: str) -> list[Facts]:
        """What is said of the rows of a team, by name."""
        known = await self._open()
        found = known.facts.values() if known else ()
        chosen = (one for one in found if one.place.team == team and one.place.kind == kind)
        return sorted(chosen, key=lambda one: one.place.name)

    async def everywhere(self) -> list[Facts]:
        """What is said of every row, by team, kind and name."""
        known = await self._open()
        return sorted(known.facts.values(), key=lambda one: msgspec.structs.astuple(one.place)) if known else []

    async def put(self, facts: Facts, value: bytes, check: Check) -> Facts:
        """Write a row. `check` is asked with what is there, and raises what it has against it.

        The version and the times are set here.
        """
        (kept,) = await self.put_many([(facts, value)], check)
        return kept

    async def put_many(self, rows: Sequence[tuple[Facts, bytes]], check: Check = lambda _: None) -> list[Facts]:
        """Write rows, all of them or none."""
        await self.begin()
        for facts, value in rows:
            self._told(facts, value)
        kept: list[Facts] = []

        def planned(known: Known) -> Change:
            for facts, _ in rows:
                check(known.facts.get(facts.place))
            kept[:] = [self._stamped(known, facts) for facts, _ in rows]
            sealed = zip(kept, (value for _, value in rows), strict=True)
            return self._change(known, put=[known.keys.seal(one, known.head.term, value) for one, value in sealed])

        await self._written(planned)
        return kept

    async def drop(self, place: Place, check: Check, more: Callable[[Place], bool] = lambda _: False) -> Facts | None:
        """Delete a row, and those of which `more` says so; what was known of it. None when there was none."""
        if await self._open() is None:
            return None
        found: list[Facts | None] = [None]

        def planned(known: Known) -> Change | None:
            found[0] = known.facts.get(place)
            check(found[0])
            if found[0] is None:
                return None
            return self._change(known, drop=[place, *(other for other in known.facts if more(other))])

        await self._written(planned)
        return found[0]

    async def rotate(self) -> Report:
        """Begin a new term, and wrap the key of every row under it. Stopped midway, the next one goes on."""
        known = await self._needed()
        behind = await self._rows.behind(known.head.term, 1)
        if not behind:  # otherwise a rotation was cut off, and its term is there already
            await self._written(self._next_term)
        return await self.finish_rotation()

    async def finish_rotation(self) -> Report:
        """Wrap what is still under an older term."""
        known = await self._needed()
        done = 0
        while rows := await self._rows.behind(known.head.term, BATCH):
            await self._take_terms(known)
            plan = [Rewrap(row.facts.place, row.seal, known.keys.rewrap(row, known.head.term)) for row in rows]
            done += await self._rows.rewrap(plan, known.head.term)
            known = await self._needed()
        dropped = await self._rows.drop_terms(known.head.term)
        return Report(term=known.head.term, rewrapped=done, dropped=dropped)

    async def learn(self) -> int:
        """Tell every value to whoever has to know them; how many."""
        if await self._open() is None:
            return 0
        head, rows = await self._rows.everything((Kind.SECRET, Kind.ENTRY))
        known = await self._needed()
        secret = [row for row in rows if row.facts.secret and row.body]
        for row in secret:
            self._told(row.facts, known.keys.open(row))
        self._learned = head.generation if head else -1
        return len(secret)

    async def stale(self) -> bool:
        """Whether there are values that were not told yet."""
        head = await self._rows.head()
        return head is not None and self._learned != head.generation

    async def verify(self, *, accept: bool = False) -> Checked:
        """Look at every row. With `accept`, what opens is taken for right from now on; what does not is left alone."""
        head, rows = await self._rows.everything()
        if head is None:
            return Checked(rows=0)
        keys = await self._unlocked(head)
        whole = self._is_whole(keys, head, rows)
        known = Known(head, keys, {row.facts.place: row.facts for row in rows}, {})
        known.marks = {place: keys.mark(facts) for place, facts in known.facts.items()}
        await self._take_terms(known)
        broken = [row.facts.place.name for row in rows if not await self._opens(keys, row.facts.place)]
        if accept and not whole:
            total = sum(known.marks.values()) % _MODULUS
            fresh = _signed(keys, replace(head, generation=head.generation + 1, total=f"{total:064x}"))
            if not await self._rows.change(Change(expected=head.generation, head=fresh)):
                raise _busy()
            self._known, whole = None, True
        return Checked(rows=len(rows), broken=tuple(broken), whole=whole)

    async def _opens(self, keys: Keys, place: Place) -> bool:
        row, _ = await self._rows.get(place)
        try:
            if row is None:
                return False
            keys.open(row)
        except VaultError:
            return False
        return True

    def _opened(self, known: Known, row: Row) -> bytes:
        if known.marks.get(row.facts.place) != known.keys.mark(row.facts):
            raise changed(row.facts.place)
        value = known.keys.open(row)
        self._told(row.facts, value)
        return value

    async def _needed(self) -> Known:
        known = await self._open()
        if known is None:
            raise VaultError("There is no vault yet.", hint="Make one: toolcrib vault init.")
        return known

    async def _open(self) -> Known | None:
        """The vault as it is now: read anew where it was changed, and checked whole."""
        known = self._known
        last = known.head if known is not None else None  # before we look: it may grow meanwhile
        head = await self._rows.head()
        if head is None:
            if last is not None:
                raise tampered()  # the whole vault was taken away under us
            return None
        if known is not None and known.head == head:
            return known
        if last is not None and (head.vault != last.vault or head.generation < last.generation):
            raise tampered()  # an older copy was put back
        keys = known.keys if known is not None else await self._unlocked(head)
        head, rows = await self._rows.everything()
        if head is None or not self._is_whole(keys, head, rows):
            raise tampered()
        fresh = Known(head, keys, {row.facts.place: row.facts for row in rows}, {})
        fresh.marks = {place: keys.mark(facts) for place, facts in fresh.facts.items()}
        await self._take_terms(fresh)
        if self._known is None or self._known.head.generation < fresh.head.generation:
            self._known = fresh
        return self._known

    async def _unlocked(self, head: Head) -> Keys:
        master = await self._master.get(head.vault)
        if master is None:
            raise key_lost(self._master.where)
        keys = self._crypto.unlock(master, head)
        if keys is None:
            raise key_wrong(self._master.where)
        return keys

    async def _take_terms(self, known: Known) -> None:
        for term in await self._rows.terms():
            known.keys.take_term(term.number, term.wrapped)

    @staticmethod
    def _is_whole(keys: Keys, head: Head, rows: Sequence[Row]) -> bool:
        total = sum(keys.mark(row.facts) for row in rows) % _MODULUS
        return head.mac == keys.mac(head) and head.total == f"{total:064x}"

    @staticmethod
    def _stamped(known: Known, facts: Facts) -> Facts:
        old, now = known.facts.get(facts.place), time.time()
        if old is None:
            return replace(facts, version=1, created=now, changed=now)
        return replace(facts, version=old.version + 1, created=old.created, changed=now)

    def _change(self, known: Known, *, put: Sequence[Row] = (), drop: Sequence[Place] = ()) -> Change:
        total = int(known.head.total, 16)
        for place in (*drop, *(row.facts.place for row in put)):
            total -= known.marks.get(place, 0)
        total += sum(known.keys.mark(row.facts) for row in put)
        head = replace(known.head, generation=known.head.generation + 1, total=f"{total % _MODULUS:064x}")
        return Change(
            expected=known.head.generation, head=_signed(known.keys, head), put=put, drop=drop, sealed=len(put)
        )

    @staticmethod
    def _next_term(known: Known) -> Change:
        """The change that begins a new term."""
        number = known.head.term + 1
        term = Term(number=number, wrapped=known.keys.new_term(number), made=time.time())
        head = replace(known.head, generation=known.head.generation + 1, term=number)
        return Change(expected=known.head.generation, head=_signed(known.keys, head), terms=[term])

    async def _written(self, planned: Callable[[Known], Change | None]) -> None:
        """Make a change on what is there now, again from the start while others are quicker."""
        for _ in range(TRIES):
            known = await self._needed()
            change = planned(known)
            if change is None:
                return
            if await self._rows.change(change):
                self._follow(known, change)
                if change.put and await self._is_full(change.head.term):
                    await self._written(self._next_term)
                return
        raise _busy()

    def _follow(self, known: Known, change: Change) -> None:
        """What we know, with our own change in it."""
        if self._learned == change.expected or not known.facts:
            self._learned = change.head.generation  # what it wrote was told before
        known.head = change.head
        for term in change.terms:
            known.keys.take_term(term.number, term.wrapped)
        for place in change.drop:
            known.facts.pop(place, None)
            known.marks.pop(place, None)
        for row in change.put:
            known.facts[row.facts.place] = row.facts
            known.marks[row.facts.place] = known.keys.mark(row.facts)

    async def _is_full(self, number: int) -> bool:
        if self._known is None or self._known.head.generation % 1024:
            return False
        return any(term.number == number and term.sealed >= MOST_SEALED for term in await self._rows.terms())


def _signed(keys: Keys, head: Head) -> Head:
    return replace(head, mac=keys.mac(head))


def _busy() -> VaultBusy:
    return VaultBusy("The vault was not changed: others change it all the time.", hint="Try again in a moment.")
