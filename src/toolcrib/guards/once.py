"""A call with an idempotency key runs once: the same key gives back what was recorded."""

import msgspec

from toolcrib.core.call import Outcome
from toolcrib.core.errors import ToolFailed
from toolcrib.core.guard import Call
from toolcrib.core.tool import Effect
from toolcrib.services.record.journal import ClaimState, Journal, fingerprint, scope_of

_decoder = msgspec.json.Decoder(Outcome)


class JournalOnce:
    """Idempotency over the journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def recall(self, call: Call, key: str) -> Outcome | None:
        """The recorded outcome; None when the key is fresh and claimed."""
        scope = scope_of(call.caller, call.tool.name)
        claim = await self._journal.claim(scope, key, fingerprint(call.raw))
        name = call.tool.name
        if claim.state is ClaimState.FRESH:
            return None
        if claim.state is ClaimState.REPLAY:
            return msgspec.structs.replace(_decoder.decode(claim.outcome), id=call.id, replayed=True)
        if claim.state is ClaimState.MISMATCH:
            raise ToolFailed(
                f"{name} was not called: the key {key!r} was used with other arguments.",
                code="key_reused",
                hint="Use a new key for a new call.",
            )
        if claim.state is ClaimState.RUNNING:
            raise ToolFailed(
                f"{name} was not called: a call with the key {key!r} is running.", code="in_progress", retryable=True
            )
        if call.tool.traits.effect is Effect.READ:
            return None  # a read that was cut off is simply done again
        raise ToolFailed(
            f"{name} was not called: a call with the key {key!r} was cut off, and nobody knows what it did.",
            code="unknown_outcome",
            hint="Look at what it changed; then call again with a new key if it is still needed.",
        )

    async def keep(self, call: Call, key: str, outcome: Outcome) -> None:
        """Remember what came back."""
        await self._journal.keep(scope_of(call.caller, call.tool.name), key, msgspec.json.encode(outcome))

    async def drop(self, call: Call, key: str) -> None:
        """Give the key back."""
        await self._journal.drop(scope_of(call.caller, call.tool.name), key)
