"""What an entry of a list means by name: the tools there are, and those that are known and not built yet."""

from collections.abc import Iterable

from toolcrib.core.heavy import heavy
from toolcrib.core.registry import Registry


def meant(registry: Registry, entry: str) -> frozenset[str]:
    """The canonical names that an entry stands for. An entry that means nothing stands for none."""
    low = entry.strip().lower()
    built = set(registry.names_of(registry.mask([entry])))
    return frozenset(built | _reserved(registry, low, ()))


def all_meant(registry: Registry, entries: Iterable[str]) -> frozenset[str]:
    """The names that a whole list stands for."""
    return frozenset[str]().union(*(meant(registry, entry) for entry in entries))


def _reserved(registry: Registry, low: str, seen: tuple[str, ...]) -> set[str]:
    """The same among the tools of the catalogue that this version does not have."""
    names = registry.names
    if one := registry.reserved(low):
        return {one.name}
    if low in {"*", "*native", "*everything"}:
        return set(names.reserved)
    parts = names.covers.get(low) or (names.groups.get(low[6:]) if low.startswith("group:") else None)
    if parts is not None and low not in seen:
        return set[str]().union(*(_reserved(registry, part.lower(), (*seen, low)) for part in parts))
    if low.startswith("group:"):
        return {name for name, one in names.reserved.items() if one.domain == low[6:]}
    return set(heavy("fnmatch").filter(names.reserved, low))
