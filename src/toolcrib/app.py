"""The one place where parts meet: it builds a crib out of tools, grants, guards and a store.

    Crib ── turn(agent, session) ──► Turn: one view, fixed for the length of a request ── call, batch ──► Outcome

Only what every crib needs is imported at the top. The rest comes in when a crib is made with the native tools.
"""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from toolcrib.core.batch import Stop, run_batch
from toolcrib.core.call import Caller, JsonObject, Outcome, Raw, Request
from toolcrib.core.errors import BadConfig, NotIssued
from toolcrib.core.explain import Explained, explain, explain_all
from toolcrib.core.guard import Approval, Approver, Call, Guard, Verdict
from toolcrib.core.heavy import heavy
from toolcrib.core.policy import AgentRules, Grants, KitTool
from toolcrib.core.registry import Registry
from toolcrib.core.render import schemas
from toolcrib.core.resolver import Resolver, UnknownAgent, View, seat_of
from toolcrib.core.run import Runner
from toolcrib.core.shape import Scrub, Shaper
from toolcrib.core.tool import Body, Tool, as_tool
from toolcrib.core.toolkit import settled
from toolcrib.guards.confirm import Confirm
from toolcrib.guards.flow import FlowGuard
from toolcrib.guards.lanes import Lanes
from toolcrib.guards.placeholders import Placeholders
from toolcrib.guards.rate import Rate
from toolcrib.services.config.values import CallRule, Config

if TYPE_CHECKING:
    from toolcrib.services.catalogue import Catalogue
    from toolcrib.services.results import Results
    from toolcrib.services.store import Store
    from toolcrib.services.toolkits import Toolkits

Answer = bool | Approval | None
Ask = Callable[[Call, Sequence[Verdict]], "Answer | Awaitable[Answer]"]
Entries = Sequence[str] | Mapping[str, Any] | AgentRules


