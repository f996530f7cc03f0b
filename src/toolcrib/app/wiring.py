"""What stands behind the counter: the services that native tools work on, and the guards that every call passes.

One line a service, one line a guard; whatever must be let go of at the end puts its `close` among the closers.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from posixpath import normpath
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from toolcrib.app.network import way_out
from toolcrib.app.shell import shell_of
from toolcrib.app.vaulting import ASK
from toolcrib.core.call import Caller
from toolcrib.core.guard import Call, Guard
from toolcrib.core.heavy import heavy
from toolcrib.core.policy import AgentRules
from toolcrib.core.resolver import Resolver
from toolcrib.core.shape import Scrub
from toolcrib.core.tool import Tool
from toolcrib.guards.confirm import Confirm
from toolcrib.guards.flow import FlowGuard
from toolcrib.guards.placeholders import Placeholders
from toolcrib.guards.rate import Rate
from toolcrib.services.config.values import CallRule, Config

if TYPE_CHECKING:
    from toolcrib.app.vaulting import Vault
    from toolcrib.core.policy import Toolbox
    from toolcrib.services.content.documents import Documents
    from toolcrib.services.content.files import Workspaces
    from toolcrib.services.content.results import Results
    from toolcrib.services.shell import Shell
    from toolcrib.services.store import Store
    from toolcrib.services.undo.notes import Copies, Restorer
    from toolcrib.services.vault.ports import AskSecret

T = TypeVar("T")
Close = Callable[[], Awaitable[None]]


class Parts(Struct, frozen=True, kw_only=True):
    """What the services of a crib are made of."""

    config: Config
    store: "Store"
    results: "Results"
    scrub: Scrub
    copies: "Copies | None"
    restorers: "dict[str, Restorer]"
    workspace: str | None
    current: Callable[[], Resolver]
    boxes: Callable[[], "Mapping[str, Toolbox]"]
    agents: Callable[[], Mapping[str, AgentRules]]
    refresh: Callable[[], Awaitable[None]]
    flow: FlowGuard
    closers: list[Close]


def native_services(parts: Parts, vault: "Vault", ask_secret: "AskSecret | None") -> dict[type, object]:
    """What the native tools work on."""
    config, store, results = parts.config, parts.store, parts.results
    machine, files = heavy("toolcrib.machine.files.workspace"), heavy("toolcrib.services.content.files")
    deny = _PerAgent(parts.current, lambda rules: rules.deny_paths, {"*": config.deny_paths})
    catalogue, marks = heavy("toolcrib.services.finding.catalogue"), heavy("toolcrib.services.content.marks")
    agents, boxes, kits = (heavy(f"toolcrib.services.{noun}") for noun in ("agents", "toolboxes", "toolkits"))
    http, search = way_out(config, parts.current().registry)
    parts.closers.append(http.close)
    asking = heavy("toolcrib.services.vault.asking")
    noted, noting = heavy("toolcrib.services.undo.noted"), heavy("toolcrib.machine.files.noting")
    copies = parts.copies or heavy("toolcrib.stores.inprocess.undo").MemoryCopies()
    notes = noting.Noting(copies)
    workspaces = machine.LocalWorkspaces(parts.workspace or config.workspace or None, deny, noting=notes)
    shell = shell_of(config, workspaces, vault.secrets, parts.scrub)
    parts.closers.append(shell.close)
    todos, loaded = noted.NotedTodos(store.todos), noted.NotedKits(store.loaded)
    documents, drawers = noted.NotedDocuments(store.documents), noted.NotedDrawers(store.drawers)
    parts.restorers.update(noted.restorers(todos, loaded, documents, drawers))
    parts.restorers["file"] = noting.FileRestorer(copies, workspaces.of, notes)
    persons = heavy("toolcrib.services.people.persons").Persons(store.people)
    invitations = heavy("toolcrib.services.people.invitations").Invitations(store.people)
    return {
        files.Workspaces: workspaces,
        files.PathRoutes: _routes(parts, documents),
        marks.Marks: parts.scrub if hasattr(parts.scrub, "restored") else marks.NoMarks(),
        catalogue.Catalogue: catalogue.Catalogue(parts.current),
        agents.Agents: agents.Agents(parts.current, parts.agents, drawers, parts.refresh),
        boxes.Toolboxes: boxes.Toolboxes(
            parts.current, parts.boxes, heavy("toolcrib.services.shelf").Shelf(drawers), parts.refresh
        ),
        kits.Toolkits: kits.Toolkits(parts.current, loaded),
        heavy("toolcrib.services.http").Http: http,
        heavy("toolcrib.services.web").WebSearch: search,
        heavy("toolcrib.services.shell").Shell: shell,
        heavy("toolcrib.services.access").Access: store.access,
        heavy("toolcrib.services.content.results").Results: results,
        heavy("toolcrib.services.todos").Todos: todos,
        heavy("toolcrib.services.vault.secrets").Secrets: vault.secrets,
        heavy("toolcrib.services.vault.entries").Entries: vault.entries,
        heavy("toolcrib.services.people.persons").Persons: persons,
        heavy("toolcrib.services.people.invitations").Invitations: invitations,
        asking.SecretPrompt: asking.SecretPrompt(vault.secrets, ask_secret),
    }


def standing_guards(
    parts: Parts, own: Sequence[Guard], shell: "Shell | None" = None, files: "Workspaces | None" = None
) -> list[Guard]:
    """The guards in the order in which a call meets them; one's own come last."""
    config = parts.config
    rates = _PerAgent(parts.current, lambda rules: rules.rate)

    def means(rule: CallRule, tool: Tool) -> bool:
        registry = parts.current().registry
        return bool(registry.mask((rule.tool,)) & registry.bits((tool,)))

    def relative(caller: Caller, path: str) -> str:
        return files.of(caller).relative(path) if files else normpath(path)

    return [
        Rate(config.limits, sessions=rates),
        Placeholders(),
        *((heavy("toolcrib.guards.shell").ShellGuard(config.shell_rules, config.shell, shell),) if shell else ()),
        *((heavy("toolcrib.guards.rules").Rules(config.rules, means, relative),) if config.rules else ()),
        *((heavy("toolcrib.guards.reveal").Reveal(),) if config.vault.reveal == ASK else ()),
        Confirm(config.confirm),
        parts.flow,
        *own,
    ]


