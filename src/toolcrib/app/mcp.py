"""MCP servers in a crib: their tools in its registry, and the sessions with them while it is open."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.json import decode
from msgspec.structs import replace

from toolcrib.core.call import Caller, JsonObject
from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.services.config.values import Config
from toolcrib.services.mcp.desk import IMPORT, PERSON, McpServers, why_out
from toolcrib.services.mcp.downstream import Heard, ServerFacts
from toolcrib.services.mcp.importing import expanded
from toolcrib.services.mcp.lending import lent
from toolcrib.services.mcp.names import prefix
from toolcrib.services.mcp.pinning import reason
from toolcrib.services.mcp.servers import Entry, McpGrant, Pin, Scope, Server, State
from toolcrib.services.vault.placeholders import filtered, named_in, replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolcrib.app.vaulting import Vault
    from toolcrib.core.resolver import Resolver
    from toolcrib.core.shape import Scrub
    from toolcrib.core.tool import Tool
    from toolcrib.machine.mcp.keeping import Keeping
    from toolcrib.machine.mcp.kept import Kept
    from toolcrib.machine.mcp.signing import Person
    from toolcrib.services.commands import Commands
    from toolcrib.services.store import Store

_TEAM = "(mcp)"  # of the vault: no agent is in a team of this name, so none reads a server's tokens
_TOKENS = frozenset({"access_token", "refresh_token", "client_secret", "id_token"})
_OPEN_ORIGINS = frozenset({PERSON, IMPORT})


class Counter(Protocol):
    """What is needed of a crib."""

    resolver: "Resolver"
    store: "Store"
    scrub: "Scrub"

    @property
    def vault(self) -> "Vault": ...
    def use(self, tools: "Iterable[Tool]", *, source: str = "mcp", **beside: Any) -> None: ...
    async def refresh(self) -> None: ...


class Mcp:
    """The MCP servers of one crib. It is the `Downstreams` of the gateway and of the tools' bodies."""

    def __init__(self, crib: Counter, config: Config) -> None:
        self._crib = crib
        self._sandbox = config.sandbox
        self._commands: Commands | None = None
        self._required = config.mcp.require_grants
        self.servers = McpServers(crib.store.mcp, config.servers, self._reload, lambda: self if self._made else None)
        self._entries: dict[str, Entry] = {}
        self._out: dict[str, str] = {}  # why no tool of a server is there, for those that are out
        self._grants: dict[tuple[str, str], McpGrant] = {}
        self._made: Keeping | None = None
        self._connect = False
        self._unlisted: list[str] = []
        self._loading = heavy("asyncio").Lock()
        self._person: Person | None = None

    async def load(self) -> None:
        """Take up servers, tools and grants as they are kept now: one after the other, so that the last has the newest."""
        async with self._loading:
            await self._load()

    async def _load(self) -> None:
        entries = await self.servers.entries()
        pins = await self._crib.store.mcp.pins()
        grants = await self._crib.store.mcp.grants()
        self._entries = {entry.name.lower(): entry for entry in entries}
        self._out = {key: why for key, entry in self._entries.items() if (why := why_out(entry))}
        before = self._grants
        self._grants = {(one.server.lower(), one.holder): one for one in grants if one.scope is Scope.AGENT}
        known = [pin for pin in pins if pin.server.lower() in self._entries]
        pinned = {pin.server.lower() for pin in known}
        self._unlisted = [one.name for key, one in self._entries.items() if one.usable and key not in pinned]
        missing: dict[str, str] = {}
        tools = [self._tool(pin, missing) for pin in known]
        held, users = lent(grants, known, self._crib.resolver.grants.agents, required=self._required)
        awaited = {key: _awaited(one, known) for one in entries for key in (prefix(one.name), one.name.lower())}
        self._crib.use(tools, awaited=awaited, missing=missing, lent=held, users=users)
        if self._made is not None:
            await self._made.use(self._usable(), connect=self._connect)
            for key in before.keys() | self._grants.keys():
                if _settings(before.get(key)) != _settings(self._grants.get(key)):
                    await self._made.drop(key[0], f"agent:{key[1]}")

    async def start(self) -> None:
        """Connect to every server that may be used, and keep the sessions. Nobody waits for a connection."""
        self._connect = True
        await self._keeping.use(self._usable())

    async def get(self, server: str, identity: str = "") -> "Kept":
        """The session with a server; it connects when something is asked of it."""
        key = server.lower()
        if why := self._out.get(key):
            hint = f"`toolcrib mcp show {server}` says what runs, and what to do."
            raise ToolFailed(f"{server} cannot be used: {why}.", code="server_not_approved", hint=hint)
        entry, keeping = self._entries.get(key), self._made or self._keeping
        if entry is not None and not keeping.has(entry.name):
            await keeping.use(self._usable(), connect=self._connect)
        return await keeping.get(entry.name if entry else server, identity)

    async def session(self, server: str, caller: Caller) -> "Kept":
        """The session with a server that the calls of a caller use."""
        entry = self._entries.get(server.lower())
        if entry is None:
            return await self.get(server)

        def overridden(agent: str) -> bool:
            return self._overrides(server, agent) is not None

        identity = heavy("toolcrib.sources.mcp").identity_for(entry.server, overridden)
        return await self.get(server, identity(caller))

    def unlisted(self) -> Sequence[str]:
        """Servers that may be used and whose tools nobody has seen yet."""
        return self._unlisted

    def facts(self, server: str) -> ServerFacts | None:
        """What a server last said of itself; None when it was never connected here."""
        return self._made.facts(server) if self._made else None

    async def listed(self, server: str) -> None:
        """Connect to a server, and wait until its tools are listed and pinned."""
        kept = await self.get(server)
        await kept.ready()
        await kept.settled()

    def sign_in_with(self, person: "Person") -> None:
        """Somebody is there who signs in where a server asks for it."""
        self._person = person

    def names(self) -> Sequence[str]:
        """The servers that may be used."""
        return [entry.name for entry in self._entries.values() if entry.usable]

    def why_not(self, server: str) -> str:
        """Why a server cannot be used; "" when it can be."""
        key = server.lower()
        return self._out.get(key, "") if key in self._entries else f"there is no MCP server {server[:64]!r}"

    def listen(self, heard: Heard) -> "Callable[[], None]":
        """Hear what servers tell by themselves."""
        return self._keeping.listen(heard)

    def state(self, server: str) -> tuple[State, str]:
        """How it stands with a server in this process."""
        return self._made.state(server) if self._made else (State.IDLE, "")

    def said(self, server: str) -> Sequence[tuple[float, str]]:
        """The newest lines of a server's log, without secrets."""
        lines = self._made.log(server).lines if self._made else []
        return [(at, self._crib.scrub(line)) for at, line in lines]

    def retry(self, server: str) -> None:
        """Connect now, though it failed."""
        self._keeping.retry(server)

    async def close(self) -> None:
        """End every session."""
        if self._made is not None:
            await self._made.close()
        if self._commands is not None:
            await self._commands.close()

    async def _walled(self, server: Server, speaking: Any, log: Any) -> Any:  # noqa: ANN401 - of the machine
        """A server inside the walls that commands have too."""
        rules = self._sandbox
        if self._commands is None:
            self._commands = heavy("toolcrib.machine.sandbox.commands").LocalCommands(docker_image=rules.image)
        start = heavy("toolcrib.machine.mcp.walled").start_walled
        return await start(server, self._commands, rules, speaking.received, log, around=os.environ)

    @property
    def _keeping(self) -> "Keeping":
        machine = heavy("toolcrib.machine.mcp.keeping")
        made: Keeping = self._made or machine.Keeping(
            self._prepared, self._listed, sign=self._sign, sandbox=self._walled, env=os.environ
        )
        self._made = made
        return made

    def _usable(self) -> list[Server]:
        return [entry.server for entry in self._entries.values() if entry.usable]

    async def _reload(self) -> None:
        await self._crib.refresh()

    async def _listed(self, server: str, tools: list[JsonObject]) -> None:
        others = [tool.name for tool in self._crib.resolver.registry.tools if tool.source != "mcp"]
        seen = await self.servers.observed(server, tools, others)
        for note in seen.notes[:50]:
            self._keeping.log(server).say(f"[toolcrib] {note}")

    def _tool(self, pin: Pin, missing: dict[str, str]) -> "Tool":
        source = heavy("toolcrib.sources.mcp")
        entry = self._entries[pin.server.lower()]
        server = entry.server
        condition, why = "", reason(pin) or why_out(entry)
        if why:
            condition = f"mcp:{entry.name}:{why}"
            missing[condition] = why

        def overridden(agent: str) -> bool:
            return self._overrides(server.name, agent) is not None

        identity = source.identity_for(server, overridden)
        return source.mcp_tool(server, pin, self, identity, condition=condition)

    def _overrides(self, server: str, agent: str) -> Mapping[str, Any] | None:
        grant = self._grants.get((server.lower(), agent))
        return grant.config_overrides if grant is not None and grant.config_overrides else None

    async def _prepared(self, server: Server, identity: str) -> Server:
        """A server just before it is connected: with what a grant changes, variables and secrets filled in."""
        entry = self._entries.get(server.name.lower())
        agent = identity.removeprefix("agent:").partition(" ")[0] if identity.startswith("agent:") else ""
        changes = (self._overrides(server.name, agent) if agent else None) or {}
        env = {**server.env, **changes.get("env", {})}
        headers = {**server.headers, **changes.get("headers", {})}
        opened = entry is not None and entry.origin in _OPEN_ORIGINS

        async def fill(text: str) -> str:
            text = expanded(text, os.environ) if opened else text
            values = {one.name: await self._secret(one.name, server) for one in named_in(text)}
            return replaced(text, lambda one: filtered(one, values[one.name])) if values else text

        return replace(
            server,
            args=tuple([await fill(one) for one in server.args]),
            env={key: await fill(value) for key, value in env.items()},
            headers={key: await fill(value) for key, value in headers.items()},
            url=await fill(server.url),
            oauth={key: await fill(value) for key, value in server.oauth.items()},
        )

    async def _secret(self, name: str, server: Server) -> str:
        found = await self._crib.vault.secrets.find(name)
        if found is None or not found.value:
            hint = f"Keep it with: toolcrib vault set {name}"
            raise ToolFailed(f"{server.name} needs the secret {name!r}, which is not there.", code="not_set", hint=hint)
        if found.allowed_tools and f"mcp:{server.name}" not in found.allowed_tools:
            raise ToolFailed(f"The secret {name!r} is not for the server {server.name}.", code="denied")
        return found.value

    def _sign(self, server: Server, identity: str, network: Any) -> Any:  # noqa: ANN401 - of the machine
        if server.auth != "oauth":
            return None
        return heavy("toolcrib.machine.mcp.signing").OAuth(
            server, network, self.wallet(server.name, identity), self._person or Nobody(server.name)
        )

    def wallet(self, server: str, identity: str = "") -> "VaultWallet":
        """Where the tokens of a server are kept."""
        return VaultWallet(self._crib, f"{server}/{identity}")


