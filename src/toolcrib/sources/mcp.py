"""Tools of MCP servers: made of pinned definitions, run by a request to the server.

The result is handed on as it came, as the outcome's `wire`; what a model reads is written off it once it is scrubbed.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from toolcrib.core.call import Attachment, Caller, JsonObject, Result
from toolcrib.core.guard import Call
from toolcrib.core.tool import Effect, Flow, Tool, Traits
from toolcrib.services.mcp.arguments import ForeignArguments
from toolcrib.services.mcp.aside import BINARY, laid_aside, put_back, size_of
from toolcrib.services.mcp.downstream import INPUT_REQUIRED, LINK, Downstreams, NotKnown
from toolcrib.services.mcp.names import other_name
from toolcrib.services.mcp.servers import Keep, Pin, Server

_FLOWS = frozenset({Flow.UNTRUSTED, Flow.SENDS})
_encode = msgspec.json.encode
_SPARE = 5.0  # seconds that the pipeline waits longer than the session, whose words are better
Identity = Callable[[Caller], str]


class McpArguments(ForeignArguments):
    """A foreign schema, and the whole definition that it stands in."""

    def __init__(self, name: str, pin: Pin) -> None:
        super().__init__(name, pin.definition.get("inputSchema") or {"type": "object"})
        self.pin = pin


def definition_of(tool: Tool) -> JsonObject | None:
    """The definition as its server gave it; None for a tool of another source."""
    arguments = tool.arguments
    return arguments.pin.definition if isinstance(arguments, McpArguments) else None


def pin_of(tool: Tool) -> Pin | None:
    """The pin of an MCP tool: its server, and the name that the server gives it."""
    return tool.arguments.pin if isinstance(tool.arguments, McpArguments) else None


def mcp_tool(server: Server, pin: Pin, downstreams: Downstreams, identity: Identity, *, condition: str = "") -> Tool:
    """A tool that asks a server."""
    words = pin.definition.get("description") or pin.definition.get("title") or f"{pin.tool} of {server.name}."

    async def body(call: Call, /, **arguments: object) -> Result:
        session = await downstreams.get(server.name, identity(call.caller))
        link = LINK.get()
        params: JsonObject = {"name": pin.tool, "arguments": arguments}
        if link is not None:
            if any(note.action == "ask" for note in call.notes):
                link.hold()
            params = {**link.extra, **params}
        try:
            wire = await session.request("tools/call", params, link=link, seconds=server.seconds)
        except NotKnown:
            if not reads:
                raise
            wire = await session.request("tools/call", params, link=link, seconds=server.seconds)
        return as_result(wire)

    traits = traits_of(server, pin.definition, condition)
    reads = traits.effect is Effect.READ  # then it may be asked twice
    return Tool(
        name=pin.name,
        domain="mcp",
        about=str(words),
        body=body,
        arguments=McpArguments(pin.name, pin),
        traits=traits,
        aliases=other_name(server.name, pin.tool),
        source="mcp",
        origin=server.name,
        needs=(Call,),
    )


def traits_of(server: Server, definition: JsonObject, condition: str = "") -> Traits:
    """How a tool behaves. Its own hints make it stricter; they loosen only where a person trusts the server."""
    given = definition.get("annotations")
    hints: Mapping[str, Any] = cast("Mapping[str, Any]", given) if isinstance(given, dict) else {}
    read_only = hints.get("readOnlyHint") is True
    effect = Effect.WRITE
    if server.trust_hints and read_only:
        effect = Effect.READ
    elif hints.get("destructiveHint") is True:
        effect = Effect.DESTROY
    return Traits(
        effect=effect,
        parallel=server.trust_hints and read_only,
        flow=_FLOWS if server.flow is None else frozenset(map(Flow, server.flow)),
        seconds=server.seconds + _SPARE,
        condition=condition,
    )


def identity_for(server: Server, overrides: Callable[[str], bool]) -> Identity:
    """Whose session a caller uses: the one of all, its user's, its own, or its agent's where a grant has settings."""

    def identity(caller: Caller) -> str:
        parts: list[str] = []
        if overrides(caller.agent):
            parts.append(f"agent:{caller.agent}")
        if server.keep is Keep.USER:
            parts.append(f"user:{caller.user}")
        elif server.keep is Keep.SESSION:
            parts.append(f"session:{caller.agent}/{caller.session}")
        return " ".join(parts)

    return identity


def as_result(wire: JsonObject) -> Result:
    """A result of tools/call. Bytes in it are laid aside while the rest is scrubbed, and put back as they were."""
    content = wire.get("content")
    if not isinstance(content, list) or all(map(_is_text, cast("list[Any]", content))):
        return Result(wire=wire, read=_read, size=size_of(wire))
    bare, kept = laid_aside(wire)
    return Result(wire=bare, read=lambda clean: _read(put_back(clean, kept)), size=len(_encode(bare)))


def _is_text(block: Any) -> bool:  # noqa: ANN401
    """Whether a block of content is words, and holds no bytes."""
    return isinstance(block, dict) and cast("JsonObject", block).get("type") == "text"


def _read(wire: JsonObject) -> Result:
    """What a model reads of a result, and what goes along with it."""
    if wire.get("resultType") == INPUT_REQUIRED:
        return Result(text="The server needs an answer before it can go on.", structured=wire, wire=wire)
    words: list[str] = []
    attachments: list[Attachment] = []
    for block in wire.get("content") or ():
        if isinstance(block, dict):
            _tell(cast("JsonObject", block), words, attachments)
    structured = wire.get("structuredContent")
    return Result(
        text="\n".join(words) or ("" if structured is None else _json(structured)),
        structured=structured,
        attachments=tuple(attachments),
        failed="tool_failed" if wire.get("isError") is True else "",
        wire=wire,
    )


def _tell(block: JsonObject, words: list[str], attachments: list[Attachment]) -> None:
    kind = block.get("type")
    if kind == "text":
        words.append(str(block.get("text", "")))
    elif kind in BINARY:
        media = str(block.get("mimeType", ""))
        attachments.append(Attachment(str(kind), media, _decoded(block.get("data"))))
        words.append(f"[{kind} {media}]")
    elif kind == "resource_link":
        words.append(f"[{block.get('name', 'resource')}: {block.get('uri', '')}]")
    elif kind == "resource" and isinstance(block.get("resource"), dict):
        inner = cast("JsonObject", block["resource"])
        uri, media = str(inner.get("uri", "")), str(inner.get("mimeType", ""))
        if isinstance(inner.get("text"), str):
            words.append(f"[{uri}]\n{inner['text']}")
        else:
            attachments.append(
                Attachment(uri.rsplit("/", 1)[-1] or "resource", media, _decoded(inner.get("blob")), uri)
            )
            words.append(f"[{uri} {media}]".strip())


def _decoded(data: object) -> bytes:
    try:
        return base64.b64decode(str(data or ""))
    except (binascii.Error, ValueError):
        return b""


def _json(value: object) -> str:
    return _encode(value).decode()
