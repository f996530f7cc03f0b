"""Agents, what they hold, and why."""

from typing import Annotated, Any

from fastapi import Query, Request, Response
from msgspec import Struct
from pydantic import Field

from toolcrib.core.explain import Explained, explain, explain_all
from toolcrib.core.resolver import Seat
from toolcrib.faces.http.asked import Cursor, Form, IfMatch, Limit, Page, etag, house_of, me, paged, seen, service
from toolcrib.faces.http.routing import Operations, answer, nothing
from toolcrib.services.advice.holding import Holding, holding, known_box, with_agent
from toolcrib.services.advice.past import counted
from toolcrib.services.advice.simulate import Suggestion, suggest
from toolcrib.services.agents import NAME_MOST, Agents, Origin, Shown
from toolcrib.services.people.principal import Role
from toolcrib.services.schemas import FORMATS

operations = Operations("agents", "agents")
Boxes = Annotated[list[str] | None, Query(max_length=100, description="As if it had these toolboxes.")]
Session = Annotated[str, Query(max_length=200)]
Form_ = Annotated[str, Query(alias="format", pattern=f"^({'|'.join(FORMATS)})$")]


class NewAgent(Form):
    """A new agent. The definition is what would stand in toolcrib.yaml."""

    name: Annotated[str, Field(min_length=1, max_length=NAME_MOST)]
    definition: Annotated[dict[str, Any], Field(default_factory=dict)]


class Definition(Form):
    """What is written of an agent, whole."""

    definition: dict[str, Any]


class Kits(Struct, kw_only=True):
    """What is loaded in a session."""

    loaded: list[str]
    toolkits: list[dict[str, Any]]


class Held(Struct, kw_only=True):
    """What an agent holds, with what let each tool in; and what would change against now."""

    holding: Holding
    gained: list[str]


@operations.add("GET", "/agents", Role.VIEWER, Page[Shown])
async def list_agents(request: Request, limit: Limit = 200, cursor: Cursor = None) -> Response:
    """List the agents by name."""
    found = await service(house_of(request), Agents).all()
    return answer(paged(found, lambda one: one.name, limit, cursor))


@operations.add("POST", "/agents", Role.OPERATOR, Shown, status=201, headers={"ETag": "Its revision."})
async def create_agent(request: Request, body: NewAgent) -> Response:
    """Make an agent."""
    made = await service(house_of(request), Agents).create(body.name, body.definition, by=me(request).name)
    return answer(made, 201, etag(made.revision))


@operations.add("GET", "/agents/{name}", Role.VIEWER, Shown, headers={"ETag": "Its revision."})
async def get_agent(request: Request, name: str) -> Response:
    """Show one agent."""
    found = await service(house_of(request), Agents).get(name)
    return answer(found, 200, etag(found.revision))


@operations.add("PUT", "/agents/{name}", Role.OPERATOR, Shown, refuses=(412, 428), headers={"ETag": "Its revision."})
async def update_agent(request: Request, name: str, body: Definition, if_match: IfMatch = None) -> Response:
    """Replace what is written of an agent."""
    agents = service(house_of(request), Agents)
    await _kept(agents, name)
    saved = await agents.update(name, body.definition, revision=seen(if_match))
    return answer(saved, 200, etag(saved.revision))


@operations.add("DELETE", "/agents/{name}", Role.OPERATOR, status=204, refuses=(412, 428))
async def delete_agent(request: Request, name: str, if_match: IfMatch = None) -> Response:
    """Take an agent away. What is on record of it stays."""
    agents = service(house_of(request), Agents)
    await _kept(agents, name)
    await agents.delete(name, revision=seen(if_match))
    return nothing()


@operations.add("GET", "/agents/{name}/holding", Role.VIEWER, Held)
async def agent_holding(
    request: Request, name: str, toolboxes: Boxes = None, depth: Annotated[int, Query(ge=0, le=10)] = 0
) -> Response:
    """Show what an agent holds and through what; with `toolboxes`, what it would hold. Nothing is saved."""
    crib = house_of(request).crib
    await crib.refresh()
    seat = Seat(agent=crib.resolver.rules_of(name).name, depth=depth)
    after = crib.resolver
    if toolboxes is not None:
        boxes = tuple(known_box(crib.resolver, one).name for one in toolboxes)
        after = with_agent(crib.resolver, name, toolboxes=boxes)
    found = holding(after, seat, crib.resolver.view(seat))
    return answer(Held(holding=found, gained=[one.tool.name for one in found.tools if one.gained]))


@operations.add("GET", "/agents/{name}/tools", Role.VIEWER, list[dict[str, Any]])
async def agent_tools(request: Request, name: str, form: Form_ = "openai", session: Session = "") -> Response:
    """Give what to send to a model: the schemas of the tools that the agent is shown."""
    turn = await house_of(request).crib.turn(name, session=session)
    return answer(turn.schemas(form))


@operations.add("GET", "/agents/{name}/explain", Role.VIEWER, list[Explained])
async def agent_explain(
    request: Request,
    name: str,
    tool: Annotated[str | None, Query(max_length=200, description="Only this tool; without it, all.")] = None,
    depth: Annotated[int, Query(ge=0, le=10)] = 0,
) -> Response:
    """Say why an agent holds a tool, or does not."""
    crib = house_of(request).crib
    await crib.refresh()
    seat = Seat(agent=crib.resolver.rules_of(name).name, depth=depth)
    one = tool is not None
    return answer([explain(crib.resolver, seat, tool or "")] if one else list(explain_all(crib.resolver, seat)))


@operations.add("GET", "/agents/{name}/suggest", Role.VIEWER, Suggestion)
async def agent_suggest(request: Request, name: str) -> Response:
    """Give the smallest toolbox that would have served the agent's recorded calls."""
    crib = house_of(request).crib
    await crib.refresh()
    return answer(suggest(crib.resolver, name, await counted(crib.store.audit, crib.resolver.rules_of(name).name)))


@operations.add("GET", "/agents/{name}/toolkits", Role.VIEWER, Kits)
async def agent_toolkits(request: Request, name: str, session: Session = "") -> Response:
    """Show the toolkits that an agent may load, and which are loaded in a session."""
    crib = house_of(request).crib
    await crib.refresh()
    rules, kits = crib.resolver.rules_of(name), crib.resolver.grants.toolkits
    loaded = list((await crib.toolkits.state(rules.name, session)).names) if crib.toolkits and session else []
    told = [
        {
            "name": kit,
            "description": kits[kit].description,
            "tools": [one.name for one in kits[kit].tools],
            "initial": kit in rules.initial_toolkits,
            "loaded": kit in loaded,
        }
        for kit in rules.allowed_toolkits
        if kit in kits
    ]
    return answer(Kits(loaded=loaded, toolkits=told))


async def _kept(agents: Agents, name: str) -> None:
    """Whether it can be changed comes before which revision was seen."""
    found = await agents.get(name)
    if found.origin is Origin.CONFIGURED:
        await agents.delete(name, revision=-1)  # refuses, and says where it is written
