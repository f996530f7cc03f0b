"""Idempotency-Key: a POST that is sent again with the same key is done once, and answered the same.

Answers are remembered for a day in this process. Calls of tools are not here: the crib itself keeps theirs, durably.
"""

import time
from collections import OrderedDict
from hashlib import sha256

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolcrib.faces.http.problem import problem
from toolcrib.faces.http.routing import BASE

HEADER = "idempotency-key"
KEPT, SECONDS = 1000, 86_400.0
LONGEST_KEY = 200
OWN = (f"{BASE}/calls",)  # whose operations keep their answers themselves


class _Answer:
    """What was answered, or nothing yet."""

    def __init__(self, asked: bytes) -> None:
        self.asked = asked
        self.at = time.monotonic()
        self.messages: list[Message] = []
        self.ended = False

    @property
    def status(self) -> int:
        return int(self.messages[0].get("status", 500)) if self.messages else 500


class Repeats:
    """Around the API."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._known: OrderedDict[tuple[str, str, str], _Answer] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = Headers(scope=scope).get(HEADER, "") if scope.get("method") == "POST" else ""
        if not key or scope["path"] in OWN:
            await self._app(scope, receive, send)
            return
        if len(key) > LONGEST_KEY:
            what = f"The Idempotency-Key is longer than {LONGEST_KEY} characters."
            await problem(422, what, code="invalid_request")(scope, receive, send)
            return
        body = await _body(receive)
        who = getattr(scope["state"].get("principal"), "id", "")
        mark, asked = (who, str(scope["path"]), key), sha256(scope["query_string"] + b"?" + body).digest()
        self._forget()
        known = self._known.get(mark)
        if known is not None:
            await self._again(known, asked, scope, receive, send)
            return
        await self._first(mark, _Answer(asked), body, scope, receive, send)

    async def _again(self, known: _Answer, asked: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        if known.asked != asked:
            what = "This Idempotency-Key was used for something else."
            await problem(409, what, code="key_reused", hint="Use another.")(scope, receive, send)
        elif not known.ended:
            what = "The first request with this Idempotency-Key has not ended."
            await problem(409, what, code="still_running", hint="Send it again in a moment.")(scope, receive, send)
        else:
            for message in known.messages:
                await send({**message})

    async def _first(  # noqa: PLR0917 - ASGI's own three
        self, mark: tuple[str, str, str], answer: _Answer, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        given = False

        async def reading() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def sending(message: Message) -> None:
            answer.messages.append(
                {**message, "headers": list(message["headers"])} if "headers" in message else {**message}
            )
            await send(message)

        self._known[mark] = answer
        try:
            await self._app(scope, reading, sending)
            answer.ended = answer.status < 500
        finally:
            if not answer.ended:
                self._known.pop(mark, None)

    def _forget(self) -> None:
        """What is too old or too much; never what has not ended."""
        now = time.monotonic()
        for mark, one in list(self._known.items()):
            if not (len(self._known) >= KEPT or now - one.at > SECONDS):
                break
            if one.ended:
                del self._known[mark]


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return b"".join(parts)
