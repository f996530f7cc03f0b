"""What every tab of an agent starts from, and how a change of it is saved."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from toolcrib.faces.web.forms import Form
from toolcrib.faces.web.frame import house, service
from toolcrib.faces.web.links import agent_link
from toolcrib.services.agents import Agents, Origin, Shown


async def facts(request: Request) -> dict[str, Any]:
    """The agent that the address names, and its tabs."""
    crib = house(request).crib
    await crib.refresh()
    one = await service(request, Agents).get(request.path_params["name"])
    tabs = [
        ("Overview", agent_link(one.name), 0),
        ("Tools", agent_link(one.name, "tools"), 0),
        ("Policy", agent_link(one.name, "policy"), 0),
        ("Toolkits", agent_link(one.name, "toolkits"), 0),
        ("Runs", agent_link(one.name, "runs"), 0),
    ]
    return {
        "title": one.name,
        "one": one,
        "rules": crib.resolver.rules_of(one.name),
        "resolver": crib.resolver,
        "fixed": one.origin is Origin.CONFIGURED,
        "source": crib.config.source,
        "tabs": tabs,
    }


async def save(request: Request, filled: Form, changed: Mapping[str, object]) -> Shown:
    """Keep a change of single keys; None takes a key out. What was seen must still hold."""
    agents = service(request, Agents)
    one = await agents.get(request.path_params["name"])
    definition = {**one.definition, **changed}
    kept = {key: value for key, value in definition.items() if value is not None}
    return await agents.update(one.name, kept, revision=filled.number("revision", "The revision"))
