"""What a server's tools are called here: `mcp_<server>_<tool>`, at most 64 characters.

The pair of server and tool is the identity; the name is how a model says it. A name that is too long, that somebody has
already, or that has two underscores in a row ends in a few characters of the pair's digest. Names once given are kept
with the pins.
"""

import re
from collections.abc import Collection
from hashlib import sha256

LONGEST = 64
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")
_DIGITS = 8


def plain(text: str) -> str:
    """A name in the characters that every provider takes."""
    return _STRANGE.sub("_", text)


def name_of(server: str, tool: str, taken: Collection[str] = ()) -> str:
    """The name of a tool here. `taken` are names in small letters that others have."""
    wanted = f"mcp_{plain(server)}_{plain(tool)}"
    if len(wanted) <= LONGEST and "__" not in wanted and wanted.lower() not in taken:
        return wanted  # two underscores are the other form of some name, and a denial of that must not be drawn away
    digest = sha256(f"{server}\0{tool}".encode()).hexdigest()
    for size in range(_DIGITS, len(digest), _DIGITS):
        ending = f"_{digest[:size]}"
        short = wanted[: LONGEST - len(ending)] + ending
        if short.lower() not in taken:
            return short
    return wanted[: LONGEST - 33] + "_" + digest[-32:]


def other_name(server: str, tool: str) -> tuple[str, ...]:
    """The form with two underscores, which other systems write; none where it would be too long."""
    other = f"mcp_{plain(server)}__{plain(tool)}"
    return (other,) if len(other) <= LONGEST else ()


def prefix(server: str) -> str:
    """What names of its tools begin with, in small letters, without `mcp_`."""
    return plain(server).lower()
