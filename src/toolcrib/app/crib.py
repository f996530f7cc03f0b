"""The one place where parts meet: it builds a crib out of tools, grants, guards and a store.

    Crib ── turn(agent, session) ──► Turn: one view, fixed for the length of a request ── call, batch ──► Outcome

Only what every crib needs is imported at the top. The rest comes in when a crib is made with the native tools.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import msgspec

from toolcrib.app.agents import Entries, rules_of
from toolcrib.app.answers import Ask, approver
from toolcrib.app.network import search_keys
from toolcrib.app.secrets import scrubber
from toolcrib.app.shell import reaching
from toolcrib.app.turn import Turn
from toolcrib.app.vaulting import NEVER, Vault, open_vault
from toolcrib.app.wiring import Close, Parts, Spilled, native_services, standing_guards
from toolcrib.core.call import Caller, JsonObject, Outcome, Raw, Request
from toolcrib.core.errors import BadConfig, ToolError
from toolcrib.core.explain import Explained, explain, explain_all, refusal
from toolcrib.core.guard import Approval, Approver, Call, Guard, Ring, Verdict
from toolcrib.core.heavy import heavy
from toolcrib.core.policy import Grants
from toolcrib.core.registry import Registry
from toolcrib.core.resolver import Resolver, Seat, UnknownAgent, View, seat_of
from toolcrib.core.run import Runner
from toolcrib.core.shape import Scrub, Shaper
from toolcrib.core.tool import Body, Tool, as_tool
from toolcrib.core.toolkit import settled
from toolcrib.guards.flow import FlowGuard
from toolcrib.guards.lanes import Lanes
from toolcrib.services.config.values import Config
from toolcrib.services.drawers import Kind
from toolcrib.services.schemas import schemas

if TYPE_CHECKING:
    from toolcrib.app.mcp import Mcp
    from toolcrib.app.sources import Beside
    from toolcrib.app.undoing import UndoDesk
    from toolcrib.services.approvals.asking import Bell, Desk, Watch
    from toolcrib.services.content.results import Results
    from toolcrib.services.finding.catalogue import Catalogue
    from toolcrib.services.store import Store
    from toolcrib.services.toolkits import Toolkits
    from toolcrib.services.undo.notes import Copies, Restorer, Undone
    from toolcrib.services.vault.ports import AskSecret, MasterKey


_NONE: frozenset[str] = frozenset()


class Crib:
    """Tools behind a counter: who may use which, every call through the guards, all of it on record."""

    bell: "Bell | None" = None
    """Asks whoever sits at the other end of a call, beside the inbox."""

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
        copies: "Copies | None" = None,
        scrub: Scrub | None = None,
        workspace: str | None = None,
        vault_key: "MasterKey | None" = None,
        ask_secret: "AskSecret | None" = None,
    ) -> None:
        """A crib of your own tools, in memory unless a store is given.

        `agents` says who may call what: each a list of toolbox and tool names, or a mapping with the keys of
        `toolcrib.yaml`. The values of `secrets` never leave in any result. `approve` is asked where a rule wants a
        person, and answers True, False or None (nobody can be asked). `native` adds the tools that come with Toolcrib.
        `vault_key` opens the vault of a store; a vault in memory has its own. `ask_secret` asks a person for a secret.
        """
        self.config = config or Config()
        self.scrub: Scrub = scrub or scrubber(secrets, search_keys(self.config))
        self.store: Store = store or heavy("toolcrib.stores.inprocess").open_store(scrub=self.scrub)
        self.results: Results = results or heavy("toolcrib.stores.inprocess.results").MemoryResults()
        source = heavy("toolcrib.sources.native")
        own = [*map(as_tool, tools), *(reaching(source.native_tools(), self.config) if native else ())]
        registry = Registry(own, source.names(frozenset(tool.name for tool in own)))
        grants: Grants = source.grants(self.config)
        rules = {name: rules_of(name, entries, grants, registry) for name, entries in (agents or {}).items()}
        grants = msgspec.structs.replace(grants, agents={**grants.agents, **rules})
        self._fixed_boxes, self._fixed_agents = grants.toolboxes, grants.agents
        self._fixed_missing = grants.missing
        self._beside: Beside | None = None
        self.resolver = Resolver(registry, grants)
        self._shelf_version = -1
        self.changed: list[Callable[[], None]] = []
        """Called after toolboxes or agents were made or changed, here or elsewhere."""
        self._restorers: dict[str, Restorer] = {}
        self._closers: list[Close] = [self.store.close]
        self._flow = FlowGuard(self.config.flow, self.store.labels)
        self._vault_key, self._in_memory = vault_key, store is None
        self._vault: Vault | None = None
        uses_vault = native or vault_key is not None or any(tool.traits.expands_secrets for tool in own)
        parts = self._parts(workspace, copies)
        self.services: dict[type, object] = native_services(parts, self.vault, ask_secret) if native else {}
        self.catalogue: Catalogue | None = self._service("finding.catalogue", "Catalogue")
        self.toolkits: Toolkits | None = self._service("toolkits", "Toolkits")
        self.mcp = self._mcp() if native or self.config.servers else None
        self._runner = self._build_runner(
            standing_guards(
                parts, guards, self._service("shell", "Shell"), self._service("content.files", "Workspaces")
            ),
            approve,
            self.vault if uses_vault else None,
        )

    def _parts(self, workspace: str | None, copies: "Copies | None") -> Parts:
        return Parts(
            config=self.config,
            store=self.store,
            results=self.results,
            scrub=self.scrub,
            copies=copies,
            restorers=self._restorers,
            workspace=workspace,
            current=self._current,
            boxes=lambda: self._fixed_boxes,
            agents=lambda: self._fixed_agents,
            refresh=self.refresh,
            flow=self._flow,
            closers=self._closers,
        )

    def _service(self, noun: str, name: str) -> Any:  # noqa: ANN401 - the caller names its type
        """A service that the crib itself asks too; None in a crib without the native tools."""
        return self.services.get(getattr(heavy(f"toolcrib.services.{noun}"), name)) if self.services else None

    @property
    def vault(self) -> Vault:
        """The vault: secrets, entries, and the book below them. It is opened when it is first used."""
        if self._vault is None:
            keys = heavy("toolcrib.machine.keys")
            key = self._vault_key or (keys.ProcessKey() if self._in_memory else keys.NoKey())
            self._vault = open_vault(self.config, self.store, self.scrub, key)
        return self._vault

    def _mcp(self) -> "Mcp":
        """The MCP servers, with whose desk native tools work too."""
        made: Mcp = heavy("toolcrib.app.mcp").Mcp(self, self.config)
        self.services[heavy("toolcrib.services.mcp.desk").McpServers] = made.servers
        self._closers.append(made.close)
        return made

    def _build_runner(self, guards: Sequence[Guard], approve: Ask | None, vault: Vault | None) -> Runner:
        config = self.config
        return Runner(
            self.services,
            self.store.audit,
            Shaper(self.scrub, Spilled(self.results), config.limits.result),
            guards=guards,
            rings=(self._flow, *self._noting()),
            team_rings=(Lanes(),),
            once=heavy("toolcrib.guards.once").JournalOnce(self.store.journal),
            approver=self._asking(approve),
            strict=config.audit == "strict",
            seconds=config.limits.seconds,
            fill=heavy("toolcrib.guards.filling").Filling(vault.secrets) if vault else None,
            entrust=vault.teller.entrusted if vault else None,
            reveals=config.vault.reveal != NEVER,
        )

    def _noting(self) -> Sequence[Ring]:
        """What lets calls note what they change, where there is something that can be put back."""
        return (heavy("toolcrib.guards.undo").Noting(self.store.undo),) if self._restorers else ()

    def _asking(self, ask: Ask | None) -> Approver:
        """Who is asked: made when a guard asks for the first time."""
        made: list[Approver] = []

        async def asking(call: Call, asked: Sequence[Verdict]) -> Approval | None:
            if not made:
                gate = heavy("toolcrib.services.approvals.asking").Gate
                own = approver(ask) if ask else None
                made.append(
                    gate(
                        self.store.approvals,
                        self._watch,
                        self.config.approvals,
                        scrub=self.scrub,
                        still=self._still,
                        ask=own,
                        bell=lambda: self.bell,
                    )
                )
            return await made[0](call, asked)

        return asking

    @cached_property
    def _watch(self) -> "Watch":
        return heavy("toolcrib.services.approvals.asking").Watch(self.store.approvals)

    @cached_property
    def approvals(self) -> "Desk":
        """What waits for a person's answer, and what people agreed to beforehand."""
        desk = heavy("toolcrib.services.approvals.asking").Desk
        wrong = heavy("toolcrib.safety.shell.rules").wrong
        return desk(self.store.approvals, self._watch, self.config.approvals, self._current, wrong=wrong)

    async def _still(self, call: Call) -> ToolError | None:
        """Why a call that waited for a person is no longer granted."""
        caller, tool = call.caller, call.tool
        try:
            turn = await self._turn_of(caller)
        except UnknownAgent as error:
            return error
        i = turn.view.registry.index(tool.name)
        if i is not None and turn.view.registry.tools[i] is tool and turn.view.issued >> i & 1:
            return None
        # A grant for once was used up by this very call.
        ended = [one for one in await self.store.access.grants(agent=caller.agent) if one.tool == tool.name]
        if any(one.lifetime == "once" and one.session == caller.session and not one.ended_by for one in ended):
            return None
        return refusal(turn.resolver, turn.view, tool.name)

    def _current(self) -> Resolver:
        return self.resolver

    async def checked(self) -> None:
        """Take up what the store has, and refuse a configuration with names that mean nothing."""
        await self.refresh()
        registry = self.resolver.registry
        shelf = [box.name for box in await self.store.shelf.all()]
        names = heavy("toolcrib.services.config.names")
        base = heavy("toolcrib.sources.native").base_grants()
        problems = names.check_names(self.config, registry, base, boxes=shelf, agents=self.resolver.grants.agents)
        if self.config.shell_rules:
            problems += heavy("toolcrib.safety.shell").problems(self.config)
        if problems:
            await self.close()
            raise BadConfig(problems, self.config.source)

    async def refresh(self) -> None:
        """Take up toolboxes that were made or changed since, here or in another process."""
        version = await self.store.drawers.version()
        if version == self._shelf_version:
            return
        boxes = heavy("toolcrib.services.toolboxes").merged(self._fixed_boxes, await self.store.shelf.all())
        kept = await self.store.drawers.all(Kind.AGENT)
        own = heavy("toolcrib.services.agents").kept_agents(kept, self._fixed_agents, self.resolver.grants)
        grants = msgspec.structs.replace(
            self.resolver.grants,
            toolboxes=boxes,
            agents=self._beside.lend({**self._fixed_agents, **own}) if self._beside else {**self._fixed_agents, **own},
            revision=self.resolver.grants.revision + 1,
        )
        self.resolver = Resolver(self.resolver.registry, grants)
        self._shelf_version = version
        if self.mcp is not None:
            await self.mcp.load()
        for tell in self.changed:
            tell()

    def use(self, tools: Iterable[Tool], *, source: str = "mcp", **beside: Any) -> None:
        """Take up a source's tools anew, in a registry of the next generation. A turn in progress keeps its own.

        `beside` is what `app.sources.Beside` holds: why tools are not there, and what grants lend.
        """
        self._beside = heavy("toolcrib.app.sources").Beside(**beside)
        self.resolver = heavy("toolcrib.app.sources").taken_up(
            self.resolver, tools, source, self._beside, self._fixed_missing
        )
        for tell in self.changed:
            tell()

    def view(self, agent: str, **who: Any) -> View:
        """What an agent holds: `depth=1` asks as a sub-agent, `provider=`, `group=`, `only=` and so on."""
        caller = Caller(agent=agent, **who)
        loaded = settled(self.resolver.grants, self.resolver.rules_of(agent), None).loaded if caller.session else ()
        return self.resolver.view(self._narrowed(seat_of(caller, loaded), caller))

    issue = view

    def _narrowed(self, seat: Seat, caller: Caller) -> Seat:
        """The seat of a user of whom grants say something."""
        return msgspec.structs.replace(seat, user=caller.user) if caller.user in self.resolver.grants.users else seat

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
        if self._vault is not None:
            await self._vault.know()
        if not who.get("workspace"):
            who["workspace"] = self.resolver.rules_of(agent).workspace
        return await self._turn_of(Caller(agent=agent, **who), fresh=True)

    async def _turn_of(self, caller: Caller, *, fresh: bool = False) -> "Turn":
        if not fresh:
            await self.refresh()
        resolver, agent = self.resolver, caller.agent
        loaded: Sequence[str] = ()
        if caller.session and resolver.rules_of(agent).allowed_toolkits:
            kits = self.toolkits or heavy("toolcrib.services.toolkits").Toolkits(self._current, self.store.loaded)
            loaded = (await kits.state(agent, caller.session)).names
        await self._flow.recall(caller)
        grants = await self.store.access.grants_for(agent, caller.session, time.time())
        found = self.catalogue.found(agent, caller.session) if self.catalogue else ()
        lasting = frozenset(grant.tool for grant in grants if grant.lifetime != "once") if grants else _NONE
        once = frozenset(grant.tool for grant in grants) - lasting if grants else _NONE
        seat = seat_of(caller, loaded, sorted(lasting | once) if grants else (), found)
        if caller.user:
            seat = self._narrowed(seat, caller)
        return Turn(
            self._runner,
            resolver,
            resolver.view(seat),
            caller,
            self.store.access,
            once,
            self.config.limits.at_once,
        )

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

    def clean(self, value: Any) -> Any:  # noqa: ANN401 - any JSON-able value in, the same shape out
        """A value without the secrets in it, for what does not come of a call."""
        return self._runner.shaper.clean(value)

    async def undo(self, call: str, *, by: str = "", force: bool = False) -> "Undone":
        """Put back what a call changed, or raise a ToolError that says why it cannot be. Both are on record.

        With `force` also what was changed since is put back. The undo itself can be undone by its id.
        """
        return await self._undoing.undo(call, by=by, force=force)

    async def undoable(self, call: str) -> str:
        """Whether a call can be undone, as a sentence."""
        return await self._undoing.said(call)

    @cached_property
    def _undoing(self) -> "UndoDesk":
        return heavy("toolcrib.app.undoing").UndoDesk(self.store, self._restorers, self._current, self.refresh)

    async def close(self) -> None:
        """Write what waits to be written, and let go of everything."""
        for close in reversed(self._closers):
            await close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
