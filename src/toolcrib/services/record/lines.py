"""From what the pipeline hands over to what is kept: scrubbed, cut to a bound, and safe to store anywhere.

A line holds every field of an entry but its number and its hashes, in the order in which they are hashed.
"""

from hashlib import sha256
from typing import TypeAlias

import msgspec
from msgspec import Struct

from toolcrib.core.call import Caller, Record
from toolcrib.services.record.audit import Entry, Scrub
from toolcrib.services.record.chain import body

Line: TypeAlias = tuple[str, float, str, str, str, str, str, str, str, str, float, int, str, str, int]
Draft: TypeAlias = tuple[Line, bytes]  # a line and its canonical form

LONGEST_ARGUMENTS = 32_768  # characters; a file's content is not what audit is for
CALLERS_REMEMBERED = 256
_STRANGER = "unknown_tool"  # its name is whatever was asked for
WITHHELD = '"[withheld: the scrubber failed on these arguments]"'
_FAULTS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_encode = msgspec.json.encode
_verdicts = msgspec.json.Decoder(tuple[str, ...])


class Mark(Struct, frozen=True):
    """A call that runs: what is known of it before it ends."""

    id: str
    at: float
    caller: Caller
    tool: str
    arguments: bytes


class Drafts:
    """Makes lines. It remembers what it wrote of a caller: one turn makes many calls."""

    def __init__(self, scrub: Scrub) -> None:
        self._scrub = scrub
        self._callers: dict[int, tuple[Caller, tuple[str, str, str, str]]] = {}

    def of(self, record: Record) -> Draft:
        """The line of a record."""
        agent, user, session, context = self._who(record.caller)
        line = (
            clean(record.id),
            record.at,
            agent,
            user,
            session,
            context,
            clean(record.tool) if record.code != _STRANGER else self._words(record.tool),
            self._told(record.arguments),
            str(record.status),
            record.code and clean(record.code),
            record.seconds,
            record.size,
            self._words(_encode(record.verdicts).decode()) if record.verdicts else "",
            record.approval and self._words(record.approval),
            record.generation,
        )
        return line, body(line)

    def interrupted(self, mark: Mark, now: float) -> Draft:
        """The line of a call whose process died before it ended."""
        agent, user, session, context = self._who(mark.caller)
        told = self._told(mark.arguments)
        return interrupted((clean(mark.id), mark.at, agent, user, session, context, clean(mark.tool), told), now)

    def opening(self, mark: Mark) -> tuple[str, float, str, str, str, str, str, str]:
        """The first eight fields of a line: those that are known while the call runs."""
        return (clean(mark.id), mark.at, *self._who(mark.caller), clean(mark.tool), self._told(mark.arguments))

    def _words(self, text: str) -> str:
        """What came from a caller, a guard or a person, without secrets."""
        try:
            return clean(self._scrub(text))
        except _FAULTS:  # what was not scrubbed is not kept
            return ""

    def _who(self, caller: Caller) -> tuple[str, str, str, str]:
        found = self._callers.get(id(caller))
        if found is not None and found[0] is caller:
            return found[1]
        if len(self._callers) >= CALLERS_REMEMBERED:
            self._callers.clear()
        who = clean(caller.agent), clean(caller.user), clean(caller.session), _context(caller)
        self._callers[id(caller)] = (caller, who)
        return who

    def _told(self, arguments: bytes) -> str:
        text = arguments.decode("utf-8", "replace")
        try:
            text = self._scrub(text)
            return clean(text if len(text) <= LONGEST_ARGUMENTS else _cut(text))
        except _FAULTS:  # a broken scrubber neither stops the record nor lets through what it did not scrub
            return WITHHELD


def interrupted(opening: tuple[str, float, str, str, str, str, str, str], now: float) -> Draft:
    """The line of a call that began so, and whose process died before it ended."""
    line = (*opening, "cancelled", "interrupted", max(0.0, now - opening[1]), 0, "", "", 0)
    return line, body(line)


def gap(lost: int, now: float) -> Draft:
    """The line that stands for records which could not be kept."""
    line = ("", now, "", "", "", "", "", f'{{"lost":{lost}}}', "gap", "records_lost", 0.0, lost, "", "", 0)
    return line, body(line)


def entry(seq: int, line: Line, previous: str, digest: str) -> Entry:
    """An entry as people and programs see it."""
    return Entry(
        seq=seq,
        id=line[0],
        at=line[1],
        agent=line[2],
        user=line[3],
        session=line[4],
        context=line[5],
        tool=line[6],
        arguments=line[7],
        status=line[8],
        code=line[9],
        seconds=line[10],
        size=line[11],
        verdicts=_verdicts.decode(line[12]) if line[12] else (),
        approval=line[13],
        generation=line[14],
        previous=previous,
        hash=digest,
    )


def clean(text: str) -> str:
    """Text that every database takes: no NUL, no half of a surrogate pair."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", "\ufffd") if "\0" in text else text


def _cut(text: str) -> str:
    whole = text.encode("utf-8", "replace")
    told = {"cut": text[:LONGEST_ARGUMENTS], "characters": len(text), "sha256": sha256(whole).hexdigest()}
    return _encode(told).decode("utf-8")


def _context(caller: Caller) -> str:
    """What else is known of a caller, as JSON; "" for the plain case."""
    names = ("depth", "provider", "model", "team", "group", "channel", "chat", "parents", "toolboxes", "only")
    told = {name: getattr(caller, name) for name in names}
    told = {name: value for name, value in told.items() if value or (value == () and name in {"toolboxes", "only"})}
    if not told:
        return ""
    try:
        return clean(_encode(told).decode())
    except UnicodeEncodeError:
        return '{"unreadable":true}'
