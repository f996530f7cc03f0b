"""Dynamic toolkits as one caller works with them: what is loaded is kept per agent and session."""

from collections.abc import Callable, Sequence

import msgspec

from toolcrib.core.call import Caller, JsonObject
from toolcrib.core.resolver import Resolver
from toolcrib.core.toolkit import Answer, Kits, settled
from toolcrib.services.loaded import KitState, LoadedKits

NOTES_KEPT = 5


class Toolkits:
    """Lists, loads and unloads. The running request keeps the tools it began with: its view is worked out before."""

    def __init__(self, current: Callable[[], Resolver], loaded: LoadedKits) -> None:
        self._current = current
        self._loaded = loaded

    async def state(self, agent: str, session: str) -> KitState:
        """What is loaded, for `seat_of`. Names that are no longer valid are dropped from what is kept, with a note."""
        kept = await self._loaded.get(agent, session) if session else None
        resolver = self._current()
        now = settled(resolver.grants, resolver.rules_of(agent), kept.names if kept else None)
        notes = kept.notes if kept else ()
        if kept is None or not (gone := [name for name in now.dropped if name in kept.names]):
            return KitState(now.loaded, notes)
        notes = (*notes, *map(_dropped, gone))[-NOTES_KEPT:]
        await self._loaded.put(agent, session, now.loaded, notes)
        return KitState(now.loaded, notes)

    async def list(self, caller: Caller) -> JsonObject:
        """The answer of list_toolkits."""
        now = await self.state(caller.agent, caller.session)
        told: JsonObject = {
            "status": "ok",
            "loaded_toolkits": list(now.names),
            "toolkits": self._kits(caller).catalogue(now.names),
        }
        return {**told, "notes": list(now.notes)} if now.notes else told

    async def load(self, caller: Caller, name: str) -> JsonObject:
        """The answer of load_tools. A failed load changes nothing."""
        now = await self.state(caller.agent, caller.session)
        answer, after = self._kits(caller).load(self._spelled(name), now.names, caller.where.value)
        return await self._kept(caller, now, answer, after)

    async def unload(self, caller: Caller, name: str) -> JsonObject:
        """The answer of unload_tools."""
        now = await self.state(caller.agent, caller.session)
        answer, after = self._kits(caller).unload(self._spelled(name), now.names)
        return await self._kept(caller, now, answer, after)

    async def prompt(self, caller: Caller) -> str:
        """The block of the prompt that tells an agent of its toolkits; nothing when it has none."""
        if not caller.session or not self._current().rules_of(caller.agent).allowed_toolkits:
            return ""
        now = await self.state(caller.agent, caller.session)
        return prompt_block(self._kits(caller).catalogue(now.names), now.notes)

    async def _kept(self, caller: Caller, now: KitState, answer: Answer, after: tuple[str, ...]) -> JsonObject:
        # A change that came about means that the agent has seen the notes: they stood in its prompt.
        if after != now.names:
            await self._loaded.put(caller.agent, caller.session, after)
        return msgspec.to_builtins(answer)

    def _kits(self, caller: Caller) -> Kits:
        resolver = self._current()
        rules = resolver.rules_of(caller.agent)
        return Kits(resolver.registry, resolver.grants, rules, in_session=bool(caller.session))

    def _spelled(self, name: str) -> str:
        """The name as the configuration writes it, whatever its capitals."""
        known = self._current().grants.toolkits
        return name if name in known else next((one for one in known if one.lower() == name.lower()), name)


def prompt_block(catalogue: Sequence[JsonObject], notes: Sequence[str] = ()) -> str:
    """The catalogue, with what is loaded and what always stays, in words for a model."""
    if not catalogue:
        return ""
    head = (
        "Toolkits you may load with load_tools and unload with unload_tools. A change holds from your next request on."
    )
    return "\n".join([head, *map(_line, catalogue), *(f"Note: {note}" for note in notes)])


def _line(kit: JsonObject) -> str:
    state = "always loaded" if kit["sticky"] else "loaded" if kit["loaded"] else "not loaded"
    about = f" {kit['description']}" if kit["description"] else ""
    return f"- {kit['name']} ({state}):{about} Tools: {', '.join(kit['tool_names'])}."


def _dropped(name: str) -> str:
    return f"The toolkit {name} was unloaded: the configuration no longer has it for this agent."
