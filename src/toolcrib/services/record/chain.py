"""The chain that makes a changed, removed or moved audit entry show. Pure functions over one canonical form.

An entry's line is the JSON array of its fields, its number first. Its hash is SHA-256 over the hash before it, a line
feed, and its line; the first entry follows sixty-four zeros.
"""

from collections.abc import Iterable
from hashlib import sha256

import msgspec

from toolcrib.services.record.audit import Entry, Head, Verdict

START = "0" * 64
_encode = msgspec.json.encode


def body(fields: tuple[object, ...]) -> bytes:
    """The canonical form of everything but the number: what can be made ready before the number is known."""
    return _encode(fields)


def link(previous: str, seq: int, body: bytes) -> str:
    """The hash of the entry with this number and body, behind the entry with that hash."""
    return sha256(b"%b\n[%d,%b" % (previous.encode(), seq, body[1:])).hexdigest()


def fields(entry: Entry) -> tuple[object, ...]:
    """What is hashed of an entry, in the order that never changes. For entries that come from an export."""
    return (
        entry.id,
        entry.at,
        entry.agent,
        entry.user,
        entry.session,
        entry.context,
        entry.tool,
        entry.arguments,
        entry.status,
        entry.code,
        entry.seconds,
        entry.size,
        _encode(entry.verdicts).decode() if entry.verdicts else "",
        entry.approval,
        entry.generation,
    )


class Walk:
    """A check that reads the chain once, in order, and stops at the first entry that does not fit."""

    def __init__(self, start: Head | None = None) -> None:
        self._last = start or Head(0, START)
        self._from = self._last.seq

    @property
    def checked(self) -> int:
        """How many entries fitted."""
        return self._last.seq - self._from

    def step(self, seq: int, line: tuple[object, ...], digest: str) -> Verdict | None:
        """None when the entry fits, else what is wrong."""
        expected = self._last.seq + 1
        if seq != expected:
            return self.broken(expected, f"entry {expected} is missing: entry {seq} stands in its place")
        if link(self._last.hash, seq, body(line)) != digest:
            return self.broken(seq, f"entry {seq} is not what was written: its hash does not fit")
        self._last = Head(seq, digest)
        return None

    def end(self, head: Head) -> Verdict:
        """The verdict at the end of the entries, against the head that is kept beside them."""
        last = self._last
        if last == head:
            return Verdict(ok=True, checked=self.checked)
        if last.seq < head.seq:
            return self.broken(last.seq + 1, f"entry {last.seq + 1} is missing: the chain should end at {head.seq}")
        return self.broken(max(last.seq, 1), f"the head names entry {head.seq}, and the chain ends at {last.seq}")

    def broken(self, seq: int, why: str) -> Verdict:
        """The verdict on a chain that breaks at this entry."""
        return Verdict(ok=False, checked=self.checked, broken_seq=seq, why=why)


def verified(entries: Iterable[Entry], head: Head, start: Head | None = None) -> Verdict:
    """The verdict on entries in order, and the head that they should lead to."""
    walk = Walk(start)
    for entry in entries:
        if wrong := walk.step(entry.seq, fields(entry), entry.hash):
            return wrong
    return walk.end(head)
