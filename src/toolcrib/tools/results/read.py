"""Reading results that were too long for one answer."""

from typing import Annotated

from annotated_types import Ge, Interval, Len

from toolcrib.core.call import Caller, Result
from toolcrib.core.errors import ToolFailed
from toolcrib.core.tool import Effect
from toolcrib.safety.fence import fence, fenced
from toolcrib.services.content.results import Results
from toolcrib.tools.results.family import family


@family.tool(Effect.READ, parallel=True, whole=True)
async def read_result(
    results: Results,
    me: Caller,
    *,
    id: Annotated[str, Len(1, 128), "The id that the cut result names"],  # noqa: A002 - what cut results tell to write
    offset: Annotated[int, Ge(0), "The first character to read"] = 0,
    limit: Annotated[int, Interval(ge=1, le=16_000), "How many characters at most"] = 8_000,
) -> Result:
    """Read on in a result of yours that was cut because it was too long."""
    whole = (await results.read(id, me)).text
    if offset and offset >= len(whole):
        raise ToolFailed(
            f"The result has {len(whole):,} characters; there is nothing at {offset:,}.",
            code="bad_range",
            hint=f"Use an offset below {len(whole)}.",
        )
    end = min(offset + limit, len(whole))
    more = end if end < len(whole) else None
    goes_on = f' Go on with read_result {{"id": "{id}", "offset": {more}}}.' if more else " That is the end."
    # A piece out of the middle of a fence gets a fence of its own.
    piece = fence(whole[offset:end], f"result {id}") if fenced(whole) else whole[offset:end]
    text = f"{piece}\n\n[Characters {offset:,} to {end:,} of {len(whole):,}.{goes_on}]"
    return Result(text=text, structured={"id": id, "offset": offset, "next_offset": more, "total": len(whole)})
