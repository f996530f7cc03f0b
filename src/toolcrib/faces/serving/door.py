"""The door: whoever comes in passes here, whatever face they want.

right host? ► which route? (none: 404) ► who is it? (cookie, key, or sign-in is off) ► may they? (a route that says
nothing is closed) ► did a page of ours send it? (CSRF) ► not too long? ► the face
"""

from collections.abc import Callable, MutableMapping, Sequence
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qs

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolcrib.app.house import NOBODY, House
from toolcrib.faces import visits
from toolcrib.faces.serving.hosts import Hosts, same_origin
from toolcrib.faces.serving.refusals import Refusals
from toolcrib.services.people.principal import Allowed, Principal, allowed

Counted = Callable[[str, str, int], None]
SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
FORM = "application/x-www-form-urlencoded"
LONGEST_FORM = 1 << 20


class Part(Struct, frozen=True, kw_only=True):
    """One face behind the door: its routes, in the order in which it looks at them itself."""

    name: str
    routes: Sequence[BaseRoute]
    app: ASGIApp
    most: int = 2 << 20  # bytes of a request's body


class _TooLong(HTTPException):
    """A body that is longer than it may be, seen while it is read."""

    def __init__(self) -> None:
        super().__init__(413, "The body is too long.")


class Door:
    """An ASGI application around all faces."""

    def __init__(
        self,
        house: House,
        parts: Sequence[Part],
        hosts: Hosts,
        refusals: Refusals,
        counted: Counted | None = None,
    ) -> None:
        """`counted` hears of each request: its face, its method, and how it was answered."""
        self._house = house
        self.parts = parts
        self._hosts = hosts
        self._refusals = refusals
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _no_other(scope, receive, send)
            return

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                if self._counted is not None:
                    self._counted(scope.get("toolcrib.face", "door"), scope["method"], message["status"])
                self._refusals.harden(message)
            await send(message)

        await self._received(scope, receive, counting)

    async def _received(self, scope: Scope, receive: Receive, send: Send) -> None:
        state: MutableMapping[str, Any] = {"house": self._house, "principal": None, "csrf": ""}
        scope["state"] = state
        headers = Headers(scope=scope)
        if not self._hosts.knows(headers.get("host", "")):
            refusal = self._refusals.misdirected(headers.get("host", ""))
            await refusal(scope, receive, send)
            return
        part, rule, refusal = self._place(scope)
        if part is None or refusal is not None:
            await (refusal or self._refusals.missing(scope))(scope, receive, send)
            return
        receive = _bounded(receive, part.most)
        refusal, receive = await self._admitted(scope, receive, headers, rule)
        length = headers.get("content-length", "")
        if refusal is None and length.isdecimal() and int(length) > part.most:
            refusal = self._refusals.too_long(part.most)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._through(part, scope, receive, send)

    async def _through(self, part: Part, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
            await send(message)

        scope["toolcrib.face"] = part.name
        try:
            await part.app(scope, receive, sending)
        except _TooLong:
            if begun:
                raise
            await self._refusals.too_long(part.most)(scope, receive, send)

    def _place(self, scope: Scope) -> tuple[Part | None, Allowed | None, Response | None]:
        """The part that would answer, and what it asks of whoever comes; or why none does."""
        methods: set[str] = set()
        for part in self.parts:
            for route in part.routes:
                match, child = route.matches(scope)
                if match is Match.FULL:
                    return part, allowed(child.get("endpoint")), None
                if match is Match.PARTIAL:
                    methods |= set(getattr(route, "methods", None) or ())
        return None, None, self._refusals.wrong_method(methods) if methods else None

    async def identify(self, scope: Scope) -> Principal | None:
        """Who it is, as far as can be told. Puts the token for forms beside it."""
        request = Request(scope)
        state = scope["state"]
        if not self._house.auth:
            return NOBODY
        word, _, key = request.headers.get("authorization", "").partition(" ")
        if word:
            return await self._house.people.keys.principal(key.strip()) if word.lower() == "bearer" else None
        secret = visits.secret_of(request)
        found = await self._house.people.signin.visitor(secret) if secret else None
        if found is None:
            return None
        state["csrf"] = found[1].csrf
        return found[0]

    async def _admitted(
        self, scope: Scope, receive: Receive, headers: Headers, rule: Allowed | None
    ) -> tuple[Response | None, Receive]:
        """Why not, or None; and what the face reads the body from."""
        if rule is None:
            return self._refusals.missing(scope), receive
        principal = await self.identify(scope)
        scope["state"]["principal"] = principal
        scope["state"]["identify"] = self.identify
        if rule.role is not None:
            if principal is None:
                return self._refusals.stranger(scope, headers), receive
            if not principal.may(rule.role, rule.scope):
                return self._refusals.forbidden(principal, rule), receive
        if scope["method"] in SAFE or (principal is not None and principal.via == "key"):
            return None, receive
        return await self._ours(scope, receive, headers)

    async def _ours(self, scope: Scope, receive: Receive, headers: Headers) -> tuple[Response | None, Receive]:
        """Whether a page of ours sent what changes something, or a program."""
        if self._foreign(headers):
            return self._refusals.foreign(), receive
        if not scope["state"]["csrf"]:
            return None, receive
        token, receive = await _token(headers, receive)
        right = compare_digest(token.encode(), scope["state"]["csrf"].encode())
        return (None if right else self._refusals.unproved()), receive

    def _foreign(self, headers: Headers) -> bool:
        """Whether a page of another site sent this. Programs send neither header."""
        if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return True
        origin = headers.get("origin")
        return origin is not None and not same_origin(origin, headers.get("host", ""))


async def _token(headers: Headers, receive: Receive) -> tuple[str, Receive]:
    """The token that proves that a page of ours sent it: a header, or a field of a form."""
    found = headers.get("x-csrf-token")
    if found is not None or headers.get("content-type", "").partition(";")[0].strip() != FORM:
        return found or "", receive
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] != "http.request" or not message.get("more_body") or len(body) > LONGEST_FORM:
            break
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=2000)
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": bool(message.get("more_body"))}

    return fields.get("csrf", [""])[0], again


def _bounded(receive: Receive, most: int) -> Receive:
    """What is read, up to so many bytes."""
    read = 0

    async def bounded() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise _TooLong
        return message

    return bounded


async def _no_other(scope: Scope, receive: Receive, send: Send) -> None:
    """Neither web sockets nor anything else is spoken here."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
