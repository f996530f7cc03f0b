"""Bytes and text: which encoding a file is in, what a binary file is, and where its lines end."""

import re

from msgspec import Struct

from toolcrib.core.errors import ToolFailed

_BOMS = (  # the longer ones first: UTF-32's begins like UTF-16's
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_KINDS = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"RIFF", "a RIFF file (WebP, WAV or AVI)"),
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive (also docx, xlsx, jar)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"(\xb5/\xfd", "a zstd archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x7fELF", "an ELF program"),
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
    (b"\x00asm", "a WebAssembly module"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"OggS", "an Ogg file"),
    (b"ID3", "an MP3 file"),
)
_SNIFFED = 64 * 1024
# Control characters that no text holds; tab, line feed, form feed, carriage return, backspace and escape are fine.
_ODD = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")


class Text(Struct, frozen=True):
    """A file's text, and how to make the same bytes of it again."""

    content: str
    encoding: str = "utf-8"
    bom: bytes = b""

    @property
    def assumed(self) -> bool:
        """Whether the encoding is a guess."""
        return self.encoding == "latin-1"

    def encode(self, content: str) -> bytes:
        """Other content in this file's encoding, with its byte order mark."""
        try:
            return self.bom + content.encode(self.encoding)
        except UnicodeEncodeError as error:
            lost = error.object[error.start]
            raise ToolFailed(
                f"The file is in {self.encoding}, which has no character {lost!r} (U+{ord(lost):04X}).",
                code="bad_text",
                hint="Use other characters, or write the whole file anew with write_file, which writes UTF-8.",
            ) from None


def decode(data: bytes) -> Text | None:
    """The text of a file; None if it is not text.

    Bytes that are not UTF-8 and hold no odd control characters are read as Latin-1: that never fails, and gives
    back the same bytes for all that an edit does not touch.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                return Text(data[len(bom) :].decode(encoding), encoding, bom)
            except UnicodeDecodeError:
                return None
    if b"\0" in data:
        return None
    try:
        content = data.decode()
    except UnicodeDecodeError:
        return None if _ODD.search(data, 0, _SNIFFED) else Text(data.decode("latin-1"), "latin-1")
    odd = len(_ODD.findall(data, 0, _SNIFFED))
    return None if odd * 10 > min(len(data), _SNIFFED) else Text(content)


def kind(data: bytes) -> str:
    """What a binary file is, in words."""
    return next((words for magic, words in _KINDS if data.startswith(magic)), "not text")


def searchable(data: bytes) -> bytes | None:
    """A file's bytes as a search sees them: UTF-16 as UTF-8, no byte order mark; None if binary (it holds a NUL)."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16-le" if data[0] == 0xFF else "utf-16-be"
        data = data[2:].decode(encoding, "replace").encode("utf-8", "replace")
    elif data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    return None if b"\0" in data else data


def split_lines(content: str) -> list[str]:
    """Lines without their ends. A final line end makes no further line."""
    lines = content.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def count_lines(content: str) -> int:
    """How many lines a text has."""
    return content.count("\n") + (not content.endswith("\n") and content != "")


def line_ends(content: str) -> str:
    """Which line ends a text has: lf, crlf, mixed or none."""
    all_of_them, windows = content.count("\n"), content.count("\r\n")
    if not all_of_them:
        return "none"
    return "lf" if not windows else "crlf" if windows == all_of_them else "mixed"