class VaultWallet:
    """Tokens in the vault, where no agent reads them."""

    def __init__(self, crib: Counter, key: str) -> None:
        self._crib = crib
        self._key = key

    async def get(self, what: str) -> str:
        """The text; "" for none."""
        found = await self._crib.vault.secrets.find(f"{self._key}/{what}", team=_TEAM)
        return (found.value or "") if found is not None else ""

    async def put(self, what: str, text: str) -> None:
        """Keep a text. Each token in it is kept by itself too, so that no result shows it."""
        secrets, key = self._crib.vault.secrets, f"{self._key}/{what}"
        if what == "until":  # a time is no secret
            await secrets.put_value(key, text, team=_TEAM)
            return
        wanted = heavy("toolcrib.services.vault.secrets").Wanted
        await secrets.set(key, wanted(value=text), team=_TEAM)
        found: dict[str, Any] = decode(text)
        for name in _TOKENS & found.keys():
            await secrets.set(f"{key}/{name}", wanted(value=str(found[name])), team=_TEAM)


class Nobody:
    """There is no person here who could sign in."""

    back = "http://127.0.0.1:8731/callback"

    def __init__(self, server: str) -> None:
        self._server = server

    async def open(self, url: str) -> None:  # noqa: ARG002 - nobody opens it
        """Refused: a person has to."""
        hint = f"Sign in with: toolcrib mcp login {self._server}"
        raise ToolFailed(f"{self._server} wants somebody to sign in.", code="not_signed_in", hint=hint)

    async def came_back(self) -> Mapping[str, str]:
        """Nobody did."""
        return {}


def _settings(grant: McpGrant | None) -> JsonObject:
    return grant.config_overrides if grant is not None else {}


def _awaited(entry: Entry, pins: Sequence[Pin]) -> str:
    """Why a tool of a server, of which nothing is known, is not there."""
    if why := why_out(entry):
        return why
    if not any(pin.server.lower() == entry.name.lower() for pin in pins):
        return f"server {entry.name} was not connected yet, so its tools are not known"
    return f"server {entry.name} has no such tool"
