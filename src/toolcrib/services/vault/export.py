"""The whole vault as one document, to be sealed to a passphrase and put away; and the way back."""

import msgspec
from msgspec import Struct

from toolcrib.core.errors import ToolFailed
from toolcrib.services.vault.book import Book
from toolcrib.services.vault.values import Facts, Kind, Place

FORMAT = 1


class Line(Struct, frozen=True, kw_only=True):
    """One row with its value."""

    team: str
    kind: str
    name: str
    value: bytes
    secret: bool = True
    about: str = ""
    tools: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    by: str = ""


class Document(Struct, frozen=True, kw_only=True):
    """Every row."""

    rows: tuple[Line, ...]
    format: int = FORMAT


_encode = msgspec.json.encode
_decoder = msgspec.json.Decoder(Document)


async def exported(book: Book) -> tuple[bytes, int]:
    """The vault as JSON, values in base64; and how many rows that is."""
    lines: list[Line] = []
    for facts in await book.everywhere():
        found = await book.get(facts.place)
        if found is not None:
            place = facts.place
            line = Line(
                team=place.team,
                kind=place.kind,
                name=place.name,
                value=found[1],
                secret=facts.secret,
                about=facts.about,
                tools=facts.tools,
                hosts=facts.hosts,
                by=facts.by,
            )
            lines.append(line)
    return _encode(Document(rows=tuple(lines))), len(lines)


async def imported(book: Book, data: bytes) -> tuple[int, int]:
    """Put in what is not there yet; how many rows were put in, and how many were there and stay as they are."""
    try:
        document = _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ToolFailed("This is no export of a vault; nothing was changed.", code="bad_export") from None
    if document.format != FORMAT or any(line.kind not in set(Kind) for line in document.rows):
        raise ToolFailed("This export is of another version; nothing was changed.", code="bad_export")
    there = {facts.place for facts in await book.everywhere()}
    fresh = [line for line in document.rows if Place(line.team, line.kind, line.name) not in there]
    if fresh:
        await book.put_many([(_facts(line), line.value) for line in fresh])
    return len(fresh), len(document.rows) - len(fresh)


def _facts(line: Line) -> Facts:
    return Facts(
        place=Place(line.team, line.kind, line.name),
        secret=line.secret,
        about=line.about,
        tools=line.tools,
        hosts=line.hosts,
        by=line.by,
    )
