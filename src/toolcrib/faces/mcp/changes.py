"""What clients are told by themselves: lists that changed, resources that changed, log messages of servers."""

from collections.abc import Callable

from toolcrib.core.call import JsonObject
from toolcrib.faces.mcp.exchange import LOG
from toolcrib.faces.mcp.peers import Out, Peer
from toolcrib.faces.mcp.upstream import prefixed
from toolcrib.faces.mcp.wire import SUBSCRIPTION_KEY, Id, as_object, notification

LISTS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
TOOLS = "notifications/tools/list_changed"
UPDATED = "notifications/resources/updated"
Servers = Callable[[Peer], tuple[str, ...]]
Seen = Callable[[Peer], object]  # what a client sees of its tools: another object where that has changed


class Watcher:
    """One client that hears of changes: a session, or a stream of subscriptions."""

    def __init__(self, peer: Peer, out: Out, *, wants: frozenset[str] | None = None, number: Id | None = None) -> None:
        self.peer = peer
        self._out = out
        self._wants = wants  # of the lists; None: all of them
        self._number = number
        self.uris: set[str] = set()
        self.seen: object = None

    def tell(self, method: str, params: JsonObject) -> None:
        """Send a notification, if it is one that was asked for."""
        kind = LISTS.get(method)
        if kind is not None and self._wants is not None and kind not in self._wants:
            return
        if self._number is not None:
            params = {**params, "_meta": {**as_object(params.get("_meta")), SUBSCRIPTION_KEY: self._number}}
        self._out(notification(method, params))

    def log(self, params: JsonObject) -> None:
        """Send a log message. A stateless client gets those with the answers that they belong to, and no others."""
        if self._number is None and self.peer.wants_log(params, {}):
            self._out(notification(LOG, params))


class Changes:
    """Everybody who hears of changes."""

    def __init__(self, servers: Servers, seen: Seen) -> None:
        self._servers = servers
        self._seen = seen
        self._watchers: set[Watcher] = set()

    def add(self, watcher: Watcher) -> None:
        """Tell this one from now on."""
        watcher.seen = self._seen(watcher.peer)
        self._watchers.add(watcher)

    def leave(self, watcher: Watcher) -> None:
        """Tell it no more."""
        self._watchers.discard(watcher)

    def granted(self) -> None:
        """Grants, agents or tools have changed: whoever sees other tools now is told."""
        for watcher in tuple(self._watchers):
            now = self._seen(watcher.peer)
            if now != watcher.seen:
                watcher.seen = now
                watcher.tell(TOOLS, {})

    def heard(self, server: str, method: str, params: JsonObject) -> None:
        """A server told something by itself."""
        for watcher in tuple(self._watchers):
            if server not in self._servers(watcher.peer):
                continue
            if method in LISTS:
                watcher.tell(method, params)
            elif method == LOG:
                watcher.log(params)
            elif method == UPDATED:
                self._updated(watcher, server, params)

    @staticmethod
    def _updated(watcher: Watcher, server: str, params: JsonObject) -> None:
        uri = str(params.get("uri", ""))
        for known in (uri, prefixed(server, uri)):
            if known in watcher.uris:
                watcher.tell(UPDATED, {**params, "uri": known})

    def watched(self, uri: str) -> bool:
        """Whether anybody watches a resource."""
        return any(uri in watcher.uris for watcher in self._watchers)
