"""The settings in force, the policy, what is left to do, and verdicts without a call."""

from typing import Annotated, Any

import msgspec
from fastapi import Request, Response
from msgspec import Struct
from pydantic import Field

from toolcrib import __version__
from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolError
from toolcrib.core.heavy import heavy
from toolcrib.core.policy import Policy
from toolcrib.core.registry import Registry
from toolcrib.faces.http.asked import Form, house_of, service
from toolcrib.faces.http.routing import Operations, answer
from toolcrib.services.advice.lint import Finding, lint
from toolcrib.services.advice.setup import State, Step, checklist
from toolcrib.services.agents import Agents
from toolcrib.services.approvals.requests import State as Waiting
from toolcrib.services.content.files import OPERATIONS, Workspaces
from toolcrib.services.people.principal import Role
from toolcrib.services.record.audit import Query
from toolcrib.services.settings import Row

operations = Operations("settings", "settings")
Text = Annotated[str, Field(max_length=500_000)]
Line = Annotated[str, Field(min_length=1, max_length=20_000)]


class Status(Struct, kw_only=True):
    """How the house is: `trouble` is what is wrong, in sentences."""

    version: str
    agents: int
    tools: int
    people: int
    approvals_waiting: int
    watching: int
    trouble: list[str]


class Effective(Struct, kw_only=True):
    """The policy as the resolver reads it."""

    policy: Policy
    floor: list[str]
    profiles: dict[str, list[str]]
    sub_agent_floor: list[str]


class Command(Form):
    """A shell command to judge."""

    command: Line
    cwd: Annotated[str, Field(max_length=4000)] = ""


class Address(Form):
    """A web address to judge, as it is written."""

    url: Line
    agent: Annotated[str, Field(max_length=200)] = ""
    tool: Annotated[str, Field(max_length=200)] = ""


class Path(Form):
    """A path to judge, in the workspace of an agent."""

    path: Line
    op: Annotated[str, Field(pattern="^(read|list|write|edit|delete)$")] = "read"
    agent: Annotated[str, Field(max_length=200)] = ""


class Words(Form):
    """A text to take secrets out of."""

    text: Text


class Verdict(Struct, kw_only=True, omit_defaults=True):
    """allow, ask or deny, and why."""

    verdict: str
    why: str = ""
    rule: str = ""
    instead: str = ""


class Scrubbed(Struct, kw_only=True):
    """The text without secrets, and whether there were any."""

    text: str
    changed: bool


@operations.add("GET", "/settings", Role.VIEWER, list[Row])
async def list_settings(request: Request) -> Response:
    """List the settings in force with where each comes from. A secret one only says that it is set."""
    return answer(house_of(request).settings.rows())


@operations.add("GET", "/status", Role.VIEWER, Status)
async def get_status(request: Request) -> Response:
    """Say how the house is."""
    house = house_of(request)
    store, resolver = house.crib.store, house.crib.resolver
    trouble = [one for one in (store.audit.trouble, house.crib.vault.trouble) if one]
    return answer(
        Status(
            version=__version__,
            agents=len(resolver.grants.agents),
            tools=len(resolver.registry),
            people=len(await house.people.persons.all()),
            approvals_waiting=len(await store.approvals.requests(state=Waiting.PENDING)),
            watching=house.events.watched,
            trouble=trouble,
        )
    )


@operations.add("GET", "/setup", Role.VIEWER, list[Step])
async def get_setup(request: Request) -> Response:
    """List what is left to do before the house is of use."""
    house = house_of(request)
    store, crib = house.crib.store, house.crib
    agents = await service(house, Agents).all()
    answered = [one for one in await store.approvals.requests() if one.by]
    kept = len(await crib.vault.secrets.search()) if await crib.vault.book.exists() else 0
    state = State(
        agents=len(agents),
        with_tools=sum(bool(one.definition.get("toolboxes") or one.definition.get("tools")) for one in agents),
        calls=len((await store.audit.entries(Query(limit=1))).entries),
        answered=len(answered),
        secrets=kept,
        signed_in=house.auth,
        trouble=store.audit.trouble,
    )
    return answer(checklist(state))


@operations.add("GET", "/policy", Role.VIEWER, Effective, scope="agents")
async def get_policy(request: Request) -> Response:
    """Show the rules that hold for every agent."""
    crib = house_of(request).crib
    await crib.refresh()
    grants = crib.resolver.grants
    told = Effective(
        policy=grants.policy,
        floor=list(grants.floor),
        profiles={name: list(names) for name, names in grants.profiles.items()},
        sub_agent_floor=list(grants.policy.sub_agents.excluded),
    )
    return answer(told)


@operations.add("GET", "/policy/lint", Role.VIEWER, list[Finding], scope="agents")
async def lint_policy(request: Request) -> Response:
    """Find what looks wrong in the grants and is no error."""
    crib = house_of(request).crib
    await crib.refresh()
    return answer(list(lint(crib.resolver)))


@operations.add("POST", "/check/shell", Role.VIEWER, Verdict, scope="tools")
async def check_shell(request: Request, body: Command) -> Response:
    """Give the verdict about a shell command. Nothing is run."""
    house = house_of(request)
    folder = str(heavy("pathlib").Path(house.settings.workspace).absolute())
    shell = heavy("toolcrib.safety.shell")
    told = shell.judge(body.command, rules=house.config.shell_rules, cwd=body.cwd, workspace=folder).as_json()
    return answer(_verdict(told))


@operations.add("POST", "/check/url", Role.VIEWER, Verdict, scope="tools")
async def check_url(request: Request, body: Address) -> Response:
    """Say whether the web tools would fetch an address, as it is written. Nothing is sent."""
    house = house_of(request)
    registry: Registry = house.crib.resolver.registry
    known = registry.get(body.tool) if body.tool else None

    def meant(entry: str) -> tuple[str, ...]:
        return registry.names_of(registry.mask((entry,)))

    lists = heavy("toolcrib.safety.domains").Lists(house.config.network, meant)
    tool = known.name if known else body.tool

    def left_out(host: str) -> str:
        found: str = lists.leaves_out(host, body.agent, tool)
        return found

    judge = heavy("toolcrib.safety.reach").judge
    judged = judge(body.url, dns=None, allow_private=lists.private, leaves_out=left_out)
    return answer(Verdict(verdict=judged.verdict, why=judged.why))


@operations.add("POST", "/check/path", Role.VIEWER, Verdict, scope="tools")
async def check_path(request: Request, body: Path) -> Response:
    """Say whether the file tools would work on a path. Nothing is read or written."""
    house = house_of(request)
    workspace = house.crib.resolver.rules_of(body.agent).workspace if body.agent else ""
    caller = Caller(agent=body.agent, workspace=workspace)
    try:
        await service(house, Workspaces).of(caller).permits(body.path, OPERATIONS[body.op])
    except ToolError as error:
        fault = error.as_fault()
        if fault.code == "not_found":
            return answer(Verdict(verdict="allow", why=fault.message))
        return answer(Verdict(verdict="deny", why=fault.message, rule=fault.code))
    return answer(Verdict(verdict="allow"))


@operations.add("POST", "/scrub", Role.VIEWER, Scrubbed, scope="tools")
async def scrub_text(request: Request, body: Words) -> Response:
    """Take secrets out of a text, as out of every result."""
    clean = house_of(request).crib.scrub(body.text)
    return answer(Scrubbed(text=clean, changed=clean != body.text))


def _verdict(told: dict[str, Any]) -> Verdict:
    plain = {name: str(told[name]) for name in ("verdict", "why", "rule", "instead") if told.get(name)}
    return msgspec.convert(plain, Verdict)
