"""Calls of stateless clients that wait for their client.

Such a client is asked with a result: it answers by calling once more. Meanwhile the call waits here, under a token that
nobody can guess and that is bound to who asked for what. A call that nobody comes back for is stopped.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Coroutine
from secrets import token_urlsafe
from typing import Any, cast

from toolcrib.core.call import Json, JsonObject
from toolcrib.faces.mcp.peers import Out
from toolcrib.faces.mcp.wire import encode
from toolcrib.services.mcp.downstream import INPUT_REQUIRED, INVALID_PARAMS, McpFault

PREFIX = "tcb-"
KEPT, EACH = 1000, 100  # of all callers, and of one
SECONDS = 900.0
_KINDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


class Held:
    """One call, and what it waits for."""

    def __init__(self, binding: tuple[str, ...]) -> None:
        self.binding = binding
        self.until = time.monotonic() + SECONDS
        self._questions: dict[str, JsonObject] = {}
        self._waiting: dict[str, asyncio.Future[JsonObject]] = {}
        self._count = 0
        self._turned = asyncio.Event()
        self.task: asyncio.Task[bytes] | None = None
        self._out: Out | None = None

    def attach(self, out: Out | None) -> None:
        """Where messages go from here on; None while nobody listens."""
        self._out = out

    def out(self, message: bytes) -> None:
        """Send a message to whoever listens now."""
        if self._out is not None:
            self._out(message)

    def start(self, work: Coroutine[Any, Any, bytes]) -> None:
        """Let the call run."""
        self.task = asyncio.ensure_future(work)
        self.task.add_done_callback(lambda _: self._turned.set())

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Put a question to the client, and wait until it comes back with an answer."""
        self._count += 1
        key = f"{_KINDS.get(method, 'question')}_{self._count}"
        self._questions[key] = {"method": method, "params": params}
        told = self._waiting[key] = asyncio.get_running_loop().create_future()
        self._turned.set()
        try:
            return await told
        finally:
            self._questions.pop(key, None)
            self._waiting.pop(key, None)

    def answer(self, answers: Json) -> None:
        """Hand on the answers to what was asked; everything else in them means nothing here."""
        given = cast("JsonObject", answers) if isinstance(answers, dict) else {}
        for key, told in list(self._waiting.items()):
            if isinstance(given.get(key), dict) and not told.done():
                self._questions.pop(key, None)
                told.set_result(given[key])

    async def turned(self) -> bool:
        """Wait until the call is over (True), or wants something of the client."""
        task = self.task
        while task is not None and not task.done() and not self._questions:
            self._turned.clear()
            await self._turned.wait()
        return task is not None and task.done()

    def questions(self, token: str) -> bytes:
        """The result that asks."""
        asked = {"resultType": INPUT_REQUIRED, "inputRequests": self._questions, "requestState": token}
        return encode(asked)

    def stop(self) -> None:
        """Give the call up."""
        if self.task is not None:
            self.task.cancel()


class Parking:
    """All calls that wait, by token."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Held] = OrderedDict()

    @staticmethod
    def ours(state: str | None) -> bool:
        """Whether a request state was made here, and not by a server."""
        return state is not None and state.startswith(PREFIX)

    def claim(self, state: str, binding: tuple[str, ...]) -> Held:
        """The call that waits under a token. It is taken out: the next question gets another token."""
        held = self._held.get(state)
        if held is None or held.binding != binding:
            raise McpFault(INVALID_PARAMS, "Invalid or expired requestState.", {"reason": "invalid_request_state"})
        del self._held[state]
        return held

    async def result(self, held: Held) -> bytes:
        """The result of a call, or the questions that it has."""
        try:
            over = await held.turned()
        except asyncio.CancelledError:
            held.stop()
            raise
        if over:
            return await cast("asyncio.Task[bytes]", held.task)
        held.attach(None)
        self._sweep(held.binding[:2])
        token = PREFIX + token_urlsafe(24)
        self._held[token] = held
        return held.questions(token)

    def _sweep(self, who: tuple[str, ...]) -> None:
        mine = [token for token, held in self._held.items() if held.binding[:2] == who]
        for token in mine[: max(0, len(mine) - EACH + 1)]:  # else one who asks a lot would push out what others have
            self._held.pop(token).stop()
        now = time.monotonic()
        for token, held in list(self._held.items()):
            if held.until > now and len(self._held) < KEPT:
                break
            del self._held[token]
            held.stop()

    async def close(self) -> None:
        """Stop everything that waits."""
        tasks = [held.task for held in self._held.values() if held.task is not None]
        for task in tasks:
            task.cancel()
        self._held.clear()
        await asyncio.gather(*tasks, return_exceptions=True)
