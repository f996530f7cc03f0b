"""A server over streamable HTTP: a POST for each message, its answer as JSON or at the end of a stream of events."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolError, ToolFailed
from toolcrib.machine.mcp.connection import Reply
from toolcrib.machine.mcp.events import Event
from toolcrib.machine.mcp.log import Log
from toolcrib.machine.mcp.origin import Origin
from toolcrib.machine.mcp.tasks import Tasks
from toolcrib.machine.mcp.wire import NONE, Received, SessionLostError, is_answer, messages_of
from toolcrib.safety.urls import BadUrl, join
from toolcrib.services.mcp.downstream import INVALID_REQUEST, METHOD_NOT_FOUND, NotKnown, ServerGone

_ACCEPT = b"accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n"
_RESUMES = 2
_LONGEST_PAUSE = 60.0
_SIGNING_SECONDS = 300.0
SESSION, VERSION = b"mcp-session-id", "mcp-protocol-version"


class Signing(Protocol):
    """What answers a server that wants to know who asks."""

    async def header(self) -> str:
        """The Authorization header; "" for none yet."""
        ...

    async def challenged(self, reply: Reply, headers: Mapping[str, str]) -> bool:
        """Sign in as the refusal wants it. Whether it is worth asking again."""
        ...

    async def close(self) -> None:
        """Let go of what the signing used."""
        ...


class Post:
    """The wire of one session over streamable HTTP."""

    streams = True

    def __init__(
        self,
        origin: Origin,
        headers: Mapping[str, str],
        received: Received,
        log: Log,
        *,
        signing: Signing | None = None,
    ) -> None:
        self._origin = origin
        self._target = origin.url.target
        self._own = lines_of(headers)
        self._received = received
        self._log = log
        self._signing = signing
        self.patience = _SIGNING_SECONDS if signing is not None else 0.0
        self._session = b""
        self._version = ""
        self._modern = False
        self._tasks = Tasks()
        self.lost = ""
        self.on_lost: Callable[[], None] | None = None

    async def ask(self, number: int, data: bytes, headers: Mapping[str, str] = NONE) -> JsonObject:
        kept: list[JsonObject] = []
        place = _Place()

        def heard(event: Event) -> bool:
            place.note(event)
            return bool(event.data) and self._heard(event.data, number, kept)

        reply = await self._sent("POST", data, headers, heard)
        if reply.answered:
            return kept[0]
        kind = reply.headers.get(b"content-type", b"")
        if reply.status in {200, 201} and kind.startswith(b"text/event-stream"):
            return await self._resumed(place, heard, kept)
        return self._answer(reply, kind, number)

    async def tell(self, data: bytes) -> None:
        if self._modern:
            return  # that era has no notifications of clients over HTTP
        with suppress(ToolError, SessionLostError):
            await self._sent("POST", data, NONE, None)

    async def agreed(self, version: str, *, modern: bool) -> None:
        self._version, self._modern = version, modern
        if not modern and self._session:
            self._tasks.start(self._listen())

    async def close(self) -> None:
        self.lost = self.lost or "it was closed"
        await self._tasks.close()
        if self._session:
            with suppress(ToolError, TimeoutError):
                async with asyncio.timeout(1):
                    await self._origin.ask("DELETE", self._target, self._lines(NONE))
        await self._origin.close()
        if self._signing is not None:
            await self._signing.close()

    def _heard(self, data: bytes, number: int | None, kept: list[JsonObject]) -> bool:
        """Take up the messages of one event; whether the answer was among them."""
        try:
            messages = messages_of(data)
        except ToolFailed as error:
            self._log.say(f"[toolcrib] {error.message}")
            return False
        for message in messages:
            if not is_answer(message):
                self._received(message, number)
            elif number is not None and _is_for(message, number):
                kept.append(message)
            else:
                self._log.say("[toolcrib] an answer to no request was dropped")
        return bool(kept)

    async def _sent(
        self, method: str, data: bytes, headers: Mapping[str, str], heard: Callable[[Event], bool] | None
    ) -> Reply:
        """Send, once more when the server wants to know who asks or says where else it is."""
        for attempt in range(4):
            lines = self._lines(headers)
            if self._signing is not None and (said := await self._signing.header()):
                lines += f"authorization: {said}\r\n".encode("latin-1")
            reply = await self._origin.ask(method, self._target, lines, data, heard=heard)
            if (known := reply.headers.get(SESSION)) and not self._modern:
                self._session = known
            if reply.status in {307, 308} and attempt == 0:
                self._target = self._moved(reply)
            elif reply.status in {401, 403} and self._signing is not None:
                shown = {**headers, **({VERSION: self._version} if self._version else {})}
                if not await self._signing.challenged(reply, shown):
                    return reply
            else:
                return reply
        return reply  # pyright: ignore[reportPossiblyUnboundVariable] - the loop runs at least once

    def _moved(self, reply: Reply) -> str:
        where = reply.header(b"location")
        try:
            url = join(self._origin.url, where)
        except BadUrl:
            url = None
        if url is None or url.origin != self._origin.url.origin:
            raise ServerGone(f"{self._origin.host} moved to {where[:200]!r}.", hint="Configure that address instead.")
        return url.target

    def _lines(self, headers: Mapping[str, str]) -> bytes:
        lines = _ACCEPT + self._own
        if self._session:
            lines += b"mcp-session-id: " + self._session + b"\r\n"
        if headers:
            lines += lines_of(headers)
        if self._version and VERSION not in headers:
            lines += b"mcp-protocol-version: " + self._version.encode() + b"\r\n"
        return lines

    def _answer(self, reply: Reply, kind: bytes, number: int) -> JsonObject:
        """The answer in a reply that is no stream."""
        status, host = reply.status, self._origin.host
        gone = bool(self._session) and (status == 404 or (status == 400 and _forgot(reply.body)))
        if reply.body and kind.startswith(b"application/json"):
            answer = _among(messages_of(reply.body), number, refused=status >= 400)
            if answer is not None and not gone:
                return answer
        if status < 400:
            raise ToolFailed(f"{host} answered {status} without the answer to this request.", code="bad_response")
        if gone:
            raise SessionLostError
        if status in {404, 405}:
            return {"error": {"code": METHOD_NOT_FOUND, "message": f"{host} answered {status}."}}
        if status in {401, 403}:
            hint = "Give it a header with a credential, or `auth: oauth`."
            raise ToolFailed(f"{host} did not let us in ({status}).", code="not_signed_in", hint=hint)
        if status >= 500:  # 503 too: a proxy also says so when it lost the server in the middle of a call
            raise NotKnown(f"{host} answered {status}.")
        return {"error": {"code": INVALID_REQUEST, "message": f"{host} answered {status}: {_words(reply.body)}"}}

    async def _resumed(self, place: "_Place", heard: Callable[[Event], bool], kept: list[JsonObject]) -> JsonObject:
        """The stream ended before the answer: where the server numbered its events, go on after the last one."""
        for _ in range(_RESUMES):
            if not place.last:
                break
            await asyncio.sleep(place.pause)
            with suppress(NotKnown):
                reply = await self._sent("GET", b"", {"last-event-id": place.last}, heard)
                if reply.answered:
                    return kept[0]
        raise NotKnown(f"{self._origin.host} ended its answer before it was there.")

    async def _listen(self) -> None:
        """Hear what the server says by itself, and go on when the stream ends."""
        place, failures = _Place(), 0

        def heard(event: Event) -> bool:
            place.note(event)
            if event.data:
                self._heard(event.data, None, [])
            return False

        while failures < 3 and not self.lost:
            headers = {"last-event-id": place.last} if place.last else NONE
            try:
                reply = await self._sent("GET", b"", headers, heard)
            except (NotKnown, ServerGone):
                failures += 1
            else:
                if reply.status != 200:
                    return  # it has no such stream
                failures = 0
            await asyncio.sleep(place.pause)


class _Place:
    """Where one is in a stream, and how long to wait before going on."""

    def __init__(self) -> None:
        self.last = ""
        self.pause = 1.0

    def note(self, event: Event) -> None:
        if event.id:
            self.last = event.id.decode("latin-1")
        if event.retry is not None:
            self.pause = min(event.retry / 1000, _LONGEST_PAUSE)


def lines_of(headers: Mapping[str, str]) -> bytes:
    """Headers as lines. What could end a line is refused."""
    for name, value in headers.items():
        if any(sign in name + value for sign in "\r\n\0") or not name.isascii():
            raise ToolFailed(f"The header {name[:40]!r} cannot be sent.", code="bad_header")
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode("utf-8")


def _among(messages: list[JsonObject], number: int, *, refused: bool) -> JsonObject | None:
    """The answer to a request. A refusal may have come before the request's number was read."""
    for message in messages:
        if is_answer(message) and (_is_for(message, number) or (refused and "error" in message)):
            return message
    return None


def _is_for(message: JsonObject, number: int) -> bool:
    """Whether it answers that request. Some servers give a number back as text."""
    given = message.get("id")
    return given == number or given == str(number)


def _forgot(body: bytes) -> bool:
    """Some servers answer 400 to a session that they do not know, and say so in words."""
    said = body[:500].lower()
    return b"session" in said or b"not initialized" in said


def _words(body: bytes) -> str:
    return body[:200].decode("utf-8", "replace")
