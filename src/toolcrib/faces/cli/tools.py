"""`toolcrib tools`: the tools there are, and their schemas for models."""

from collections.abc import Iterable

import click

from toolcrib.app import Crib
from toolcrib.core.call import JsonObject
from toolcrib.core.prompt import tokens
from toolcrib.core.registry import Registry
from toolcrib.core.resolver import Resolver
from toolcrib.core.tool import Tool, described
from toolcrib.faces.cli.frame import Asked, Command, Group, pass_asked
from toolcrib.faces.cli.opening import agents, with_crib
from toolcrib.faces.cli.output import count, write_json, write_table
from toolcrib.services.finding.catalogue import first_line
from toolcrib.services.finding.ranking import Ranking, document
from toolcrib.services.schemas import FORMATS, schemas

FORMAT = click.Choice(list(FORMATS))


@click.group(
    "tools",
    cls=Group,
    default="list",
    examples=(
        "toolcrib tools",
        "toolcrib tools 'edit a file'",
        "toolcrib tools --domain files --json",
        "toolcrib tools export --agent helper --format anthropic",
    ),
)
def command() -> None:
    """List the tools, or print their schemas."""


@command.command("list", cls=Command, examples=("toolcrib tools list", "toolcrib tools list --agent scout --json"))
@click.argument("query", default="")
@click.option("--domain", metavar="NAME", help="Only tools of this domain.")
@click.option("--source", type=click.Choice(["native", "custom", "mcp", "plugin"]), help="Only tools from there.")
@click.option("--agent", metavar="NAME", shell_complete=agents, help="Only what this agent holds.")
@click.option("--format", "form", type=FORMAT, help="Print schemas in the format of this API, as JSON.")
@pass_asked
def list_tools(
    asked: Asked, query: str, *, domain: str | None, source: str | None, agent: str | None, form: str | None
) -> None:
    """List the tools that exist. With QUERY only those that it fits, the best first."""

    async def work(crib: Crib) -> None:
        resolver, held = crib.resolver, None
        if agent is not None:
            turn = await crib.turn(agent)
            resolver, held = turn.resolver, turn.view
        kept = [
            tool
            for tool in (resolver.registry.tools if held is None else held)
            if domain in {None, tool.domain} and source in {None, tool.source}
        ]
        kept = _fitting(kept, query) if query.strip() else kept
        if form is not None:
            write_json(schemas(kept, form))
        elif asked.json:
            facts = Facts(resolver)
            told = held and {tool.name for tool in held.shown}
            write_json([facts.of(tool) | ({} if told is None else {"shown": tool.name in told}) for tool in kept])
        else:
            _print(kept, ranked=bool(query.strip()))

    with_crib(asked, work)


@command.command(
    "export",
    cls=Command,
    examples=(
        "toolcrib tools export --agent helper",
        "toolcrib tools export --agent scout --format mcp",
    ),
)
@click.option("--agent", metavar="NAME", required=True, shell_complete=agents, help="The agent that will call them.")
@click.option("--format", "form", type=FORMAT, default="openai", show_default=True, help="The API's format.")
@pass_asked
def export(asked: Asked, agent: str, form: str) -> None:
    """Print what to send to a model: the schemas of the tools that an agent is shown, as JSON."""

    async def work(crib: Crib) -> None:
        write_json((await crib.turn(agent)).schemas(form))

    with_crib(asked, work)


class Facts:
    """Everything that is known of single tools. What a group or toolbox holds is worked out once for all of them."""

    def __init__(self, resolver: Resolver) -> None:
        registry = resolver.registry
        self._registry = registry
        self._groups = {name: registry.mask((name,)) for name in _group_names(registry)}
        self._boxes = {name: resolver.box(name) for name in resolver.grants.toolboxes}

    def of(self, tool: Tool) -> JsonObject:
        """One tool, as programs get it."""
        bit = self._registry.bits((tool,))
        return described(tool) | {
            "groups": [name for name, mask in self._groups.items() if mask & bit],
            "toolboxes": [name for name, mask in self._boxes.items() if mask & bit],
            "prompt_tokens": tokens(tool),
        }


def _group_names(registry: Registry) -> list[str]:
    tools = registry.tools
    named = [*registry.names.groups, *sorted({tool.domain for tool in tools})]
    for source in ("mcp", "plugin"):
        origins = sorted({tool.origin.lower() for tool in tools if tool.source == source})
        named += [source, *(f"{source}:{origin}" for origin in origins)] if origins else []
    return [f"group:{name}" for name in dict.fromkeys(named)]


def _fitting(tools: list[Tool], query: str) -> list[Tool]:
    named = {tool.name: tool for tool in tools}
    return [named[hit.id] for hit in Ranking(map(document, tools)).search(query, len(tools))]


def _print(tools: list[Tool], *, ranked: bool) -> None:
    if ranked:
        write_table(("", "", ""), _rows(tools))
    for domain in () if ranked else sorted({tool.domain for tool in tools}):
        click.echo(click.style(domain, bold=True))
        write_table(("", "", ""), _rows(tool for tool in tools if tool.domain == domain), indent="  ")
    click.echo(count(len(tools), "tool") + ("" if tools else ": nothing fits; `toolcrib tools` lists all there are"))


def _rows(tools: Iterable[Tool]) -> list[tuple[str, str, str]]:
    return [(tool.name, tool.traits.effect.value, first_line(tool.about)) for tool in tools]
