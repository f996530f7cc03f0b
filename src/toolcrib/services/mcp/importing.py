"""Other programs' mcp.json: `mcpServers` of Claude, Cursor and others, `servers` with `inputs` of VS Code."""

import re
from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from toolcrib.core.errors import BadConfig, Problem, ToolFailed
from toolcrib.services.mcp.reading import server_of
from toolcrib.services.mcp.servers import Server

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_INPUT = re.compile(r"\$\{input:([A-Za-z0-9_.-]+)\}")
_OTHER = re.compile(r"\$\{[^}]*\}")
_SECRET = re.compile(r"authorization|token|secret|passw|api[_-]?key", re.IGNORECASE)
_FILLED = re.compile(r"\{\{secret:|\$\{")
_EDITORS = frozenset({"workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"})
_LISTS = ("mcpServers", "servers", "mcp_servers", "context_servers")


class Imported(Struct, frozen=True):
    """Servers, and what was changed or left out."""

    servers: tuple[Server, ...]
    notes: tuple[Problem, ...]
    off: frozenset[str] = frozenset()  # those that are switched off there: nobody approves them unseen


def read_mcp(found: object, source: str) -> Imported:
    """The servers of a file that was read as plain values. Raises BadConfig when there are none."""
    whole: Mapping[str, Any] = cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
    inner = whole.get("mcp")
    if isinstance(inner, Mapping) and not any(key in whole for key in _LISTS):
        whole = cast("Mapping[str, Any]", inner)  # VS Code's settings.json has it one level down
    key = next((key for key in _LISTS if isinstance(whole.get(key), Mapping)), "")
    if not key:
        raise BadConfig(
            [Problem("(whole)", "It has neither `mcpServers` nor `servers`.", "Is it an mcp.json?")], source
        )
    notes: list[Problem] = []
    servers: list[Server] = []
    inputs: set[str] = set()
    off: set[str] = set()
    for name, said in cast("Mapping[str, Any]", whole[key]).items():
        where = f"{key}.{name}"
        if not isinstance(said, Mapping):
            notes.append(Problem(where, "This was left out: it is no mapping."))
            continue
        plain = {part: _plain(value, where, notes, inputs) for part, value in cast("Mapping[str, Any]", said).items()}
        try:
            server, left = server_of(_name(str(name), {one.name.lower() for one in servers}, where, notes), plain)
        except ToolFailed as error:
            notes.append(Problem(where, f"This was left out. {error.message}"))
            continue
        servers.append(server)
        notes += [Problem(where, f"{one}.") for one in left]
        notes += _told_openly(server, where)
        if plain.get("disabled") is True or plain.get("enabled") is False:
            off.add(server.name)
            notes.append(Problem(where, "It is switched off there, so it waits for approval here."))
    for one in sorted(inputs):
        mend = f"Keep it with: toolcrib vault set {one}"
        notes.append(Problem("inputs", f"The input {one!r} became the secret {{{{secret:{one}}}}}.", mend))
    return Imported(tuple(servers), tuple(notes), frozenset(off))


def _told_openly(server: Server, where: str) -> list[Problem]:
    """Values that look like secrets and stand there for anybody to read."""
    mend = "Keep it with `toolcrib vault set NAME`, and write {{secret:NAME}} instead."
    said = {**server.env, **server.headers}
    named = [key for key, value in said.items() if _SECRET.search(key) and value and not _FILLED.search(value)]
    return [Problem(where, f"The value of {key} looks like a secret, and is kept as it stands.", mend) for key in named]


def _plain(value: Any, where: str, notes: list[Problem], inputs: set[str]) -> Any:  # noqa: ANN401 - any value of a file
    """A value with its variables in our form: ${VAR} stays, ${env:VAR} becomes it, an input becomes a secret."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value).items()
        return {key: _plain(part, where, notes, inputs) for key, part in entries}
    if isinstance(value, list):
        return [_plain(part, where, notes, inputs) for part in cast("list[Any]", value)]
    if not isinstance(value, str):
        return value
    inputs.update(_INPUT.findall(value))
    text = _VARIABLE.sub(r"${\1}", _INPUT.sub(r"{{secret:\1}}", value))
    if odd := [one for one in _OTHER.findall(text) if not _VARIABLE.fullmatch(one) or one[2:-1] in _EDITORS]:
        notes.append(Problem(where, f"{odd[0]} is not known here and stays as it is.", "Write what it stands for."))
    return text


def _name(name: str, taken: set[str], where: str, notes: list[Problem]) -> str:
    made = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[:60] or "server"
    free = made
    count = 2
    while free.lower() in taken:
        free, count = f"{made}-{count}", count + 1
    if free != name:
        notes.append(Problem(where, f"{name!r} became {free!r}."))
    return free


def expanded(text: str, env: Mapping[str, str]) -> str:
    """A text with ${VAR} filled in. Raises ToolFailed for one that is not set."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in env:
            raise ToolFailed(
                f"The variable {found[1]} is not set.", code="not_set", hint=f"Set {found[1]} and try again."
            )
        return env[found[1]]

    return _VARIABLE.sub(value, text)
