r"""A web address in one strict grammar: whatever two programs could read in two ways is refused.

    scheme://host[:port][/path][?query][#fragment]

No user name, no backslash, no space or control character, no host in any but its plain form. The parts come out
normalised, and requests are made of the parts, never of the text that was checked.
"""

import re

from msgspec import Struct

from toolcrib.core.heavy import heavy
from toolcrib.safety.addresses import Address, read_address

CHARACTERS = 8192
PORTS = {"http": 80, "https": 443}
# Controls, spaces, marks that turn the direction of writing, and what is no character. What joins letters is left:
# names are judged more strictly below, and a path may be written in any language.
_ODD = re.compile(
    "[\x00-\x20\x7f-\xa0\\\\\u061c\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff\ufff0-\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_FORM = re.compile(r"(https?)://([^/?#]+)([^#]*)(?:#.*)?", re.IGNORECASE | re.DOTALL)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMERIC = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$")
_UNSAFE = re.compile(r"[^!#$%&'()*+,/:;=?@A-Z\[\]a-z0-9._~-]")
_NAME_CHARACTERS = 253
_HIGHEST_PORT = 65535


class BadUrl(ValueError):
    """A text that is no web address in the strict grammar. Its words say why."""


class Url(Struct, frozen=True):
    """A web address in parts. `host` is an ASCII name without a final dot, or an address in its usual form."""

    scheme: str
    host: str
    port: int
    target: str  # path and query
    address: Address | None = None  # when the host is an address

    @property
    def netloc(self) -> str:
        """Host and port as a request names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """What credentials belong to."""
        return self.scheme, self.host, self.port

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.target}"


def read_url(text: str) -> Url:
    """The parts of a web address; BadUrl if it is not a plain one."""
    if len(text) > CHARACTERS:
        raise BadUrl(f"it is longer than {CHARACTERS:,} characters")
    if (odd := _ODD.search(text)) is not None:
        raise BadUrl(f"it holds U+{ord(odd[0]):04X}, which no web address does; write it as %XX if it is meant")
    form = _FORM.fullmatch(text)
    if form is None:
        raise BadUrl(_misshapen(text))
    scheme = form[1].lower()
    host, port = _authority(form[2])
    name, address = read_host(host)
    target = form[3] if form[3].startswith("/") else f"/{form[3]}"
    return Url(scheme, name, _port(port, scheme), _UNSAFE.sub(_percent, target), address)


def read_host(text: str) -> tuple[str, Address | None]:
    """A host in its plain form: an ASCII name without a final dot, or an address. BadUrl for any other spelling."""
    if text.startswith("["):
        address = read_address(text[1:-1]) if ":" in text else None
        if address is None or not text.endswith("]"):
            raise BadUrl("what stands in brackets is no plain IPv6 address")
        return str(address), address
    name = text.lower() if text.isascii() else _ascii(text)
    name = name.removesuffix(".")
    if len(name) > _NAME_CHARACTERS or _NAME.fullmatch(name) is None:
        raise BadUrl("its host is no plain name")
    if _NUMERIC.search(name) is None:
        return name, None
    address = read_address(name)
    if address is None:
        raise BadUrl("its host ends in a number and is not four plain decimal numbers")
    return name, address


def join(base: Url, location: str) -> Url:
    """Where a redirect leads, read as strictly as any other address."""
    if _SCHEME.match(location):
        return read_url(location)
    if location.startswith("//"):
        return read_url(f"{base.scheme}:{location}")
    start = f"{base.scheme}://{base.netloc}"
    path = base.target.partition("?")[0]
    if not location or location.startswith("#"):
        return base
    if location.startswith("?"):
        return read_url(f"{start}{path}{location}")
    if not location.startswith("/"):
        location = path[: path.rindex("/") + 1] + location
    way, mark, query = location.partition("#")[0].partition("?")
    return read_url(f"{start}{_without_dots(way)}{mark}{query}")


def _authority(text: str) -> tuple[str, str]:
    if "@" in text:
        raise BadUrl("it carries a user name or a password; give credentials in a header")
    if text.startswith("["):
        host, bracket, rest = text.partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise BadUrl("what stands in brackets is no plain IPv6 address")
        return f"{host}]", rest[1:]
    host, _, port = text.partition(":")
    if ":" in port:
        raise BadUrl("an IPv6 address stands in brackets")
    return host, port


def _port(text: str, scheme: str) -> int:
    if not text:
        return PORTS[scheme]
    if not (text.isascii() and text.isdigit() and len(text) <= 5):
        raise BadUrl("its port is no number")
    port = int(text)
    if not 0 < port <= _HIGHEST_PORT:
        raise BadUrl("its port is not between 1 and 65535")
    return port


def _ascii(text: str) -> str:
    """An international name as DNS has it. Look-alikes that other programs would fold into ASCII are refused."""
    if heavy("unicodedata").normalize("NFKC", text) != text or "\u3002" in text:
        raise BadUrl("its host is written with look-alike characters")
    idna = heavy("idna")
    try:
        encoded: bytes = idna.encode(text.lower())
    except UnicodeError as error:  # IDNAError is one
        raise BadUrl("its host is no international domain name") from error
    return encoded.decode("ascii")


def _misshapen(text: str) -> str:
    scheme = _SCHEME.match(text)
    if scheme is None:
        return "it does not begin with http:// or https://"
    if scheme[0].lower() in {"http:", "https:"}:
        return "it has no host after http:// or https://"
    return f"{scheme[0]} is not allowed, only http:// and https://"


def _percent(odd: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in odd[0].encode())


def _without_dots(path: str) -> str:
    kept: list[str] = []
    steps = path.split("/")[1:]
    for step in steps:
        if step == "..":
            del kept[-1:]
        elif step != ".":
            kept.append(step)
    if steps and steps[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)
