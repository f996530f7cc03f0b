"""What must be true of every tool that comes with the crib. `./toolcrib dev check` runs them all.

A check is a function in `CHECKS` that yields faults: an id, where, what is wrong, and how to mend it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct

from toolcrib.core.policy import Toolbox
from toolcrib.core.registry import Registry, UnknownName
from toolcrib.core.tool import CONTEXT, Effect, Tool
from toolcrib.services.schemas import openai

PROMPT_COST = 1_600  # characters; 150 tools at this price are some 60,000 tokens, which is why toolkits exist
DEAR: Mapping[str, str] = {}
FIRST_LINE = 90
WORDS = 4
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
READS = ("get_", "list_", "search_", "read_", "find_", "browse_", "describe_")


class Fault(Struct, frozen=True):
    """One thing that is not as it should be."""

    id: str
    where: str
    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.id} {self.where}: {self.what} {self.mend}"


Facts = tuple[Registry, Mapping[str, Toolbox], frozenset[type]]
Check = Callable[[Registry, Mapping[str, Toolbox], frozenset[type]], Iterator[Fault]]


def named(registry: Registry, _boxes: Mapping[str, Toolbox], _services: frozenset[type]) -> Iterator[Fault]:
    """N1: a name is lower case, of at most four words. N2: a name that promises to read does nothing else."""
    for tool in registry.tools:
        if not NAME.fullmatch(tool.name) or tool.name.count("_") >= WORDS:
            yield Fault("N1", tool.name, "is not lower_case in at most four words.", "Rename it.")
        if tool.name.startswith(READS) and tool.traits.effect is not Effect.READ:
            yield Fault("N2", tool.name, "says that it reads, and it changes things.", "Rename it, or make it READ.")


def described(registry: Registry, _boxes: Mapping[str, Toolbox], _services: frozenset[type]) -> Iterator[Fault]:
    """D1: the first line fits a list. D2: every free text argument has words."""
    for tool in registry.tools:
        first = tool.about.partition("\n")[0]
        if len(first) > FIRST_LINE:
            yield Fault("D1", tool.name, f"its first line has {len(first)} characters.", f"At most {FIRST_LINE}.")
        for name, part in tool.schema.get("properties", {}).items():
            if part.get("type") == "string" and "enum" not in part and not part.get("description"):
                yield Fault("D2", f"{tool.name}.{name}", "is free text without words.", "Annotate it with a sentence.")


def cheap(registry: Registry, _boxes: Mapping[str, Toolbox], _services: frozenset[type]) -> Iterator[Fault]:
    """C1: a tool does not cost the prompt more than it is worth."""
    for tool in registry.tools:
        cost = len(msgspec.json.encode(openai(tool)))
        if cost > PROMPT_COST and tool.name not in DEAR:
            yield Fault("C1", tool.name, f"costs {cost} characters of prompt.", f"At most {PROMPT_COST}: say less.")
        if cost <= PROMPT_COST and tool.name in DEAR:
            yield Fault("C1", tool.name, "is listed as dear and is not any more.", "Take it off the list.")


def safe(registry: Registry, _boxes: Mapping[str, Toolbox], _services: frozenset[type]) -> Iterator[Fault]:
    """S1: what destroys does not run beside others."""
    for tool in registry.tools:
        if tool.traits.effect is Effect.DESTROY and tool.traits.parallel:
            yield Fault("S1", tool.name, "destroys, and may run beside others.", "Take `parallel` away.")


def served(registry: Registry, _boxes: Mapping[str, Toolbox], services: frozenset[type]) -> Iterator[Fault]:
    """W1: whatever a tool needs is offered by someone."""
    for tool in registry.tools:
        for need in _needs(tool):
            if need not in services and need not in CONTEXT:
                yield Fault(
                    "W1", tool.name, f"needs {need.__name__}, which no one offers.", "Wire it in app/wiring.py."
                )


def known(registry: Registry, boxes: Mapping[str, Toolbox], _services: frozenset[type]) -> Iterator[Fault]:
    """B1: every name in a toolbox, group or cover is a tool, built or in the catalogue. B2: none is both."""
    lists = {f"toolbox.{box.name}": box.tools for box in boxes.values()}
    lists |= {f"group.{name}": entries for name, entries in registry.names.groups.items()}
    lists |= {f"covers.{name}": entries for name, entries in registry.names.covers.items()}
    for where, entries in lists.items():
        for entry in entries:
            try:
                registry.check(entry)
            except UnknownName as error:
                yield Fault("B1", where, str(error), "Correct toolboxes.toml.")
    for name in registry.names.reserved:
        if registry.index(name) is not None:
            yield Fault("B2", name, "is built, and still in the catalogue of what is not.", "Take it out there.")


def _needs(tool: Tool) -> Iterable[type]:
    return (*tool.needs, *(need for _, need in tool.needs_named))


CHECKS: tuple[Check, ...] = (named, described, cheap, safe, served, known)


def faults(registry: Registry, boxes: Mapping[str, Toolbox], services: Iterable[type]) -> list[Fault]:
    """Every fault that any check finds."""
    offered = frozenset(services)
    return [fault for check in CHECKS for fault in check(registry, boxes, offered)]
