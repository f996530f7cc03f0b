"""What is known of MCP servers, in memory."""

import time
from collections.abc import Callable

from msgspec.structs import replace

from toolcrib.services.mcp.book import Repin, changed_meanwhile, decided, granted_on, missing, taken
from toolcrib.services.mcp.servers import Entry, McpGrant, McpRequest, Pin, Reviewed, Scope


class MemoryMcp:
    """A dict for each kind."""

    def __init__(self, touch: Callable[[], None]) -> None:
        """`touch` grows the version of the store."""
        self._touch = touch
        self._entries: dict[str, Entry] = {}
        self._pins: dict[str, dict[str, Pin]] = {}
        self._grants: dict[tuple[str, Scope, str], McpGrant] = {}
        self._requests: dict[str, McpRequest] = {}

    async def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries[name] for name in sorted(self._entries))

    async def put(self, entry: Entry, *, revision: int) -> Entry:
        old = self._entries.get(entry.name.lower())
        if old is None and revision:
            raise missing("MCP server", entry.name)
        if old is not None and not revision:
            raise taken(entry.name)
        if old is not None and old.revision != revision:
            raise changed_meanwhile(entry.name)
        made = self._entries[entry.name.lower()] = replace(entry, revision=revision + 1, changed=time.time())
        self._touch()
        return made

    async def remove(self, name: str) -> Entry:
        low = name.lower()
        if low not in self._entries:
            raise missing("MCP server", name)
        self._pins.pop(low, None)
        self._grants = {key: one for key, one in self._grants.items() if key[0] != low}
        self._requests = {key: one for key, one in self._requests.items() if one.server.lower() != low}
        self._touch()
        return self._entries.pop(low)

    async def pins(self, server: str = "") -> tuple[Pin, ...]:
        servers = [server.lower()] if server else sorted(self._pins)
        return tuple(one for name in servers for _, one in sorted(self._pins.get(name, {}).items()))

    async def repin(self, server: str, work: Repin) -> tuple[Pin, ...]:
        made = work(await self.pins(server))
        if made is not None:
            self._pins[server.lower()] = {pin.tool: pin for pin in made}
            self._touch()
        return await self.pins(server)

    async def grants(self) -> tuple[McpGrant, ...]:
        return tuple(one for _, one in sorted(self._grants.items()))

    async def grant(self, grant: McpGrant) -> None:
        self._grants[grant.server.lower(), grant.scope, grant.holder] = grant
        self._touch()

    async def revoke(self, server: str, scope: Scope, holder: str) -> McpGrant:
        found = self._grants.pop((server.lower(), scope, holder), None)
        if found is None:
            raise missing("grant", f"{server} for the {scope.value} {holder}")
        self._touch()
        return found

    async def request(self, request: McpRequest) -> None:
        self._requests[request.id] = request

    async def requests(self, state: Reviewed | None = None) -> tuple[McpRequest, ...]:
        found = sorted(self._requests.values(), key=lambda one: (one.asked, one.id), reverse=True)
        return tuple(one for one in found if state in (None, one.state))

    async def decide(self, request: str, *, approve: bool, by: str, now: float) -> McpRequest:
        done = decided(self._requests.get(request), request, approve=approve, by=by, now=now)
        self._requests[request] = done
        if approve:
            await self.grant(granted_on(done))
        return done
