"""A crib as a server works on it: with its people, and with news of what happens."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

import msgspec

from toolcrib.app.calls import Calls
from toolcrib.app.crib import Crib
from toolcrib.app.opening import open_crib
from toolcrib.core.call import Caller, Record, Status
from toolcrib.core.errors import CribError, ToolError
from toolcrib.core.heavy import heavy
from toolcrib.services.approvals.requests import ApprovalRequest, State
from toolcrib.services.config.values import Config
from toolcrib.services.events import APPROVAL, CALL, CHANGE, Events
from toolcrib.services.people.desk import People
from toolcrib.services.people.invitations import PATH, Invitations
from toolcrib.services.people.keys import ApiKeys
from toolcrib.services.people.principal import Principal, Role
from toolcrib.services.people.tokens import Tokens
from toolcrib.services.record.audit import Entry, Query
from toolcrib.services.settings import Settings

if TYPE_CHECKING:
    from toolcrib.machine.home import Occupation
    from toolcrib.services.people.elsewhere import Elsewhere

LOOKS = 2.0  # seconds between two looks at what other processes changed
TOLD_AT_ONCE = 200  # calls of other processes that are told after one look; the record has the others
NOBODY = Principal(id="off", name="you", role=Role.ADMIN, via="off")
"""Whoever reaches the port when sign-in is off."""


class House:
    """One open home: `crib`, `people`, `events`, `calls`, `settings`."""

    def __init__(
        self,
        crib: Crib,
        people: People,
        events: Events,
        *,
        settings: Settings,
        config: Config,
        occupation: "Occupation",
    ) -> None:
        self.crib = crib
        self.people = people
        self.events = events
        self.settings = settings
        self.config = config
        self.occupation = occupation
        self.address = settings.url.rstrip("/")
        self.elsewhere: Elsewhere | None = None
        self.closers: list[Callable[[], Awaitable[None]]] = []
        self.calls = Calls(crib, self.begin)
        self._work: set[asyncio.Future[Any]] = set()
        self._told: int | None = None  # up to which entry of the record calls were told; None: nobody listens
        self.tokens: ApiKeys | Tokens = people.keys
        """Whoever knows what programs show: keys, and tokens of an authorization server where one is named."""
        if config.mcp.issuer and settings.url:
            issued = heavy("toolcrib.machine.tokens").IssuedTokens(config.mcp.issuer)
            self.closers.append(issued.close)
            self.tokens = Tokens(people.keys, people.persons, issued.verify, settings.url)

    @property
    def auth(self) -> bool:
        """Whether people sign in."""
        return self.settings.auth != "off"

    def reached(self, address: str) -> None:
        """Say where people reach the server, for the links that are made."""
        self.address = address.rstrip("/")
        invitations: Any = self.crib.services[Invitations]
        for one in (invitations, self.people.invitations):
            one.link = f"{address.rstrip('/')}{PATH}"

    @property
    def secure(self) -> bool:
        """Whether people come by https."""
        return self.settings.url.startswith("https://")

    def begin(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Future[Any]":
        """Start work that outlives the request that asked for it. It ends with the house."""
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return task

    def note(self, by: str, what: str, told: Mapping[str, object] | None = None) -> None:
        """Put on record what a person decided that is no call: keys, people, a secret that was looked at."""
        record = Record(
            id=f"p{token_hex(8)}",
            at=time.time(),
            caller=Caller(agent="", user=by),
            tool=what,
            arguments=msgspec.json.encode(told or {}),
            status=Status.DONE,
            approval=f"by {by}",
        )
        self.crib.store.audit.hand(record)
        self.changed(what.partition(".")[0])

    def changed(self, what: str, **more: Any) -> None:
        """Tell whoever watches that something other than a call or a request changed."""
        self.events.publish(CHANGE, {"what": what, **more})

    async def look(self) -> None:
        """Take up what other processes changed, again and again."""
        seen: frozenset[str] | None = None
        while True:
            await asyncio.sleep(LOOKS)
            with suppress(ToolError):  # a store that is away now may be back at the next look
                await self.crib.refresh()
                waiting = await self.crib.store.approvals.requests(state=State.PENDING)
                now = frozenset(one.id for one in waiting)
                if seen is not None and now - seen:
                    for one in waiting:
                        if one.id not in seen:
                            self.events.publish(APPROVAL, approval_event(one))
                seen = now
                await self._tell_of_others()

    async def _tell_of_others(self) -> None:
        """Tell whoever watches of calls that other processes put on record, such as an assistant's over pipes."""
        audit, told = self.crib.store.audit, self._told
        self._told = (await audit.head()).seq if self.events.wanted(CALL) else None
        if told is None or self._told is None or told == self._told:
            return
        ours = {data["id"] for data in self.events.recent(CALL)}
        newest = Query(oldest_first=True, cursor=max(told, self._told - TOLD_AT_ONCE), limit=TOLD_AT_ONCE)
        for entry in (await audit.entries(newest)).entries:
            if entry.agent and entry.id not in ours:
                self.events.publish(CALL, entry_event(entry))

    async def close(self) -> None:
        """End what runs, and let go of everything."""
        self.events.close()
        for task in tuple(self._work):
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        for close in reversed(self.closers):
            await close()
        await self.crib.close()
        self.occupation.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def open_house(
    *,
    home: str | None = None,
    config: str | None = None,
    store: str | None = None,
    workspace: str | None = None,
    host: str | None = None,
    port: str | None = None,
    auth: str | None = None,
    url: str | None = None,
    env: Mapping[str, str] = os.environ,
) -> House:
    """Open a home for a server. Raises BadConfig and StoreError, and VaultError where the vault's key is lost.

    Calls that want a person wait for the answer here, unless toolcrib.yaml says otherwise.
    """
    said = {"home": home, "config": config, "store": store, "workspace": workspace}
    settings, read = heavy("toolcrib.machine.home").find(
        env, {**said, "host": host, "port": port, "auth": auth, "url": url}
    )
    events, place = Events(), heavy("toolcrib.machine.home")
    houses: list[House] = []

    def hear(request: ApprovalRequest) -> None:
        events.publish(APPROVAL, approval_event(request))
        for one in houses:
            one.calls.heard(request)

    place.make(settings.home)
    occupation = place.Occupation(settings.home)
    try:
        crib = await open_crib(
            home=home,
            config=config,
            store=store,
            workspace=workspace,
            env=env,
            waits=True,
            told=hear,
        )
    except CribError:
        occupation.end()
        raise
    try:
        if await crib.vault.book.exists():
            await crib.vault.book.learn()
    except ToolError:
        await crib.close()
        occupation.end()
        raise
    passwords = heavy("toolcrib.machine.passwords").Argon2Passwords()
    people = People(crib.store.people, passwords, lambda: crib.resolver.grants.agents)
    house = House(crib, people, events, settings=settings, config=read, occupation=occupation)
    house.elsewhere = _elsewhere(house)
    houses.append(house)
    crib.listeners.append(partial(_call, events))
    crib.changed.append(partial(house.changed, "grants"))
    return house