class Spilled:
    """Long results go to the store under the id of their call."""

    def __init__(self, results: "Results") -> None:
        self._results = results

    async def keep(self, call: Call, text: str) -> str:
        """Keep it, and say under which id."""
        await self._results.keep(call.id, call.caller, text)
        return call.id


class _PerAgent(Mapping[str, T]):
    """One key of the agents as they are now: people change them while the crib is open."""

    def __init__(
        self, current: Callable[[], Resolver], of: Callable[[AgentRules], T | None], more: Mapping[str, T] | None = None
    ) -> None:
        self._current = current
        self._of = of
        self._more = more or {}

    def __getitem__(self, name: str) -> T:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str, default: Any = None, /) -> Any:  # noqa: ANN401 - the value's type, or the default's
        """Every call asks this, and for most agents the answer is no: so it does not go by way of a KeyError."""
        rules = self._current().grants.agents.get(name)
        found = self._of(rules) if rules is not None else self._more.get(name)
        return default if found is None or found == "" else found

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in (*self._more, *self._current().grants.agents) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _routes(parts: Parts, documents: "Documents") -> object:
    kinds = _PerAgent(parts.current, lambda rules: rules.context_files)
    routes = heavy("toolcrib.services.content.routing").DocumentRoutes(documents, kinds)
    return heavy("toolcrib.services.content.kept").KeptRoutes(parts.results, routes)
