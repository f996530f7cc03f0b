"""From what people write about a server to a `Server`: our own keys, and those of other programs' mcp.json."""

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from toolcrib.core.errors import Problem, ToolFailed
from toolcrib.core.tool import Flow
from toolcrib.services.mcp.servers import NAME, Server, Transport

_TRANSPORTS = {
    "stdio": Transport.STDIO,
    "local": Transport.STDIO,
    "sse": Transport.SSE,
    "http": Transport.HTTP,
    "remote": Transport.HTTP,
    "streamable-http": Transport.HTTP,
    "streamablehttp": Transport.HTTP,
    "streamable_http": Transport.HTTP,
}
_WORDS = ("command", "cwd", "url", "auth")
_FLAGS = ("sandbox", "trust_hints", "accept_new")
_MAPS = ("env", "headers", "oauth")
_LEFT_OUT = frozenset(
    {"disabled", "enabled", "autoApprove", "alwaysAllow", "description", "gallery", "version", "name"}
)
_NAME = re.compile(NAME)
LONGEST = 10_000  # characters of one value


def server_of(name: str, said: Mapping[str, Any]) -> tuple[Server, list[str]]:
    """A server, and what was left out of it. Raises ToolFailed, with every problem."""
    problems: list[str] = []
    if not _NAME.fullmatch(name):
        problems.append(f"{name[:80]!r} cannot be its name: use up to 64 letters, digits, '_', '-' and '.'")
    given = {key: value for key, value in said.items() if value is not None}
    fields: dict[str, Any] = {"name": name}
    kind = given.pop("transport", None) or given.pop("type", None)
    given.pop("type", None)
    fields["transport"] = _transport(kind, given, problems)
    fields.update({key: _text(key, given.pop(key), problems) for key in _WORDS if key in given})
    fields.update({key: given.pop(key) is True for key in _FLAGS if key in given})
    fields.update({key: _mapping(key, given.pop(key), problems) for key in _MAPS if key in given})
    _rest(given, fields, problems)
    left = [f"{key!r} was left out" for key in sorted(given) if key in _LEFT_OUT or key not in Server.__struct_fields__]
    server = Server(name=name) if problems else msgspec.convert(fields, Server)
    if not problems:
        _check(server, problems)
    if problems:
        raise wrong(name, problems)
    return server, left


def wrong(name: str, problems: list[str]) -> ToolFailed:
    """The refusal of a server that cannot be."""
    told = [{"path": "server", "expected": one} for one in problems]
    return ToolFailed(
        f"The MCP server {name[:80]!r} was not saved: {'; '.join(problems)}.",
        code="bad_mcp_server",
        hint="" if _NAME.fullmatch(name) is None else "Give it a command with args and env, or a url with headers.",
        data={"problems": told},
    )


def problems_of(error: ToolFailed, where: str) -> list[Problem]:
    """The same for a configuration."""
    return [Problem(where, error.message, error.hint)]


def _transport(kind: object, given: Mapping[str, Any], problems: list[str]) -> Transport:
    if kind is None:
        return Transport.HTTP if given.get("url") else Transport.STDIO
    found = _TRANSPORTS.get(str(kind).lower())
    if found is None:
        problems.append(f"its type {str(kind)[:40]!r} is none of stdio, sse and http")
    return found or Transport.STDIO


def _text(key: str, value: object, problems: list[str]) -> str:
    if isinstance(value, str) and len(value) <= LONGEST and "\0" not in value:
        return value
    problems.append(f"its {key} is no text")
    return ""


def _mapping(key: str, value: object, problems: list[str]) -> dict[str, str]:
    if not isinstance(value, Mapping):
        problems.append(f"its {key} is no mapping")
        return {}
    found: dict[str, str] = {}
    for name, part in cast("Mapping[object, object]", value).items():
        if part is None:
            continue
        plain = str(part).lower() if isinstance(part, bool) else str(part)
        if not str(name) or "=" in str(name) or "\0" in f"{name}{plain}" or isinstance(part, list | dict):
            problems.append(f"its {key} has {str(name)[:40]!r}, which cannot be")
        found[str(name)] = plain
    return found


def _rest(given: dict[str, Any], fields: dict[str, Any], problems: list[str]) -> None:
    args = given.pop("args", ())
    if isinstance(args, list | tuple) and all(isinstance(one, str | int | float) for one in cast("list[Any]", args)):
        fields["args"] = tuple(map(str, cast("list[Any]", args)))
    else:
        problems.append("its args are no list of texts")
    keep = given.pop("keep", "shared")
    if keep not in {"shared", "user", "session"}:
        problems.append("its keep is none of shared, user and session")
    fields["keep"] = keep
    for key, most in (("seconds", 3600), ("at_once", 1000)):
        value = given.pop(key, None)
        if value is None:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= most:
            problems.append(f"its {key} is no number up to {most}")
        else:
            fields[key] = int(value) if key == "at_once" else float(value)
    flow = given.pop("flow", None)
    known = {one.value for one in Flow}
    if flow is None:
        return
    if not isinstance(flow, list | tuple) or not set(cast("list[str]", flow)) <= known:
        problems.append(f"its flow is no list of {', '.join(sorted(known))}")
    else:
        fields["flow"] = tuple(cast("list[str]", flow))


def _check(server: Server, problems: list[str]) -> None:
    local = server.transport is Transport.STDIO
    if local and not server.command.strip():
        problems.append("it has neither a command nor a url")
    if "://" in server.command:
        problems.append("its command is an address; addresses begin with https:// or http://")
    if server.command and server.url:
        problems.append("it has a command and a url; only one of them can be")
    if not local and not server.url.startswith(("http://", "https://")):
        problems.append("its url does not begin with https:// or http://")
    if server.auth not in {"", "none", "oauth"}:
        problems.append("its auth is neither oauth nor none")