class Crib:
    """Tools behind a counter: who may use which, every call through the guards, all of it on record."""

    def __init__(
        self,
        tools: Iterable[Tool | Body] = (),
        agents: Mapping[str, Entries] | None = None,
        *,
        config: Config | None = None,
        native: bool = False,
        secrets: Mapping[str, str] | Iterable[str] = (),
        approve: Ask | None = None,
        guards: Sequence[Guard] = (),
        store: "Store | None" = None,
        results: "Results | None" = None,
        scrub: Scrub | None = None,
        workspace: str | None = None,
    ) -> None:
        """A crib of your own tools, in memory unless a store is given.

        `agents` says who may call what: each a list of toolbox and tool names, or a mapping with the keys of
        `toolcrib.yaml`. The values of `secrets` never leave in any result. `approve` is asked where a rule wants a
        person, and answers True, False or None (nobody can be asked). `native` adds the tools that come with Toolcrib.
        """
        self.config = config or Config()
        self.scrub: Scrub = scrub or _scrubber(secrets)
        self.store: Store = store or heavy("toolcrib.stores.inprocess").open_store(scrub=self.scrub)
        self.results: Results = results or heavy("toolcrib.stores.inprocess.results").MemoryResults()
        source = heavy("toolcrib.sources.native")
        own = [*map(as_tool, tools), *(source.native_tools() if native else ())]
        registry = Registry(own, source.names(frozenset(tool.name for tool in own)))
        grants: Grants = source.grants(self.config)
        rules = {name: _rules(name, entries, grants, registry) for name, entries in (agents or {}).items()}
        grants = msgspec.structs.replace(grants, agents={**grants.agents, **rules})
        self._fixed_boxes = grants.toolboxes
        self.resolver = Resolver(registry, grants)
        self._shelf_version = 0
        self.catalogue: Catalogue | None = None
        self.toolkits: Toolkits | None = None
        self.services: dict[type, object] = self._services(workspace) if native else {}
        self.lanes = Lanes()
        self._runner = self._build_runner(guards, approve)

    def _build_runner(self, guards: Sequence[Guard], approve: Ask | None) -> Runner:
        config = self.config
        rates = {name: rules.rate for name, rules in config.agents.items() if rules.rate is not None}
        standing: list[Guard] = [
            Rate(config.limits.rate, agents=rates, tools=config.limits.tools),
            Placeholders(),
            *((heavy("toolcrib.guards.rules").Rules(config.rules, self._means),) if config.rules else ()),
            Confirm(config.confirm),
            FlowGuard(config.flow.mode, agents=config.flow.agents, exempt=config.flow.tools),
            *guards,
        ]
        return Runner(
            self.services,
            self.store.audit,
            Shaper(self.scrub, _Spilled(self.results), config.limits.result),
            guards=standing,
            team_rings=(self.lanes,),
            once=heavy("toolcrib.guards.once").JournalOnce(self.store.journal),
            approver=_asker(approve) if approve else None,
            strict=config.audit == "strict",
            seconds=config.limits.seconds,
        )

    def _means(self, rule: CallRule, tool: Tool) -> bool:
        registry = self.resolver.registry
        return bool(registry.mask((rule.tool,)) & registry.bits((tool,)))

    def _services(self, workspace: str | None) -> dict[type, object]:
        """What the native tools work on."""
        parts, ports = heavy("toolcrib.machine.files.workspace"), heavy("toolcrib.services.files")
        kinds = {name: rules.context_files for name, rules in self.config.agents.items() if rules.context_files}
        deny = {"*": self.config.deny_paths, **{name: rules.deny_paths for name, rules in self.config.agents.items()}}
        store, catalogue = self.store, heavy("toolcrib.services.catalogue")
        boxes, kits = heavy("toolcrib.services.toolboxes"), heavy("toolcrib.services.toolkits")
        self.catalogue = catalogue.Catalogue(self._current)
        self.toolkits = kits.Toolkits(self._current, store.loaded)
        return {
            ports.Workspaces: parts.LocalWorkspaces(workspace or self.config.workspace or None, deny),
            ports.PathRoutes: _routes(store, self.results, kinds),
            catalogue.Catalogue: self.catalogue,
            boxes.Toolboxes: boxes.Toolboxes(self._current, lambda: self._fixed_boxes, store.shelf, self.refresh),
            kits.Toolkits: self.toolkits,
            heavy("toolcrib.services.access").Access: store.access,
            heavy("toolcrib.services.results").Results: self.results,
            heavy("toolcrib.services.todos").Todos: store.todos,
        }

    def _current(self) -> Resolver:
        return self.resolver

    async def checked(self) -> None:
        """Take up the toolboxes of the store, and refuse a configuration with names that mean nothing."""
        await self.refresh()
        registry = self.resolver.registry
        shelf = [box.name for box in await self.store.shelf.all()]
        names = heavy("toolcrib.services.config.names")
        base = heavy("toolcrib.sources.native").base_grants()
        if problems := names.check_names(self.config, registry, base, boxes=shelf):
            await self.close()
            raise BadConfig(problems, self.config.source)

    async def refresh(self) -> None:
        """Take up toolboxes that were made or changed since, here or in another process."""
        version = await self.store.shelf.version()
        if version == self._shelf_version:
            return
        boxes = heavy("toolcrib.services.toolboxes").merged(self._fixed_boxes, await self.store.shelf.all())
        grants = msgspec.structs.replace(
            self.resolver.grants, toolboxes=boxes, revision=self.resolver.grants.revision + 1
        )
        self.resolver = Resolver(self.resolver.registry, grants)
        self._shelf_version = version

    def view(self, agent: str, **who: Any) -> View:
        """What an agent holds: `depth=1` asks as a sub-agent, `provider=`, `group=`, `only=` and so on."""
        caller = Caller(agent=agent, **who)
        loaded = settled(self.resolver.grants, self.resolver.rules_of(agent), None).loaded if caller.session else ()
        return self.resolver.view(seat_of(caller, loaded))

    issue = view

    def explain(self, agent: str, tool: str, **who: Any) -> Explained:
        """Why an agent holds a tool, or does not."""
        return explain(self.resolver, self.view(agent, **who).seat, tool)

    def explain_all(self, agent: str, **who: Any) -> list[Explained]:
        """The same for every tool there is."""
        return list(explain_all(self.resolver, self.view(agent, **who).seat))

    def schemas(self, agent: str, format: str = "openai", **who: Any) -> list[JsonObject]:  # noqa: A002 - its name at every door
        """What to send to a model, in the format of openai, anthropic, gemini or mcp: the tools that it is shown."""
        return schemas(self.view(agent, **who).shown, format)

    async def turn(self, agent: str, **who: Any) -> "Turn":
        """Begin a request of an agent. What it holds is fixed until the request ends."""
        await self.refresh()
        resolver = self.resolver
        if "workspace" not in who and (own := resolver.rules_of(agent).workspace):
            who["workspace"] = own
        caller = Caller(agent=agent, **who)
        loaded: Sequence[str] = ()
        if caller.session and resolver.rules_of(agent).allowed_toolkits:
            kits = self.toolkits or heavy("toolcrib.services.toolkits").Toolkits(self._current, self.store.loaded)
            loaded = (await kits.state(agent, caller.session)).names
        now = heavy("time").time()
        grants = await self.store.access.grants_for(agent, caller.session, now)
        found = self.catalogue.found(agent, caller.session) if self.catalogue else ()
        seat = seat_of(caller, loaded, sorted({grant.tool for grant in grants}), found)
        once = frozenset(grant.tool for grant in grants if grant.lifetime == "once")
        lasting = frozenset(grant.tool for grant in grants if grant.lifetime != "once")
        return Turn(self, self._runner, resolver.view(seat), caller, once - lasting)

    async def call(self, tool: str, arguments: Raw = b"{}", *, agent: str, key: str = "", **who: Any) -> Outcome:
        """Run one call as an agent. It never raises for what a tool or a guard says."""
        try:
            turn = await self.turn(agent, **who)
        except UnknownAgent as error:
            request = Request(tool, arguments, key=key)
            return self._runner.refuse(self.resolver.registry.generation, Caller(agent=agent), request, error)
        return await turn.call(tool, arguments, key=key)

    @property
    def before(self) -> list[Callable[[Call], Awaitable[None] | None]]:
        """Hooks that see each call before its tool runs; one that raises a ToolError refuses it."""
        return self._runner.before

    @property
    def after(self) -> list[Callable[[Call, Any], Any]]:
        """Hooks that see each value a tool gave, and give the value that goes on: quality gates."""
        return self._runner.after

    @property
    def listeners(self) -> list[Callable[[Any], None]]:
        """Called with each record, after the call."""
        return self._runner.listeners

    async def close(self) -> None:
        """Write what waits to be written, and let go of everything."""
        await self.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Turn:
    """One request of an agent: a fixed view, and calls that are checked against it."""

    __slots__ = ("_crib", "_once", "_runner", "caller", "resolver", "view")

    def __init__(self, crib: Crib, runner: Runner, view: View, caller: Caller, once: frozenset[str]) -> None:
        self._crib = crib
        self._runner = runner
        self._once = once
        self.resolver = crib.resolver
        self.view = view
        self.caller = caller

    def call(self, tool: str, arguments: Raw = b"{}", *, id: str = "", key: str = "") -> Awaitable[Outcome]:  # noqa: A002
        """Run one call."""
        return self._one(Request(tool, arguments, id, key))

    async def batch(self, requests: Sequence[Request], *, stop: Stop | None = None) -> list[Outcome]:
        """The calls of one model step: side by side where that is safe, answered in order."""
        at_once = self._crib.config.limits.at_once
        return await run_batch(self.view, self.caller, requests, self._one, at_once=at_once, stop=stop, skip=self._skip)

    def _skip(self, request: Request) -> Outcome:
        """A call that a stop kept from running: answered, and on record."""
        return self._runner.skip(self.view, self.caller, request)

    def schemas(self, format: str = "openai") -> list[JsonObject]:  # noqa: A002 - its name at every door
        """What to send to a model in this request."""
        return schemas(self.view.shown, format)

    def _one(self, request: Request) -> Awaitable[Outcome]:
        if self._once:
            return self._granted_once(request)
        return self._runner.call(self.resolver, self.view, self.caller, request)

    async def _granted_once(self, request: Request) -> Outcome:
        """A grant for once is used up by the call that it lets through."""
        tool = self.resolver.registry.get(request.tool)
        if tool is None or tool.name not in self._once:
            return await self._runner.call(self.resolver, self.view, self.caller, request)
        if not await self._crib.store.access.consume(self.caller.agent, self.caller.session, tool.name):
            error = NotIssued(f"{tool.name} was granted once, and was used.", hint="Ask again if you need it again.")
            return self._runner.refuse(self.view.registry.generation, self.caller, request, error)
        return await self._runner.call(self.resolver, self.view, self.caller, request)


