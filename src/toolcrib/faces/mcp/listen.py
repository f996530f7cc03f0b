"""subscriptions/listen: what a stateless client asks to hear of."""

from typing import cast

from toolcrib.core.call import JsonObject
from toolcrib.faces.mcp.changes import LISTS
from toolcrib.faces.mcp.wire import SUBSCRIPTION_KEY, Id, notification
from toolcrib.services.mcp.downstream import INVALID_PARAMS, McpFault

MOST = 1000
_KINDS = frozenset(LISTS.values())


def wanted(params: JsonObject) -> tuple[frozenset[str], tuple[str, ...]]:
    """The lists and the resources that a client wants to hear of."""
    asked = params.get("notifications")
    if not isinstance(asked, dict):
        raise McpFault(INVALID_PARAMS, "Invalid params: notifications is missing.")
    said = cast("JsonObject", asked)
    given = said.get("resourceSubscriptions")
    uris = cast("list[object]", given) if isinstance(given, list) else []
    if (given is not None and not isinstance(given, list)) or len(uris) > MOST:
        raise McpFault(INVALID_PARAMS, f"Invalid params: resourceSubscriptions takes up to {MOST} addresses.")
    kinds = frozenset(kind for kind in _KINDS if said.get(kind) is True)
    return kinds, tuple(str(uri) for uri in uris)


def acknowledged(number: Id, kinds: frozenset[str], uris: tuple[str, ...]) -> bytes:
    """The first message of the stream: what it will carry."""
    told: JsonObject = dict.fromkeys(sorted(kinds), True)
    if uris:
        told["resourceSubscriptions"] = list(uris)
    meta = {SUBSCRIPTION_KEY: number}
    return notification("notifications/subscriptions/acknowledged", {"notifications": told, "_meta": meta})