def _elsewhere(house: House) -> "Elsewhere | None":
    """The sign-in provider that the settings name."""
    said = house.settings
    if not said.oidc_issuer or not said.oidc_client_id:
        return None
    http = house.crib.services[heavy("toolcrib.services.http").Http]
    oidc = heavy("toolcrib.providers.signin.oidc").Oidc
    provider = oidc(http, said.oidc_issuer, said.oidc_client_id, said.oidc_client_secret)
    made: Elsewhere = heavy("toolcrib.services.people.elsewhere").Elsewhere(
        provider, house.people.persons, house.people.signin, Role(said.oidc_role)
    )
    return made


def call_event(record: Record) -> dict[str, Any]:
    """A record as whoever watches sees it. Listeners are handed scrubbed records."""
    caller = record.caller
    return {
        "id": record.id,
        "at": record.at,
        "agent": caller.agent,
        "user": caller.user,
        "session": caller.session,
        "tool": record.tool,
        "arguments": record.arguments.decode("utf-8", "replace")[:2000],
        "status": str(record.status),
        "code": record.code,
        "seconds": record.seconds,
        "size": record.size,
        "verdicts": list(record.verdicts),
        "approval": record.approval,
    }


def entry_event(entry: Entry) -> dict[str, Any]:
    """The same of a call that is on record."""
    names = ("id", "at", "agent", "user", "session", "tool", "status", "code", "seconds", "size", "approval")
    told = {name: getattr(entry, name) for name in names}
    return {**told, "arguments": entry.arguments[:2000], "verdicts": list(entry.verdicts)}


def approval_event(request: ApprovalRequest) -> dict[str, Any]:
    """A request as whoever watches sees it."""
    told: dict[str, Any] = msgspec.to_builtins(request)
    for inner in ("mark", "edited", "binding"):
        told.pop(inner, None)
    told["arguments"] = told["arguments"][:2000]
    return told


def _call(events: Events, record: Record) -> None:
    events.publish(CALL, call_event(record))