class _Spilled:
    """Long results go to the store under the id of their call."""

    def __init__(self, results: "Results") -> None:
        self._results = results

    async def keep(self, call: Call, text: str) -> str:
        await self._results.keep(call.id, call.caller, text)
        return call.id


def _routes(store: "Store", results: "Results", kinds: Mapping[str, str]) -> object:
    documents = heavy("toolcrib.services.routing").DocumentRoutes(store.documents, kinds)
    return heavy("toolcrib.services.kept").KeptRoutes(results, documents)


def _scrubber(secrets: Mapping[str, str] | Iterable[str]) -> Scrub:
    return heavy("toolcrib.safety.scrub").Scrubber(_named(secrets))


def _named(secrets: Mapping[str, str] | Iterable[str]) -> list[tuple[str, str]]:
    if isinstance(secrets, Mapping):
        return list(cast("Mapping[str, str]", secrets).items())
    return [("secret", value) for value in secrets]


def _asker(ask: Ask) -> Approver:
    async def asker(call: Call, asked: Sequence[Verdict]) -> Approval | None:
        answer = ask(call, asked)
        answer = await answer if isinstance(answer, Awaitable) else answer
        return Approval(answer) if isinstance(answer, bool) else answer

    return asker


def _rules(name: str, entries: Entries, grants: Grants, registry: Registry) -> AgentRules:
    """An agent as a program writes it. A name that means nothing is refused, as in a file."""
    if isinstance(entries, AgentRules):
        return msgspec.structs.replace(entries, name=name)
    if isinstance(entries, Mapping):
        text = msgspec.json.encode({"agents": {name: entries}}).decode()  # JSON is YAML
        config = heavy("toolcrib.services.config.reading").read_config(text, source="agents", env={})
    else:
        known = {box.lower() for box in grants.toolboxes}
        named = [entry for entry in entries if entry.lower() in known]
        own = tuple(KitTool(entry) for entry in entries if entry.lower() not in known)
        config = Config(agents={name: AgentRules(name=name, toolboxes=tuple(named), tools=own)}, source="agents")
    problems = heavy("toolcrib.services.config.names").check_names(config, registry, grants)
    if problems:
        raise BadConfig(problems, "agents")
    return config.agents[name]


