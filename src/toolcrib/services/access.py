"""Asking a person for tools, and the grants that come of it: for once, for a session, for a time, or for good."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from toolcrib.core.errors import ToolFailed


class Lifetime(StrEnum):
    """How long a grant holds."""

    ONCE = "once"  # one call, in the session that asked
    SESSION = "session"  # the session that asked
    UNTIL = "until"  # any session, until a time
    GOOD = "good"  # any session, until it is revoked


class Decision(StrEnum):
    """How far a request has come."""

    PENDING = "pending"
    APPROVED = "approved"  # all of it, or a part: `granted` says which
    DENIED = "denied"


class AccessRequest(Struct, frozen=True, kw_only=True):
    """What an agent asked for, and what a person said to it."""

    id: str
    agent: str
    session: str
    user: str
    tools: tuple[str, ...]
    reason: str
    asked: float
    state: Decision = Decision.PENDING
    granted: tuple[str, ...] = ()
    decided_by: str = ""
    decided: float | None = None


class Grant(Struct, frozen=True, kw_only=True):
    """One tool that a person gave an agent, on a request."""

    id: str
    request: str
    agent: str
    session: str  # "" holds in every session
    tool: str
    lifetime: Lifetime
    until: float | None
    granted_by: str
    granted: float
    ended: float | None = None  # when it was used up or revoked
    ended_by: str = ""  # who revoked it; "" when it was used up

    def holds(self, session: str, now: float) -> bool:
        """Whether it gives the tool in that session, now."""
        if self.ended is not None or (self.until is not None and now >= self.until):
            return False
        return not self.session or self.session == session


class Access(Protocol):
    """Keeps requests and grants. A request is decided exactly once, whoever else tries at the same moment."""

    async def request(self, *, agent: str, session: str, user: str, tools: Sequence[str], reason: str) -> AccessRequest:
        """Ask. The answer comes later."""
        ...

    async def get(self, request: str) -> AccessRequest | None:
        """The request with that id."""
        ...

    async def requests(self, *, agent: str | None = None, state: Decision | None = None) -> tuple[AccessRequest, ...]:
        """Requests, newest first."""
        ...

    async def decide(
        self,
        request: str,
        *,
        by: str,
        approve: Sequence[str],
        lifetime: Lifetime,
        until: float | None = None,
    ) -> AccessRequest:
        """Answer a request: approve some of what it asks for, or nothing.

        Refused with `request_not_found`, `already_decided`, `not_requested` or `bad_lifetime`.
        """
        ...

    async def grants_for(self, agent: str, session: str, now: float) -> tuple[Grant, ...]:
        """What holds for this agent in this session now."""
        ...

    async def grants(self, *, agent: str | None = None) -> tuple[Grant, ...]:
        """Every grant, ended ones too, newest first."""
        ...

    async def consume(self, agent: str, session: str, tool: str) -> bool:
        """Use up a once-grant. Of several callers at the same moment each uses up another one, or none."""
        ...

    async def revoke(self, grant: str, *, by: str) -> Grant:
        """End a grant. Refused with `grant_not_found`; ending it twice changes nothing."""
        ...


def decided(
    request: AccessRequest,
    *,
    by: str,
    approve: Sequence[str],
    lifetime: Lifetime,
    until: float | None,
    now: float,
) -> AccessRequest:
    """The request with its answer, or the refusal of an answer that does not fit it."""
    if request.state is not Decision.PENDING:
        raise ToolFailed(
            f"The request was {request.state.value} by {request.decided_by or 'somebody'} already.",
            code="already_decided",
            hint="A new request can be made.",
        )
    if extra := [name for name in approve if name not in request.tools]:
        raise ToolFailed(f"The request does not ask for {', '.join(extra)}.", code="not_requested")
    if approve:
        _check_lifetime(request, lifetime, until, now)
    granted = tuple(name for name in request.tools if name in approve)
    state = Decision.APPROVED if granted else Decision.DENIED
    return replace(request, state=state, granted=granted, decided_by=by, decided=now)


def granted_on(request: AccessRequest, *, lifetime: Lifetime, until: float | None) -> tuple[Grant, ...]:
    """The grants that come of an answered request."""
    narrow = lifetime in {Lifetime.ONCE, Lifetime.SESSION}
    return tuple(
        Grant(
            id=f"{request.id}.{number}",
            request=request.id,
            agent=request.agent,
            session=request.session if narrow else "",
            tool=tool,
            lifetime=lifetime,
            until=until,
            granted_by=request.decided_by,
            granted=request.decided or 0.0,
        )
        for number, tool in enumerate(request.granted, 1)
    )


def _check_lifetime(request: AccessRequest, lifetime: Lifetime, until: float | None, now: float) -> None:
    if lifetime is Lifetime.UNTIL and (until is None or until <= now):
        raise ToolFailed("A grant for a time needs a time that is still to come.", code="bad_lifetime")
    if lifetime is not Lifetime.UNTIL and until is not None:
        raise ToolFailed(f"A grant {lifetime.value!r} takes no time: only 'until' does.", code="bad_lifetime")
    if lifetime is Lifetime.SESSION and not request.session:
        raise ToolFailed(
            "The request came without a session, so a grant for the session would never hold.",
            code="bad_lifetime",
            hint="Grant it for once, for a time or for good.",
        )


def no_request(request: str) -> ToolFailed:
    """The refusal of an id that no request has."""
    return ToolFailed(f"There is no access request {request!r}.", code="request_not_found")


def no_grant(grant: str) -> ToolFailed:
    """The refusal of an id that no grant has."""
    return ToolFailed(f"There is no grant {grant!r}.", code="grant_not_found")
