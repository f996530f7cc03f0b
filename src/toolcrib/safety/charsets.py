"""The text of what came over the network: what it says of itself is believed only as far as it holds."""

import codecs
import re

from msgspec import Struct

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_META = re.compile(rb"""<meta\b[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
# Python knows codecs that are no character sets, and some that take quadratic time.
_KNOWN = re.compile(
    r"ascii|utf-(8|8-sig|16|16-le|16-be|32|32-le|32-be)|iso8859-\d+|cp(125\d|437|85\d|86[0-6]|874|932|949|950)"
    r"|koi8-[rtu]|mac-(roman|cyrillic|greek|turkish)|shift_jis(x0213|_2004)?|euc_(jp|jis_2004|kr)|iso2022_(jp|kr)"
    r"|gb2312|gbk|gb18030|big5(hkscs)?|johab|tis-620|ptcp154"
)
_WEB = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "utf-8": "utf-8-sig"}
_META_BYTES = 2048
_TEXT = re.compile(
    r"text/|application/([a-z0-9.+-]*[+])?(json|xml|yaml|x-yaml|toml|javascript|ecmascript|graphql|sql|xhtml|"
    r"x-ndjson|ndjson|jsonl|json-seq|x-www-form-urlencoded|rtf|x-sh)|image/svg"
)
_SNIFFED = 8192
_ODD = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


class Read(Struct, frozen=True):
    """A text, the character set it was read in, and what the reader should know about that."""

    text: str
    charset: str
    note: str = ""


def media_type(content_type: str) -> str:
    """The type alone, in lower case: `text/html`."""
    return content_type.partition(";")[0].strip().lower()


def is_html(content_type: str, data: bytes) -> bool:
    """Whether this is a web page."""
    kind = media_type(content_type)
    if kind in {"text/html", "application/xhtml+xml"}:
        return True
    return not kind and data[:_SNIFFED].lstrip()[:14].lower().startswith((b"<!doctype html", b"<html"))


def read_text(data: bytes, content_type: str) -> Read | None:
    """The text of a body; None if it is not text."""
    for bom, charset in _BOMS:
        if data.startswith(bom):
            return Read(data[len(bom) :].decode(charset, "replace"), charset)
    said = _said(data, content_type)
    charset = _known(said)
    if not charset.startswith("utf-") or charset.startswith("utf-8"):
        texty = _TEXT.match(media_type(content_type)) is not None
        if _ODD.search(data[:_SNIFFED]) and not (texty and b"\x00" not in data[:_SNIFFED]) and "2022" not in charset:
            return None
    if charset:
        text = data.decode(charset, "replace")
        broken = "\ufffd" in text
        return Read(text, charset, f"Not all of it is {said}; what is not is shown as \ufffd." if broken else "")
    return _guessed(data, said)


def _guessed(data: bytes, said: str) -> Read:
    unknown = f"It says that it is in {said!r}, which is unknown. " if said else ""
    try:
        return Read(_utf8(data), "utf-8", unknown and f"{unknown}Read as UTF-8.")
    except UnicodeDecodeError:
        return Read(data.decode("cp1252", "replace"), "cp1252", f"{unknown}Read as Windows-1252, which is a guess.")


def _utf8(data: bytes) -> str:
    """A text in UTF-8, the end of which may be cut in the middle of a character."""
    text = codecs.getincrementaldecoder("utf-8")().decode(data)
    if text.isascii():  # then nothing but the end would tell that it is UTF-8
        return data.decode("utf-8")
    return text


def _said(data: bytes, content_type: str) -> str:
    """The character set that the header names, or the page itself."""
    if named := _CHARSET.search(content_type):
        return named[1]
    named = _META.search(data[:_META_BYTES]) if is_html(content_type, data) else None
    return named[1].decode("ascii") if named else ""


def _known(name: str) -> str:
    try:
        found = codecs.lookup(name).name if name else ""
    except LookupError:
        return ""
    return _WEB.get(found, found) if _KNOWN.fullmatch(found) else ""
