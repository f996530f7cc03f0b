"""The tools there are, as an immutable snapshot with a generation number.

Tool number i is bit i of every mask. What a list means ("group:fs", "bash", "browser_*") is worked out once per
snapshot, so that granting is arithmetic on integers.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import compress

from msgspec import Struct

from toolcrib.core.call import Where
from toolcrib.core.errors import BadTool, CribError
from toolcrib.core.heavy import heavy
from toolcrib.core.tool import NAME, Tool

LONGEST = 128  # a name beyond this is no slip of the pen
EVERY_NATIVE = "*native"
EVERYTHING = "*everything"
_ONES = bytes.maketrans(b"01", b"\x00\x01")


class UnknownName(CribError):
    """A configuration names what does not exist. `near` are the nearest names that do."""

    def __init__(self, name: str, why: str = "", *, among: "Callable[[], Iterable[str]] | None" = None) -> None:
        self.name = name
        self.what = why or f"{name!r} is not a tool, group or alias that Toolcrib knows."
        self._among = among
        super().__init__(self.what)

    @property
    def near(self) -> list[str]:
        """The nearest names; looked for only when somebody reads them."""
        return near(self.name, self._among()) if self._among else []

    @property
    def mend(self) -> str:
        """The question that helps."""
        return f"Did you mean {' or '.join(self.near)}?" if self.near else ""

    def __str__(self) -> str:
        return f"{self.what} {self.mend}".rstrip()


class Circular(UnknownName):
    """A group or cover that contains itself."""


class Reserved(Struct, frozen=True):
    """A tool of the catalogue that this version does not have yet. Its name may be listed, and grants nothing."""

    name: str
    about: str
    domain: str
    aliases: tuple[str, ...] = ()
    where: str = "both"
    flags: str = ""


class Names(Struct, frozen=True):
    """Names that stand beside the tools: groups, names that cover several tools, and reserved tools."""

    groups: Mapping[str, tuple[str, ...]] = {}
    covers: Mapping[str, tuple[str, ...]] = {}
    reserved: Mapping[str, Reserved] = {}
    awaited: Mapping[str, str] = {}  # an MCP server, in small letters: why a tool of it is not there


class Registry:
    """All tools at one moment. A change makes a new one; a run in progress keeps the one it began with."""

    def __init__(self, tools: Iterable[Tool], names: Names | None = None, *, generation: int = 1) -> None:
        self.tools: tuple[Tool, ...] = tuple(sorted(tools, key=lambda tool: tool.name))
        self.names = names or Names()
        self.generation = generation
        self.everything = (1 << len(self.tools)) - 1
        self._canonical: dict[str, int] = {}
        for i, tool in enumerate(self.tools):
            if not NAME.fullmatch(tool.name):
                raise BadTool(f"{tool.name!r} is not a tool name: 1 to 64 letters, digits, _ or -.")
            first = self.tools[self._canonical.setdefault(tool.name.lower(), i)]
            if first is not tool:
                raise BadTool(
                    f"Two tools are called {tool.name}: {_from(first)} and {_from(tool)}. Rename one of them."
                )
        self._masks: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.tools)

    @cached_property
    def _aliases(self) -> dict[str, tuple[str, ...]]:
        """Each alias and the canonical names that claim it. A canonical name is nobody's alias."""
        claims: dict[str, list[str]] = {}
        named: list[Tool | Reserved] = [*self.tools, *self.names.reserved.values()]
        for entry in named:
            for alias in entry.aliases:
                claims.setdefault(alias.lower(), []).append(entry.name)
        return {a: tuple(c) for a, c in claims.items() if a not in self._canonical and a not in self.names.reserved}

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """The canonical names in bit order."""
        return tuple(tool.name for tool in self.tools)

    def index(self, name: str) -> int | None:
        """The number of the tool of that name or alias; None if there is none."""
        low = name.lower()
        i = self._canonical.get(low)
        if i is None and len(claims := self._aliases.get(low, ())) == 1:
            i = self._canonical.get(claims[0].lower())
        return i

    def get(self, name: str) -> Tool | None:
        """The tool of that name or alias."""
        i = self.index(name)
        return None if i is None else self.tools[i]

    def reserved(self, name: str) -> Reserved | None:
        """The entry of a tool that is known and not built."""
        low = name.lower()
        if low in self.names.reserved:
            return self.names.reserved[low]
        claims = self._aliases.get(low, ())
        return self.names.reserved.get(claims[0].lower()) if len(claims) == 1 else None

    def awaits(self, name: str) -> str:
        """Why a name that begins like a tool of a known MCP server is none just now."""
        return next((w for server, w in self.names.awaited.items() if name.lower().startswith(f"mcp_{server}_")), "")

    def names_of(self, mask: int) -> tuple[str, ...]:
        """The canonical names in a mask, in order."""
        return tuple(compress(self.ordered, bin(mask)[:1:-1].encode().translate(_ONES)))

    def tools_of(self, mask: int) -> tuple[Tool, ...]:
        """The tools in a mask, in order."""
        return tuple(compress(self.tools, bin(mask)[:1:-1].encode().translate(_ONES)))

    def mask(self, entries: Iterable[str]) -> int:
        """What a list means here. An entry that means nothing grants and denies nothing: `check` finds those."""
        held = 0
        known = self._masks
        for entry in entries:
            mask = known.get(entry)
            if mask is None:
                try:
                    mask = self._meaning(entry.strip(), ())
                except UnknownName:
                    mask = 0
                known[entry] = mask
            held |= mask
        return held

    def check(self, entry: str) -> None:
        """Raise UnknownName, with the nearest names, if an entry of a list means nothing."""
        self._meaning(entry.strip(), ())

    def bits(self, tools: Iterable[Tool]) -> int:
        """The mask of some tools of this snapshot."""
        held = bytearray(len(self.tools) // 8 + 1)
        for tool in tools:
            i = self._canonical[tool.name.lower()]
            held[i >> 3] |= 1 << (i & 7)
        return int.from_bytes(held, "little")

    def masks_by(self, where: Where) -> int:
        """The tools that work in these hands."""
        return self._by_where[where]

    @cached_property
    def _by_where(self) -> dict[Where, int]:
        return {where: self.bits(t for t in self.tools if where in t.traits.where) for where in Where}

    @cached_property
    def conditional(self) -> dict[str, int]:
        """The tools that are there only while something holds, by the name of what must hold."""
        found: dict[str, int] = {}
        for i, tool in enumerate(self.tools):
            if tool.traits.condition:
                found[tool.traits.condition] = found.get(tool.traits.condition, 0) | 1 << i
        return found

    def _meaning(self, entry: str, seen: tuple[str, ...]) -> int:
        low = entry.lower()
        if low in seen:
            raise Circular(entry, why=f"{entry!r} contains itself.")
        if (i := self._canonical.get(low)) is not None:
            return 1 << i
        if low in {"*", EVERYTHING, EVERY_NATIVE}:
            return self._star(low)
        if low.startswith("group:"):
            return self._group(low[6:], (*seen, low))
        if low in self.names.covers:
            return self._all(self.names.covers[low], (*seen, low))
        if any(sign in low for sign in "*?["):
            return self._glob(low)
        return self._alias(entry, low)

    def _all(self, entries: Iterable[str], seen: tuple[str, ...]) -> int:
        """What several entries mean together. One that means nothing just now must not empty a whole deny list."""
        held = 0
        for entry in entries:
            try:
                held |= self._meaning(entry, seen)
            except Circular:
                raise
            except UnknownName:
                continue
        return held

    def _star(self, sign: str) -> int:
        """`*` is every native and custom tool, and never an MCP or plugin tool."""
        sources = {"*": {"native", "custom"}, EVERY_NATIVE: {"native"}}.get(sign)
        return self.everything if sources is None else self.bits(t for t in self.tools if t.source in sources)

    def _group(self, name: str, seen: tuple[str, ...]) -> int:
        if name in self.names.groups:
            return self._all(self.names.groups[name], seen)
        source, _, origin = name.partition(":")
        if source in {"mcp", "plugin", "plugins"}:
            source = source.removesuffix("s")
            found = self.bits(t for t in self.tools if t.source == source and origin in {"", t.origin.lower()})
            if found or not origin or origin in self.names.awaited:
                return found
            there = sorted({t.origin for t in self.tools if t.source == source})
            raise UnknownName(f"group:{name}", among=lambda: [f"group:{source}:{n}" for n in there])
        domain = self.bits(t for t in self.tools if t.domain == name)
        if domain or any(r.domain == name for r in self.names.reserved.values()):
            return domain
        raise UnknownName(f"group:{name}", among=self._groups)

    def _glob(self, entry: str) -> int:
        """A pattern never reaches into MCP or plugin tools unless it begins with their prefix."""
        fits = heavy("re").compile(heavy("fnmatch").translate(entry)).match
        reach = {"native", "custom"} | ({"mcp"} if entry.startswith("mcp_") else set[str]())
        reach |= {"plugin"} if entry.startswith("plugin_") else set[str]()
        found = self.bits(t for t in self.tools if t.source in reach and fits(t.name.lower()))
        if not found and not any(fits(name) for name in self.names.reserved):
            raise UnknownName(entry, why=f"The pattern {entry!r} fits no tool.")
        return found

    def _alias(self, entry: str, low: str) -> int:
        claims = self._aliases.get(low, ())
        if low in self.names.reserved or (not claims and self.awaits(low)):
            return 0
        if len(claims) > 1:
            one_of = " or ".join(claims)
            raise UnknownName(entry, why=f"{entry!r} could mean {one_of}. Write one of these names.")
        if claims:
            return self._all(claims, (low,))
        raise UnknownName(entry, among=self._listable)

    def several(self, name: str) -> tuple[str, ...]:
        """The tools that one name stands for, where it is a group or stands for more than one, and so cannot be called."""
        low = name.lower()
        if low.startswith("group:"):
            return self.names_of(self.mask((low,)))
        claims = self.names.covers.get(low) or self._aliases.get(low, ())
        return claims if len(claims) > 1 else ()

    def nearest(self, name: str) -> list[str]:
        """The nearest names that a list may hold."""
        return near(name, self._listable())

    def _listable(self) -> list[str]:
        return [*self._canonical, *self._aliases, *self.names.reserved, *self.names.covers, *self._groups()]

    def _groups(self) -> list[str]:
        domains = {t.domain for t in self.tools} | {r.domain for r in self.names.reserved.values()}
        return [f"group:{name}" for name in (*self.names.groups, *sorted(domains), "mcp", "plugin")]


def _from(tool: Tool) -> str:
    """Where a tool comes from, in words."""
    return f"the {tool.source} one" + (f" of {tool.origin}" if tool.origin else f" in {tool.domain}")


def near(name: str, choices: Iterable[str], most: int = 3) -> list[str]:
    """The choices that look most like a name."""
    if len(name) > LONGEST:
        return []
    among = {choice.lower(): choice for choice in choices}
    return [among[low] for low in heavy("difflib").get_close_matches(name.lower(), among, n=most, cutoff=0.6)]