async def open_crib(
    *,
    home: str | None = None,
    config: str | None = None,
    store: str | None = None,
    workspace: str | None = None,
    native: bool = True,
    needs_store: bool = True,
    approve: Ask | None = None,
    env: Mapping[str, str] = os.environ,
) -> Crib:
    """The crib of a home folder: its toolcrib.yaml, its store, the native tools.

    Raises BadConfig, with lines, and StoreError. Without `needs_store` nothing is written anywhere.
    """
    place = heavy("toolcrib.machine.home")
    settings, read = place.find(env, {"home": home, "config": config, "store": store, "workspace": workspace})
    scrub = _scrubber({name: env[name] for name in read.scrub_env if name in env})
    kept, results = None, None
    if needs_store:
        place.make(settings.home)
        strict = settings.audit == "strict"
        opened = heavy("toolcrib.stores.sql").open_store
        kept = await heavy("asyncio").to_thread(opened, settings.store, scrub=scrub, strict=strict)
        results = heavy("toolcrib.machine.results").FileResults(place.results(settings.home))
    crib = Crib(
        config=msgspec.structs.replace(read, audit=settings.audit),
        native=native,
        scrub=scrub,
        store=kept,
        results=results,
        approve=approve,
        workspace=settings.workspace or None,
    )
    await crib.checked()
    return crib
