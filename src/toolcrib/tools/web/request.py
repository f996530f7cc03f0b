"""Speaking to services: http_request."""

from typing import Annotated, Literal

from annotated_types import Ge, Le, Len, MaxLen
from msgspec import Struct

from toolcrib.core.call import Caller, Result
from toolcrib.core.tool import Effect, Flow
from toolcrib.safety import text as files
from toolcrib.safety.charsets import media_type, read_text
from toolcrib.safety.fence import fence, plain
from toolcrib.services.http import MOST_SECONDS, SECONDS, Http, Incoming, Outgoing
from toolcrib.tools.web.family import family

BODY_CHARACTERS = 1_000_000
# What a model needs to go on. The others are long, and some of them carry credentials.
_SHOWN = (
    "content-type", "content-length", "location", "retry-after", "etag", "last-modified", "link", "allow",
    "www-authenticate", "x-ratelimit-remaining", "x-ratelimit-reset", "x-total-count",
)  # fmt: skip


class Answered(Struct, frozen=True, kw_only=True):
    """Facts about an answer, for programs. Its body stands in the text only."""

    url: str
    status: int
    headers: dict[str, str]
    bytes: int
    truncated: bool


@family.tool(
    Effect.WRITE,
    aliases=("web_fetch",),
    flow=(Flow.UNTRUSTED, Flow.SENDS),
    target="url",
    expands_secrets=True,
    seconds=MOST_SECONDS + 10,
)
async def http_request(
    http: Http,
    me: Caller,
    *,
    url: Annotated[str, Len(1, 8192), "Web address, with http:// or https://"],
    method: Annotated[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], "HTTP method"] = "GET",
    headers: Annotated[dict[str, str], "Headers by name"] | None = None,
    body: Annotated[str, MaxLen(BODY_CHARACTERS), "Body, as it is sent"] = "",
    timeout_seconds: Annotated[int, Ge(1), Le(int(MOST_SECONDS)), "How long it may take"] = int(SECONDS),
    rate_limit_key: Annotated[str, MaxLen(100), "A rate limit of the configuration to count on"] = "",
) -> Result:
    """Send an HTTP request to an outside service and read the answer.

    An error status is an answer too. Use browse_url to read a web page.
    """
    came = await http.send(
        Outgoing(
            url=url,
            method=method,
            headers=tuple((headers or {}).items()),
            body=body.encode("utf-8", "surrogatepass"),
            caller=me,
            tool="http_request",
            bucket=rate_limit_key,
            seconds=timeout_seconds,
        )
    )
    return _told(came, method)


def _told(came: Incoming, method: str) -> Result:
    shown = {name: plain(value, 300) for name in _SHOWN if (value := came.header(name))}
    told = Answered(url=came.url, status=came.status, headers=shown, bytes=len(came.body), truncated=came.cut)
    notes = [f"Status {came.status}."]
    if came.hops:
        notes.append(f"After {len(came.hops)} redirects." if len(came.hops) > 1 else "After a redirect.")
    if came.note:
        notes.append(came.note)
    if came.cut:
        notes.append(f"The body is longer than {len(came.body):,} bytes and is cut there.")
    lines = [f"{name}: {value}" for name, value in shown.items()]
    read = read_text(came.body, came.header("content-type"))
    if read is None:
        kind = plain(media_type(came.header("content-type")), 60) or "unknown type"
        notes.append(f"The body is {files.kind(came.body)} ({kind}), {len(came.body):,} bytes, and is not shown.")
    elif read.note:
        notes.append(read.note)
    elif not came.body and method != "HEAD":
        notes.append("The body is empty.")
    inside = "\n".join(lines) + (f"\n\n{read.text}" if read is not None and read.text else "")
    return Result(text=" ".join(notes) + "\n" + fence(inside, came.url), structured=told)
