"""JSON-RPC as MCP speaks it: messages read once, answers written around bytes that are there already."""

from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from toolcrib.core.call import Json, JsonObject
from toolcrib.services.mcp.downstream import (
    HANDSHAKE,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MODERN,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    McpFault,
)

HANDSHAKES = ("2025-03-26", "2025-06-18", HANDSHAKE)
MODERNS = (MODERN,)
MISSING_CAPABILITY = -32021
CANCELLED = -32800
RESERVED = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY = f"{RESERVED}protocolVersion", f"{RESERVED}clientCapabilities"
CLIENT_KEY, SERVER_KEY = f"{RESERVED}clientInfo", f"{RESERVED}serverInfo"
LEVEL_KEY, SUBSCRIPTION_KEY = f"{RESERVED}logLevel", f"{RESERVED}subscriptionId"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}

MOST_AT_ONCE = 100
Id = int | str
encode = msgspec.json.encode
_EMPTY = Raw(b"{}")


class Message(Struct, gc=False):
    """A request, a notification or an answer. What it carries is read by whoever it is for."""

    jsonrpc: str = ""
    id: int | str | float | UnsetType | None = UNSET
    method: str = ""
    params: Raw = _EMPTY
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class Called(Struct, gc=False):
    """The parameters of tools/call. The arguments stay bytes: the pipeline reads them."""

    name: str
    arguments: Raw = _EMPTY
    meta: JsonObject = msgspec.field(default_factory=dict, name="_meta")
    answers: Json = msgspec.field(default=None, name="inputResponses")
    state: str | None = msgspec.field(default=None, name="requestState")


_message = msgspec.json.Decoder(Message).decode
_parts = msgspec.json.Decoder(list[Raw]).decode
_called = msgspec.json.Decoder(Called).decode
_object = msgspec.json.Decoder(dict[str, Any]).decode
_any = msgspec.json.Decoder().decode
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # parts are passed over before they are read


def read(body: bytes) -> Message:
    """A message, or McpFault: no JSON, or not a message."""
    try:
        message = _message(body)
    except msgspec.ValidationError:
        raise McpFault(INVALID_REQUEST, "This is not a JSON-RPC message.") from None
    except _UNREADABLE:
        raise McpFault(PARSE_ERROR, "Parse error: the body is not JSON.") from None
    if message.jsonrpc != "2.0" or isinstance(message.id, float | None):
        raise McpFault(INVALID_REQUEST, "This is not a JSON-RPC 2.0 message.")
    if not message.method and message.result is UNSET and message.error is UNSET:
        raise McpFault(INVALID_REQUEST, "The message has neither a method nor a result.")
    return message


def read_batch(body: bytes) -> list[Message]:
    """Several messages in one body."""
    try:
        parts = _parts(body)
    except _UNREADABLE:
        raise McpFault(PARSE_ERROR, "Parse error: the body is not JSON.") from None
    if not parts or len(parts) > MOST_AT_ONCE:
        raise McpFault(INVALID_REQUEST, f"A batch has 1 to {MOST_AT_ONCE} messages.")
    return [read(bytes(part)) for part in parts]


def called(params: Raw) -> Called:
    """The parameters of tools/call."""
    try:
        return _called(params)
    except _UNREADABLE as error:
        raise McpFault(INVALID_PARAMS, f"Invalid params: {error}") from None


def data_of(raw: Raw) -> JsonObject:
    """Parameters or a result as data."""
    try:
        return _object(raw) if bytes(raw) != b"null" else {}
    except _UNREADABLE as error:
        raise McpFault(INVALID_PARAMS, f"Invalid params: {error}") from None


def as_object(value: object) -> JsonObject:
    """The value if it is an object; an empty one otherwise."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def any_of(raw: Raw) -> Json:
    """Whatever stands there."""
    try:
        return _any(raw)
    except _UNREADABLE as error:
        raise McpFault(INVALID_PARAMS, f"Invalid params: {error}") from None


def answer(id_: Id, result: bytes) -> bytes:
    """A result on its way out."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(id_), result)


def refusal(id_: Id | None, fault: McpFault) -> bytes:
    """An error on its way out."""
    error: JsonObject = {"code": fault.number, "message": fault.message}
    if fault.given is not None:
        error["data"] = fault.given
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (encode(id_), encode(error))


def notification(method: str, params: JsonObject) -> bytes:
    """A notification on its way out."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def request(id_: Id, method: str, params: JsonObject) -> bytes:
    """A request of ours to the client."""
    return encode({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def asked_of_client(message: Message) -> bool:
    """Whether this is a client's answer to a request of ours."""
    return not message.method and (message.result is not UNSET or message.error is not UNSET)
