"""What grants give and take, in the resolver's words. Filters go by the names that servers give, deny first."""

from collections.abc import Iterable, Mapping, Sequence

from toolcrib.core.policy import Lent
from toolcrib.services.mcp.servers import McpGrant, Pin, Scope

Lents = Mapping[str, tuple[Lent, ...]]


def lent(
    grants: Sequence[McpGrant], pins: Sequence[Pin], agents: Iterable[str], *, required: bool = False
) -> tuple[Lents, Lents]:
    """What agents are lent, and what users are narrowed to.

    A toolbox that names a server's tools is a grant too, unless `required`: then only what is granted here counts.
    """
    by_server: dict[str, list[Pin]] = {}
    for pin in pins:
        by_server.setdefault(pin.server.lower(), []).append(pin)
    held: dict[str, list[Lent]] = {}
    narrowed: dict[str, list[Lent]] = {}
    for grant in grants:
        into = held if grant.scope is Scope.AGENT else narrowed
        into.setdefault(grant.holder, []).extend(_of(grant, by_server.get(grant.server.lower(), ())))
    if required:
        having = {(one.holder, one.server.lower()) for one in grants if one.scope is Scope.AGENT and one.enabled}
        for agent in agents:
            own = [tools for server, tools in by_server.items() if (agent, server) not in having]
            held.setdefault(agent, []).extend(_ungranted(agent, tools) for tools in own)
    return {name: tuple(one) for name, one in held.items()}, {name: tuple(one) for name, one in narrowed.items()}


def _of(grant: McpGrant, tools: Sequence[Pin]) -> Iterable[Lent]:
    """What one grant gives, and what it takes."""
    inside = tuple(pin.name for pin in tools if grant.passes(pin.tool))
    outside = tuple(pin.name for pin in tools if not grant.passes(pin.tool))
    who = f"{grant.scope.value} {grant.holder}"
    does = "leaves it out" if grant.enabled else "is switched off"
    if inside and grant.scope is Scope.AGENT:
        yield Lent(f"a grant of server {grant.server}", inside, gives=True)
    if outside:
        why = f"the grant of server {grant.server} to {who} {does}"
        yield Lent(why, outside, mend=f"Change the grant: toolcrib mcp grant {grant.server} --{who}.")


def _ungranted(agent: str, tools: Sequence[Pin]) -> Lent:
    server = tools[0].server
    mend = f"Grant it: toolcrib mcp grant {server} --agent {agent}."
    return Lent(f"nobody granted server {server} to {agent}", tuple(pin.name for pin in tools), mend=mend)
