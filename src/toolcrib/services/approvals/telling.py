"""Approvals that tell somebody of each change, beside keeping it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from toolcrib.services.approvals.requests import Answer, ApprovalRequest, Approvals, StandingRule, State

Told: TypeAlias = Callable[[ApprovalRequest], None]


class TellingApprovals:
    """The same port around another."""

    def __init__(self, kept: Approvals, told: Told) -> None:
        self._kept = kept
        self._told = told

    async def ask(self, request: ApprovalRequest) -> ApprovalRequest:
        kept = await self._kept.ask(request)
        self._told(kept)
        return kept

    async def get(self, request: str) -> ApprovalRequest | None:
        return await self._kept.get(request)

    async def requests(
        self, *, agent: str | None = None, state: State | None = None, limit: int = 100
    ) -> tuple[ApprovalRequest, ...]:
        return await self._kept.requests(agent=agent, state=state, limit=limit)

    async def settled(self, requests: Sequence[str]) -> tuple[ApprovalRequest, ...]:
        return await self._kept.settled(requests)

    async def answer(self, request: str, answer: Answer, *, by: str) -> ApprovalRequest:
        done = await self._kept.answer(request, answer, by=by)
        self._told(done)
        return done

    async def expire(self, request: str) -> None:
        await self._kept.expire(request)
        await self._again(request)

    async def take(self, agent: str, session: str, mark: str) -> ApprovalRequest | None:
        return await self._kept.take(agent, session, mark)

    async def use(self, request: str) -> bool:
        used = await self._kept.use(request)
        if used:
            await self._again(request)
        return used

    async def rules(self, *, agent: str | None = None, tool: str | None = None) -> tuple[StandingRule, ...]:
        return await self._kept.rules(agent=agent, tool=tool)

    async def change_rule(self, rule: str, where: Mapping[str, str], *, by: str) -> StandingRule:
        return await self._kept.change_rule(rule, where, by=by)

    async def delete_rule(self, rule: str) -> StandingRule:
        return await self._kept.delete_rule(rule)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - what a store's own has beside the port
        return getattr(self._kept, name)

    async def _again(self, request: str) -> None:
        known = await self._kept.get(request)
        if known is not None:
            self._told(known)
