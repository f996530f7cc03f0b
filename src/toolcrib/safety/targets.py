"""Where a call goes: the host in the argument that its tool names as its target."""

from toolcrib.core.guard import Call
from toolcrib.safety.urls import BadUrl, read_url


def host_of(call: Call) -> str:
    """The host that a call speaks to; "" for a tool without a target, and for what is no web address."""
    name = call.tool.traits.target
    said = call.arguments.get(name) if name else None
    if not isinstance(said, str):
        return ""
    try:
        return read_url(said).host
    except BadUrl:
        return ""
