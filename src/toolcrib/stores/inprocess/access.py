"""Access requests and grants, in memory."""

import time
from collections.abc import Sequence
from uuid import uuid4

from msgspec.structs import replace

from toolcrib.services.access import (
    AccessRequest,
    Decision,
    Grant,
    Lifetime,
    decided,
    granted_on,
    no_grant,
    no_request,
)


class MemoryAccess:
    """Two dicts, in the order of time."""

    def __init__(self) -> None:
        self._requests: dict[str, AccessRequest] = {}
        self._grants: dict[str, Grant] = {}

    async def request(self, *, agent: str, session: str, user: str, tools: Sequence[str], reason: str) -> AccessRequest:
        made = AccessRequest(
            id=uuid4().hex,
            agent=agent,
            session=session,
            user=user,
            tools=tuple(tools),
            reason=reason,
            asked=time.time(),
        )
        self._requests[made.id] = made
        return made

    async def get(self, request: str) -> AccessRequest | None:
        return self._requests.get(request)

    async def requests(self, *, agent: str | None = None, state: Decision | None = None) -> tuple[AccessRequest, ...]:
        newest = reversed(self._requests.values())
        return tuple(one for one in newest if agent in (None, one.agent) and state in (None, one.state))

    async def decide(
        self,
        request: str,
        *,
        by: str,
        approve: Sequence[str],
        lifetime: Lifetime,
        until: float | None = None,
    ) -> AccessRequest:
        known = self._requests.get(request)
        if known is None:
            raise no_request(request)
        done = decided(known, by=by, approve=approve, lifetime=lifetime, until=until, now=time.time())
        self._requests[request] = done
        for grant in granted_on(done, lifetime=lifetime, until=until):
            self._grants[grant.id] = grant
        return done

    async def grants_for(self, agent: str, session: str, now: float) -> tuple[Grant, ...]:
        if not self._grants:
            return ()
        return tuple(one for one in self._grants.values() if one.agent == agent and one.holds(session, now))

    async def grants(self, *, agent: str | None = None) -> tuple[Grant, ...]:
        return tuple(one for one in reversed(self._grants.values()) if agent in (None, one.agent))

    async def consume(self, agent: str, session: str, tool: str) -> bool:
        now = time.time()
        for one in await self.grants_for(agent, session, now):
            if one.tool == tool and one.lifetime is Lifetime.ONCE:
                self._grants[one.id] = replace(one, ended=now)
                return True
        return False

    async def revoke(self, grant: str, *, by: str) -> Grant:
        known = self._grants.get(grant)
        if known is None:
            raise no_grant(grant)
        if known.ended is None:
            known = self._grants[grant] = replace(known, ended=time.time(), ended_by=by)
        return known
