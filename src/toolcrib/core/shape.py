"""What a tool gave, made into what goes out: text for the model, text for the person, structured content.

Values are scrubbed first and the text is written after: a secret that JSON has escaped would slip past the mask.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Protocol, cast

import msgspec

from toolcrib.core.call import Attachment, Outcome, Record, Result, Status
from toolcrib.core.errors import Fault, ToolError, ToolFailed
from toolcrib.core.guard import Call
from toolcrib.core.heavy import heavy

LONGEST_WORDS = 4_000  # of what a failure says
LONGEST_NAME = 128  # of a tool's name as it was asked for
LIMIT, HEAD, TAIL = 16_000, 6_000, 2_000  # characters of a result's text
LONG = 128 * 1024  # characters of a value from which on it is shaped beside the event loop
_encode = msgspec.json.encode
_DONE = Status.DONE  # looked up once: an enum's member costs as much as the rest of a short result
_PLAIN: frozenset[type] = frozenset({int, float, bool, type(None)})


class Scrub(Protocol):
    """Takes secrets out of text that is about to leave the crib."""

    def __call__(self, text: str) -> str: ...


class Spill(Protocol):
    """Keeps a result that is too long for a prompt, whole, and gives back its id."""

    async def keep(self, call: Call, text: str) -> str: ...


class Shaper:
    """Shapes results and refusals. Nothing leaves the pipeline but through it."""

    def __init__(self, scrub: Scrub, spill: Spill | None = None, limit: int | None = None) -> None:
        self._scrub = scrub
        self._spill = spill
        self.limit = LIMIT if limit is None else limit
        self._head = min(HEAD, self.limit * 3 // 4)

    def scrub(self, text: str) -> str:
        """Text as it may leave: without secrets, and without the half characters that no encoding takes."""
        text = self._scrub(text)
        return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()

    def shaped(self, call: Call, value: Any) -> Outcome:  # noqa: ANN401 - whatever a tool gives
        """The outcome of a tool that did what was asked."""
        kind = value.__class__
        if kind in _PLAIN:
            text = _encode(value).decode()
            return Outcome(id=call.id, tool=call.tool.name, status=_DONE, text=text, structured=value)
        person: str | None = None
        structured = None
        attachments: Any = ()
        if kind is str:
            text = self.scrub(value)
        elif kind is Result:
            result = cast("Result", value)
            if result.read is not None:
                return self._wired(call, result.read, result.wire)
            structured, told = (None, "") if result.structured is None else self._told(result.structured)
            text = self.scrub(result.text) if result.text or not told else told
            person = None if result.person is None else self.scrub(result.person)
            attachments = tuple(map(self._attached, result.attachments))
        else:
            structured, text = self._told(value)
        return Outcome(
            id=call.id,
            tool=call.tool.name,
            status=_DONE,
            text=text,
            person=person,
            structured=structured,
            attachments=attachments,
        )

    def _wired(self, call: Call, read: Callable[[Any], Result], wire: object) -> Outcome:
        """An answer of another protocol: scrubbed once as a whole, and what is told is read off that."""
        clean, whole = self._told(wire)
        told = Result(text=whole) if clean is None else read(clean)
        name, more = call.tool.name, {"wire": told.wire, "attachments": told.attachments}
        if told.failed:
            outcome = self.failed(call.id, name, ToolFailed(told.text, code=told.failed), Status.FAILED)
        else:
            outcome = Outcome(id=call.id, tool=name, status=_DONE, text=told.text, structured=told.structured)
        return msgspec.structs.replace(outcome, **more)

    def _attached(self, one: Attachment) -> Attachment:
        """An attachment whose name, address and text hold no secret. What is not text goes as it is."""
        data = one.data
        if data and one.media_type.startswith("text/"):
            data = self.scrub(data.decode("utf-8", "replace")).encode()
        return Attachment(self.scrub(one.name), one.media_type, data, self.scrub(one.uri))

    def clean(self, value: Any) -> Any:  # noqa: ANN401 - any JSON-able value in, the same shape out
        """A value as plain JSON data, with the secrets taken out of every string in it."""
        return self._told(value)[0]

    def _told(self, value: Any) -> tuple[Any, str]:  # noqa: ANN401
        """The same, and as text. What only its name makes a secret, `{"password": "…"}`, shows in the whole."""
        try:
            data = self._walk(msgspec.to_builtins(value, str_keys=True, enc_hook=_foreign))
        except RecursionError:
            raise ToolFailed("What it gave is nested too deeply to be looked at.", code="bad_response") from None
        text = _encode(data).decode()
        scrubbed = self.scrub(text)
        if scrubbed == text:
            return data, text
        try:
            return msgspec.json.decode(scrubbed), scrubbed
        except msgspec.DecodeError:  # a secret that was a number: the text alone is left
            return None, scrubbed

    def _walk(self, value: Any) -> Any:  # noqa: ANN401 - plain data: what to_builtins gives is of these kinds and no others
        kind, walk = value.__class__, self._walk
        if kind is str:
            return self.scrub(value)
        if kind is dict:
            return {self.scrub(key): walk(part) for key, part in value.items()}
        return [walk(part) for part in value] if kind is list or kind is tuple else value

    def failed(self, call_id: str, tool: str, error: ToolError, status: Status) -> Outcome:
        """The outcome of a call that was refused, or did not do what was asked."""
        fault = error.as_fault()
        told = Fault(
            fault.code,
            _cut(self.scrub(fault.message)),
            _cut(self.scrub(fault.hint)) if fault.hint else "",
            fault.retryable,
            (self.clean(fault.data) or {}) if fault.data else {},
        )
        text = _encode({"error": told.as_json()}).decode()
        if len(text) > self.limit:
            told = msgspec.structs.replace(told, data={})
            text = _encode({"error": told.as_json()}).decode()
        return Outcome(id=call_id, tool=tool[:LONGEST_NAME], status=status, text=text, error=told)

    def recorded(self, record: Record) -> Record:
        """A record as whoever listens may see it."""
        given = record.tool, record.arguments.decode("utf-8", "replace"), record.verdicts
        tool, text, verdicts = told = self.scrub(given[0]), self.scrub(given[1]), tuple(map(self.scrub, given[2]))
        if told == given:
            return record
        return msgspec.structs.replace(record, tool=tool, arguments=text.encode(), verdicts=verdicts)

    async def fitted(self, call: Call, outcome: Outcome) -> Outcome:
        """A result over the limit as its head, its tail, and how to read the rest; the whole is kept."""
        whole = outcome.text
        if self._spill is None:
            spilled, how = "", "The rest is lost: this crib keeps no long results."
        else:
            spilled = await self._spill.keep(call, whole)
            how = how_to_read(call, spilled, self._head)
        head, tail = self._head, min(TAIL, self.limit // 4)
        left_out = len(whole) - head - tail
        text = f"{whole[:head]}\n\n[{left_out:,} of {len(whole):,} characters left out here. {how}]\n\n{whole[len(whole) - tail :]}"
        return msgspec.structs.replace(outcome, text=text, structured=None, spilled=spilled)


def is_long(value: Any) -> bool:  # noqa: ANN401 - whatever a tool gives
    """Whether others would notice if the event loop shaped this value."""
    kind = value.__class__
    return (kind is str and len(value) > LONG) or (kind is Result and max(value.size, len(value.text)) > LONG)


@cache
def _beside() -> Any:  # noqa: ANN401 - one thread for all: the others are for the store, which must not wait for it
    return heavy("concurrent.futures").ThreadPoolExecutor(1, "toolcrib-shape")


async def beside(work: Callable[..., Any], *given: object) -> Any:  # noqa: ANN401 - what the work gives
    """Do work that takes long where the event loop need not wait for it."""
    return await heavy("asyncio").get_running_loop().run_in_executor(_beside(), work, *given)


def _cut(text: str) -> str:
    """What a failure says of itself, within bounds: it is not spilled, and the log has the rest."""
    more = len(text) - LONGEST_WORDS
    return text if more <= 0 else f"{text[:LONGEST_WORDS]} [{more:,} more characters]"


def how_to_read(call: Call, spilled: str, start: int) -> str:
    """How this caller, with what it holds, reads a result that was cut."""
    if "read_result" in call.view:
        return f'Read it with read_result {{"id": "{spilled}", "offset": {start}}}.'
    if "read_file" in call.view:
        return f'Read it with read_file {{"path": ".toolcrib/results/{spilled}"}}.'
    return f"It is kept as result {spilled}; a person can read it."


def _foreign(value: Any) -> Any:  # noqa: ANN401
    """Values that msgspec does not know: pydantic models, mappings, and what can only be written as text."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(value, Iterator):
        return list(cast("Iterator[object]", value))
    return dict(cast("Mapping[object, object]", value)) if isinstance(value, Mapping) else str(value)
