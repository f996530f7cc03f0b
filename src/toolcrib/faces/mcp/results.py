"""Outcomes as results of tools/call: what a server gave goes on as it came."""

import base64
from typing import Any, cast

import msgspec

from toolcrib.core.call import Attachment, Json, JsonObject, Outcome
from toolcrib.faces.mcp.wire import encode
from toolcrib.services.mcp.downstream import INVALID_PARAMS, McpFault

ERROR_KEY = "toolcrib/error"
_PLAIN = b'{"content":[{"type":"text","text":%b}]%b}'
_MODERN = b',"resultType":"complete"'


def rendered(outcome: Outcome, *, modern: bool) -> bytes:
    """The result of a call. Raises McpFault where the era has an error for it."""
    wire = outcome.wire
    if wire is not None:
        return encode(of_era(cast("JsonObject", wire), modern=modern))
    if outcome.error is not None:
        return _failed(outcome, modern=modern)
    if outcome.structured is None and not outcome.attachments:
        return _PLAIN % (encode(outcome.text), _MODERN if modern else b"")
    told: JsonObject = {"content": [{"type": "text", "text": outcome.text}, *map(_block, outcome.attachments)]}
    structured: Any = msgspec.to_builtins(outcome.structured)
    if isinstance(structured, dict):
        told["structuredContent"] = structured
    return encode(of_era(told, modern=modern))


def of_era(result: JsonObject, *, modern: bool) -> JsonObject:
    """A result in the words of an era: the newer one says of each that it is complete."""
    if modern:
        return result if "resultType" in result else {**result, "resultType": "complete"}
    if "resultType" in result:
        return {key: value for key, value in result.items() if key != "resultType"}
    return result


def _failed(outcome: Outcome, *, modern: bool) -> bytes:
    error = outcome.error
    if error is None:  # pragma: no cover - whoever calls this has looked
        return b"{}"
    if error.code == McpFault.code:
        raise fault_of(error.message, error.data)
    if error.code == "unknown_tool":
        raise McpFault(INVALID_PARAMS, f"Unknown tool: {error.message} {error.hint}".rstrip(), error.as_json())
    told: JsonObject = {
        "content": [{"type": "text", "text": outcome.text}],
        "isError": True,
        "_meta": {ERROR_KEY: error.as_json()},
    }
    return encode(of_era(told, modern=modern))


def fault_of(message: str, data: JsonObject) -> McpFault:
    """A server's own error, as it gave it."""
    number: Json = data.get("number")
    return McpFault(number if isinstance(number, int) else INVALID_PARAMS, message, data.get("data"))


def _block(one: Attachment) -> JsonObject:
    """Something that goes along, as content."""
    kind = one.media_type.partition("/")[0]
    if one.data and kind in {"image", "audio"}:
        return {"type": kind, "data": base64.b64encode(one.data).decode(), "mimeType": one.media_type}
    uri = one.uri or f"attachment:{one.name}"
    if not one.data:
        return {"type": "resource_link", "uri": uri, "name": one.name, "mimeType": one.media_type}
    inner: JsonObject = {"uri": uri, "mimeType": one.media_type}
    if kind == "text":
        inner["text"] = one.data.decode("utf-8", "replace")
    else:
        inner["blob"] = base64.b64encode(one.data).decode()
    return {"type": "resource", "resource": inner}
