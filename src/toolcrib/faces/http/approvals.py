"""Calls that wait for a person, and what people agreed to beforehand; wishes for tools, and what was granted."""

from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import Field

from toolcrib.faces.http.asked import Cursor, Form, Limit, Number, Page, house_of, me, paged
from toolcrib.faces.http.routing import Operations, answer
from toolcrib.services.access import AccessRequest, Decision, Grant, no_request
from toolcrib.services.access import Lifetime as GrantLifetime
from toolcrib.services.approvals.requests import ApprovalRequest, Choice, Lifetime, StandingRule, State
from toolcrib.services.people.principal import Role

operations = Operations("approvals", "approvals")
Agent = Annotated[str | None, Query(max_length=200)]
Where = Annotated[dict[str, Annotated[str, Field(max_length=4000)]], Field(max_length=50)]


class Answered(Form):
    """A person's answer. `arguments` go with edit, `text` with respond; what lasts has `where`, patterns."""

    choice: Choice
    lifetime: Lifetime = Lifetime.ONCE
    until: Number | None = None
    arguments: dict[str, Any] | None = None
    text: Annotated[str, Field(max_length=4000)] = ""
    where: Where | None = None


class Patterns(Form):
    """Other patterns of a rule."""

    where: Where


class Decided(Form):
    """The answer to a wish for tools: those that are granted, and for how long. None granted is a no."""

    approve: Annotated[list[str], Field(max_length=100, default_factory=list)]
    lifetime: GrantLifetime = GrantLifetime.ONCE
    until: Number | None = None


@operations.add("GET", "/approvals", Role.VIEWER, Page[ApprovalRequest])
async def list_approvals(
    request: Request,
    agent: Agent = None,
    state: Annotated[State | None, Query(description="Without it, those in every state.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List requests, the newest first."""
    found = await house_of(request).crib.approvals.list(agent=agent, state=state, limit=5000)
    return answer(paged(found, lambda one: one.id, limit, cursor))


@operations.add("GET", "/approvals/{approval}", Role.VIEWER, ApprovalRequest)
async def get_approval(request: Request, approval: str) -> Response:
    """Show one request."""
    return answer(await house_of(request).crib.approvals.get(approval))


@operations.add("POST", "/approvals/{approval}/answer", Role.OPERATOR, ApprovalRequest)
async def answer_approval(request: Request, approval: str, body: Answered) -> Response:
    """Answer a request, once. A call that waits for it goes on at once."""
    done = await house_of(request).crib.approvals.answer(
        approval,
        body.choice,
        by=me(request).name,
        lifetime=body.lifetime,
        until=body.until,
        arguments=body.arguments,
        text=body.text,
        where=body.where,
    )
    return answer(done)


@operations.add("GET", "/approval-rules", Role.VIEWER, Page[StandingRule])
async def list_approval_rules(
    request: Request, agent: Agent = None, limit: Limit = 200, cursor: Cursor = None
) -> Response:
    """List what people agreed to beforehand, the newest first."""
    return answer(paged(await house_of(request).crib.approvals.rules(agent=agent), lambda one: one.id, limit, cursor))


@operations.add("PUT", "/approval-rules/{rule}", Role.OPERATOR, StandingRule)
async def change_approval_rule(request: Request, rule: str, body: Patterns) -> Response:
    """Give a rule other patterns."""
    return answer(await house_of(request).crib.approvals.change_rule(rule, body.where, by=me(request).name))


@operations.add("DELETE", "/approval-rules/{rule}", Role.OPERATOR, StandingRule)
async def delete_approval_rule(request: Request, rule: str) -> Response:
    """Take a rule away: its calls ask again."""
    return answer(await house_of(request).crib.approvals.delete_rule(rule))


@operations.add("GET", "/access", Role.VIEWER, Page[AccessRequest])
async def list_access_requests(
    request: Request, agent: Agent = None, state: Decision | None = None, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """List wishes of agents for tools, the newest first."""
    found = await house_of(request).crib.store.access.requests(agent=agent, state=state)
    return answer(paged(found, lambda one: one.id, limit, cursor))


@operations.add("POST", "/access/{wish}/decide", Role.OPERATOR, AccessRequest)
async def decide_access(request: Request, wish: str, body: Decided) -> Response:
    """Grant some of what an agent asks for, or nothing."""
    house = house_of(request)
    if await house.crib.store.access.get(wish) is None:
        raise no_request(wish)
    named = [tool.name if (tool := house.crib.resolver.registry.get(one)) else one for one in body.approve]
    done = await house.crib.store.access.decide(
        wish, by=me(request).name, approve=named, lifetime=body.lifetime, until=body.until
    )
    house.changed("access", agent=done.agent)
    return answer(done)


@operations.add("GET", "/grants", Role.VIEWER, Page[Grant])
async def list_grants(request: Request, agent: Agent = None, limit: Limit = 200, cursor: Cursor = None) -> Response:
    """List what was granted on wishes, ended ones too, the newest first."""
    return answer(
        paged(await house_of(request).crib.store.access.grants(agent=agent), lambda one: one.id, limit, cursor)
    )


@operations.add("DELETE", "/grants/{grant}", Role.OPERATOR, Grant)
async def revoke_grant(request: Request, grant: str) -> Response:
    """End a grant."""
    house = house_of(request)
    ended = await house.crib.store.access.revoke(grant, by=me(request).name)
    house.changed("access", agent=ended.agent)
    return answer(ended)
