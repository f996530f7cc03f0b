"""Headers that repeat what stands in a stateless request. The body decides; a header that says otherwise is refused."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp.shared.inbound import decode_header_value, find_duplicated_routing_header, validate_mcp_param_headers

from toolcrib.core.call import JsonObject
from toolcrib.faces.mcp.wire import Message, as_object, data_of
from toolcrib.services.mcp.downstream import HEADER_MISMATCH, McpFault

_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def check_headers(
    raw: Sequence[tuple[bytes, bytes]],
    headers: Mapping[bytes, bytes],
    message: Message,
    schema_of: Callable[[str], JsonObject | None],
) -> None:
    """Raise McpFault where headers and body disagree."""
    if len(raw) != len(headers):
        twice = find_duplicated_routing_header((name.decode("latin-1"), "") for name, _ in raw)
        if twice is not None:
            raise McpFault(HEADER_MISMATCH, f"The header {twice} is there more than once.")
    if headers.get(b"mcp-method", b"").decode("latin-1").strip() != message.method:
        raise McpFault(HEADER_MISMATCH, "The header Mcp-Method does not say what the body does.")
    key = _NAMES.get(message.method)
    if key is None:
        return
    params = data_of(message.params)
    said = params.get(key)
    given = headers.get(b"mcp-name")
    if said is not None and decode_header_value(None if given is None else given.decode("latin-1").strip()) != said:
        raise McpFault(HEADER_MISMATCH, f"The header Mcp-Name does not say what {key!r} in the body does.")
    if message.method == "tools/call" and isinstance(said, str):
        _check_arguments(raw, params.get("arguments"), schema_of(said))


def _check_arguments(raw: Sequence[tuple[bytes, bytes]], arguments: Any, schema: JsonObject | None) -> None:  # noqa: ANN401
    if schema is None:
        return
    lines = _Lines((name.decode("latin-1"), value.decode("latin-1").strip()) for name, value in raw)
    wrong = validate_mcp_param_headers(schema, as_object(arguments), lines)
    if wrong is not None:
        raise McpFault(wrong.code, wrong.message)


class _Lines(dict[str, str]):
    """Header lines, the same name twice included, as the library looks at them."""

    def __init__(self, lines: Any) -> None:  # noqa: ANN401
        self._lines = list(lines)
        super().__init__(self._lines)

    def items(self) -> Any:  # noqa: ANN401
        return self._lines
