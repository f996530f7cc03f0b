"""Which IP addresses lie outside: own tables, for what a library calls global changes from version to version.

IPv4 is open but for a list of blocks. IPv6 is closed but for 2000::/3, less a list of blocks; forms that carry an
IPv4 address are judged by the address that they carry. An address is a number here, so that a verdict costs nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

_PART = r"(?:0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
_QUAD = re.compile(rf"{_PART}(?:\.{_PART}){{3}}")
_GROUP = re.compile(r"[0-9a-fA-F]{1,4}")

_BLOCKS4 = (
    ("0.0.0.0", 8, "this network"),  # noqa: S104 - a row of a table, nothing binds here
    ("10.0.0.0", 8, "a private network"),
    ("100.64.0.0", 10, "a carrier's private network"),
    ("127.0.0.0", 8, "this machine"),
    ("168.63.129.16", 32, "a cloud's own services"),
    ("169.254.0.0", 16, "link-local, where clouds keep credentials"),
    ("172.16.0.0", 12, "a private network"),
    ("192.0.0.0", 24, "reserved for protocols"),
    ("192.0.2.0", 24, "reserved for documentation"),
    ("192.88.99.0", 24, "a 6to4 relay"),
    ("192.168.0.0", 16, "a private network"),
    ("198.18.0.0", 15, "reserved for benchmarks"),
    ("198.51.100.0", 24, "reserved for documentation"),
    ("203.0.113.0", 24, "reserved for documentation"),
    ("224.0.0.0", 4, "multicast"),
    ("240.0.0.0", 4, "reserved"),
)
_BLOCKS6 = (
    ("2001::", 23, "reserved for protocols (Teredo and others)"),
    ("2001:db8::", 32, "reserved for documentation"),
    ("2002::", 16, "6to4, which hides an IPv4 address"),
    ("3ffe::", 16, "a closed test network"),
    ("3fff::", 20, "reserved for documentation"),
)
_CLOSED6 = (
    (0x00, 8, "this machine, or an old form of an IPv4 address"),
    (0x01, 8, "a black hole"),
    (0xFC, 7, "a private network"),
    (0xFE80 >> 8, 8, "link-local or site-local"),
    (0xFF, 8, "multicast"),
)
_MAPPED = 0xFFFF
_NAT64 = 0x0064FF9B << 64
_ISATAP = (0x00005EFE, 0x02005EFE)


class Address(Struct, frozen=True):
    """An IP address as a number."""

    version: int
    number: int

    def __str__(self) -> str:
        return _quad(self.number) if self.version == 4 else _text6(self.number)


def read_address(text: str) -> Address | None:
    """An address in its plain form; None for every other spelling. An IPv4 address inside an IPv6 one comes out."""
    if ":" not in text:
        number = read_quad(text)
        return None if number is None else Address(4, number)
    number = _read6(text)
    if number is None:
        return None
    return Address(4, number & 0xFFFFFFFF) if number >> 32 == _MAPPED else Address(6, number)


def read_quad(text: str) -> int | None:
    """Four decimal numbers without leading zeros; nothing else is an IPv4 address here."""
    if _QUAD.fullmatch(text) is None:
        return None
    a, b, c, d = text.split(".")
    return int(a) << 24 | int(b) << 16 | int(c) << 8 | int(d)


def fault_of(address: Address) -> str:
    """What is wrong with connecting to an address; "" for a public one."""
    return _fault4(address.number) if address.version == 4 else _fault6(address.number)


def _fault4(number: int) -> str:
    i = bisect_right(_STARTS4, number) - 1
    return _NAMES4[i] if i >= 0 and number <= _ENDS4[i] else ""


def _fault6(number: int) -> str:
    if number >> 32 == _NAT64:
        return _fault4(number & 0xFFFFFFFF)
    if number >> 125 != 1:  # outside 2000::/3
        return next((why for top, bits, why in _CLOSED6 if number >> 120 >> 8 - bits == top >> 8 - bits), "not routed")
    i = bisect_right(_STARTS6, number) - 1
    if i >= 0 and number <= _ENDS6[i]:
        return _NAMES6[i]
    if number >> 32 & 0xFFFFFFFF in _ISATAP and (inner := _fault4(number & 0xFFFFFFFF)):
        return f"ISATAP to {inner}"
    return ""


class Networks:
    """Blocks of addresses that a configuration opens, such as `10.0.0.0/8`."""

    def __init__(self, blocks: Sequence[tuple[Address, int]] = ()) -> None:
        self._blocks = tuple(
            (one.version, _width(one) - bits, one.number >> _width(one) - bits) for one, bits in blocks
        )

    def __contains__(self, address: Address) -> bool:
        return any(v == address.version and address.number >> shift == start for v, shift, start in self._blocks)


def read_block(text: str) -> tuple[Address, int] | None:
    """An address, or a block in the form `address/bits`, with its number of leading bits."""
    plain, slash, bits = text.partition("/")
    address = read_address(plain.strip("[]"))
    if address is None:
        return None
    if not slash:
        return address, _width(address)
    if not (bits.isascii() and bits.isdigit() and len(bits) <= 3 and int(bits) <= _width(address)):
        return None
    return address, int(bits)


def _width(address: Address) -> int:
    return 32 if address.version == 4 else 128


def _read6(text: str) -> int | None:
    """The number of an IPv6 address without a zone."""
    if len(text) > 45:
        return None
    head, gap, tail = text.partition("::")
    first, last = _groups(head, ends=not gap), _groups(tail, ends=True)
    if first is None or last is None:
        return None
    missing = 8 - len(first) - len(last)
    if missing < 1 if gap else missing != 0:
        return None
    number = 0
    for group in (*first, *[0] * missing, *last):
        number = number << 16 | group
    return number


def _groups(text: str, *, ends: bool) -> list[int] | None:
    """The groups of one side of `::`. At the end of the address the last two may be a dotted quad."""
    if not text:
        return []
    parts = text.split(":")
    groups: list[int] = []
    if ends and "." in parts[-1]:
        quad = read_quad(parts.pop())
        if quad is None:
            return None
        groups = [quad >> 16, quad & 0xFFFF]
    if any(_GROUP.fullmatch(part) is None for part in parts):
        return None
    return [*(int(part, 16) for part in parts), *groups]


def _quad(number: int) -> str:
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _text6(number: int) -> str:
    """The usual short form: lower case, the longest run of zero groups as `::`."""
    groups = [number >> shift & 0xFFFF for shift in range(112, -1, -16)]
    start, length = 0, 0
    i = 0
    while i < len(groups):
        j = i
        while j < len(groups) and groups[j] == 0:
            j += 1
        if j - i > max(length, 1):
            start, length = i, j - i
        i = max(j, i + 1)
    words = [f"{group:x}" for group in groups]
    if not length:
        return ":".join(words)
    return ":".join(words[:start]) + "::" + ":".join(words[start + length :])


def _table(blocks: Sequence[tuple[str, int, str]], width: int) -> tuple[list[int], list[int], list[str]]:
    starts: list[int] = []
    ends: list[int] = []
    for text, bits, _ in blocks:
        start = (read_quad(text) if width == 32 else _read6(text)) or 0
        starts.append(start)
        ends.append(start | (1 << width - bits) - 1)
    return starts, ends, [why for _, _, why in blocks]


_STARTS4, _ENDS4, _NAMES4 = _table(_BLOCKS4, 32)
_STARTS6, _ENDS6, _NAMES6 = _table(_BLOCKS6, 128)
