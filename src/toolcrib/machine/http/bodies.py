"""Reading a body no further than it may be long, unpacked, however small it was packed."""

import zlib
from collections.abc import AsyncIterator

from toolcrib.core.errors import ToolFailed

ENCODINGS = "gzip, deflate"
_SLACK = 64 * 1024  # what packing may add to what cannot be packed


class Unpacker:
    """Takes a body in pieces and gives it unpacked, up to `limit` bytes in all."""

    def __init__(self, encoding: str, limit: int) -> None:
        """Raises ToolFailed for a packing that was not asked for."""
        self._packing = _packing(encoding)
        self._left = limit + 1  # one more shows that there is more
        self._taken = 0
        self._most = limit + _SLACK
        self._stream = zlib.decompressobj(31) if self._packing == "gzip" else None

    @property
    def full(self) -> bool:
        """Whether no more may be read."""
        return self._left <= 0 or self._taken > self._most

    def feed(self, piece: bytes) -> bytes:
        """What a piece unpacks to. Raises ToolFailed when it is not packed as it says."""
        self._taken += len(piece)
        if self.full:  # a bound of 0 would mean none to zlib
            return b""
        try:
            out = self._unpacked(piece) if self._packing else piece[: self._left]
        except zlib.error:
            raise ToolFailed(
                f"The answer says that it is packed with {self._packing}, and it is not.", code="bad_response"
            ) from None
        self._left -= len(out)
        return out

    def _unpacked(self, piece: bytes) -> bytes:
        if self._stream is None:  # deflate comes with a header or without; the first byte tells
            self._stream = zlib.decompressobj(15 if piece[:1] and piece[0] & 15 == 8 else -15)
        out = self._stream.decompress(piece, self._left)
        while self._stream.eof and self._stream.unused_data and len(out) < self._left and self._packing == "gzip":
            rest = self._stream.unused_data
            self._stream = zlib.decompressobj(31)
            out += self._stream.decompress(rest, self._left - len(out))
        return out


async def read_body(pieces: AsyncIterator[bytes], encoding: str, limit: int) -> tuple[bytes, bool]:
    """The body unpacked, at most `limit` bytes of it, and whether there is more."""
    unpacker = Unpacker(encoding, limit)
    out = bytearray()
    async for piece in pieces:
        out += unpacker.feed(piece)
        if unpacker.full:
            return bytes(out[:limit]), True
    return bytes(out), False


def _packing(encoding: str) -> str:
    named = [each.strip().lower() for each in encoding.split(",")]
    packings = [each.removeprefix("x-") for each in named if each and each != "identity"]
    if not packings:
        return ""
    if len(packings) > 1 or packings[0] not in {"gzip", "deflate"}:
        raise ToolFailed(
            f"The answer is packed with {encoding[:60]!r}, which was not asked for.",
            code="bad_response",
            hint="The server does not keep to the protocol; there is no way to read it from here.",
        )
    return packings[0]
