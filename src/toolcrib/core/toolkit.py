"""Dynamic toolkits: what an agent may load and unload while it works, and what is answered when it tries.

Every answer carries the toolkit and what is loaded; a change takes effect on the next request of the session, for
the list of tools is fixed for the length of one request.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from toolcrib.core.policy import AgentRules, Grants, KitTool, Toolkit
from toolcrib.core.registry import Registry

NEXT = "next_request"
CONTROL = ("list_toolkits", "load_tools", "unload_tools", "delegate", "self_config")


class Answer(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What load_tools and unload_tools answer."""

    status: str
    toolkit: str
    loaded_toolkits: tuple[str, ...]
    message: str
    takes_effect: str = ""
    allowed_toolkits: tuple[str, ...] = ()
    conflicting_tool: str = ""
    existing_overrides: Mapping[str, object] | None = None
    candidate_overrides: Mapping[str, object] | None = None


class State(Struct, frozen=True):
    """What is loaded, in the order of allowed_toolkits, and what had to be dropped from it."""

    loaded: tuple[str, ...]
    dropped: tuple[str, ...] = ()


def settled(grants: Grants, rules: AgentRules, kept: Sequence[str] | None) -> State:
    """The state of a session: the sticky ones, and those kept that are still valid."""
    valid = [name for name in rules.allowed_toolkits if name in grants.toolkits]
    wanted = {*rules.initial_toolkits, *(kept or ())}
    loaded = tuple(name for name in valid if name in wanted)
    return State(loaded, tuple(sorted(wanted - set(loaded))))


class Kits:
    """The rules of loading for one agent in one session."""

    def __init__(self, registry: Registry, grants: Grants, rules: AgentRules, *, in_session: bool) -> None:
        self._registry = registry
        self._grants = grants
        self._rules = rules
        self._in_session = in_session

    def load(self, name: str, loaded: tuple[str, ...], where: str = "main") -> tuple[Answer, tuple[str, ...]]:
        """The answer, and what is loaded afterwards. A failed load changes nothing."""
        refused = self._known(name, loaded) or self._misfit(name, loaded, where)
        if refused is None and name in loaded:
            refused = self._answer("already_loaded", name, loaded, f"{name} is loaded already.", takes_effect=NEXT)
        if refused is None and not self._in_session:
            refused = self._answer("error", name, loaded, "Dynamic toolkit changes require a stable session_id.")
        refused = refused or self._conflict(name, loaded)
        if refused is not None:
            return refused, loaded
        after = tuple(kit for kit in self._rules.allowed_toolkits if kit in loaded or kit == name)
        tools = ", ".join(tool.name for tool in self._grants.toolkits[name].tools)
        words = f"Loaded {name}. Its tools ({tools}) are there on the next request, not in this one."
        return self._answer("loaded", name, after, words, takes_effect=NEXT), after

    def unload(self, name: str, loaded: tuple[str, ...]) -> tuple[Answer, tuple[str, ...]]:
        """The answer, and what is loaded afterwards."""
        refused = self._known(name, loaded)
        if refused is None and name in self._rules.initial_toolkits:
            refused = self._answer("sticky", name, loaded, f"{name} is always loaded for this agent; it stays.")
        if refused is None and name not in loaded:
            refused = self._answer("not_loaded", name, loaded, f"{name} is not loaded.", takes_effect=NEXT)
        if refused is None and not self._in_session:
            refused = self._answer("error", name, loaded, "Dynamic toolkit changes require a stable session_id.")
        if refused is not None:
            return refused, loaded
        after = tuple(kit for kit in loaded if kit != name)
        words = f"Unloaded {name}. Its tools are gone from the next request on."
        return self._answer("unloaded", name, after, words, takes_effect=NEXT), after

    def catalogue(self, loaded: Sequence[str]) -> list[dict[str, object]]:
        """The allowed toolkits with what they hold and whether they are loaded."""
        kits = (self._grants.toolkits[n] for n in self._rules.allowed_toolkits if n in self._grants.toolkits)
        return [
            {
                "name": kit.name,
                "description": kit.description,
                "tool_names": [tool.name for tool in kit.tools],
                "loaded": kit.name in loaded,
                "sticky": kit.name in self._rules.initial_toolkits,
            }
            for kit in kits
        ]

    def _known(self, name: str, loaded: tuple[str, ...]) -> Answer | None:
        allowed = self._rules.allowed_toolkits
        if name not in self._grants.toolkits:
            return self._answer("unknown", name, loaded, f"There is no toolkit {name!r}.", allowed_toolkits=allowed)
        if name not in allowed:
            words = f"{name} is not among this agent's toolkits."
            return self._answer("not_allowed", name, loaded, words, allowed_toolkits=allowed)
        return None

    def _misfit(self, name: str, loaded: tuple[str, ...], where: str) -> Answer | None:
        """A toolkit fits only if each of its tools works in these hands."""
        for entry in self._grants.toolkits[name].tools:
            tool = self._registry.get(entry.name)
            if tool is not None and where not in {w.value for w in tool.traits.where}:
                hands = where.replace("_", "-")
                words = f"{name} holds {tool.name}, which a {hands} cannot have."
                return self._answer("scope_incompatible", name, loaded, words)
        return None

    def _conflict(self, name: str, loaded: tuple[str, ...]) -> Answer | None:
        found = conflict(self._registry, self._static(), [self._grants.toolkits[kit] for kit in (*loaded, name)])
        if found is None:
            return None
        tool, existing, candidate = found
        words = f"{name} was not loaded: {tool} is there already with other settings."
        more = {"conflicting_tool": tool, "existing_overrides": existing, "candidate_overrides": candidate}
        return self._answer("conflict", name, loaded, words, **more)

    def _static(self) -> list[KitTool]:
        """What the agent holds anyway. Where its own tools carry settings, those are the ones that stay."""
        used = {name.lower() for name in self._rules.toolboxes}
        boxes = (box for name, box in self._grants.toolboxes.items() if name.lower() in used)
        boxed = self._registry.mask(entry for box in boxes for entry in box.tools)
        own = self._registry.mask(tool.name for tool in self._rules.tools)
        return [*self._rules.tools, *(KitTool(name) for name in self._registry.names_of(boxed & ~own))]

    @staticmethod
    def _answer(status: str, name: str, loaded: tuple[str, ...], message: str, **more: object) -> Answer:
        return Answer(status=status, toolkit=name, loaded_toolkits=loaded, message=message, **more)  # type: ignore[arg-type]


Overrides = Mapping[str, object]


def conflict(
    registry: Registry, static: Iterable[KitTool], kits: Iterable[Toolkit]
) -> tuple[str, Overrides, Overrides] | None:
    """The first tool that two of them hold with different settings, over the whole set."""
    seen: dict[str, Overrides] = {}
    for entry in (*static, *(tool for kit in kits for tool in kit.tools)):
        tool = registry.get(entry.name)
        name = tool.name if tool else entry.name.lower()
        held = seen.setdefault(name, entry.overrides)
        if normal(held) != normal(entry.overrides):
            return name, held, entry.overrides
    return None


def normal(value: object) -> object:
    """Settings in one form: a list and the same list as comma text are equal, and None is as good as absent."""
    if isinstance(value, Mapping):
        return {str(key): normal(part) for key, part in value.items() if part is not None}  # type: ignore[misc]
    if isinstance(value, list | tuple):
        return [str(part).strip() for part in value]  # type: ignore[misc]
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return value
