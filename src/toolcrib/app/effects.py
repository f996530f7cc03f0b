"""What a call that waits for a person would do: the lines of a file that it changes, the parts of a command.

It reads and runs nothing but what is needed to show it, and what it shows is scrubbed.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff
from typing import Any, cast

import msgspec
from msgspec import Struct

from toolcrib.app.crib import Crib
from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolError
from toolcrib.safety.edits import Replacement, apply_all
from toolcrib.safety.shell import judge
from toolcrib.safety.text import decode
from toolcrib.services.approvals.requests import ApprovalRequest
from toolcrib.services.content.files import Workspaces

LINES_SHOWN = 400
AROUND = 3


class Line(Struct, frozen=True):
    """One line of a difference: what sort it is, and its text."""

    sort: str  # "ok" added, "bad" taken out, "at" where, "" as it was
    text: str


class Effects(Struct, frozen=True, kw_only=True):
    """What would change, as far as it can be known before."""

    path: str = ""
    creates: bool = False
    lines: tuple[Line, ...] = ()
    cut: bool = False  # there is more than is shown
    added: int = 0
    removed: int = 0
    parts: tuple[str, ...] = ()  # the commands that a command consists of
    trouble: str = ""  # why it cannot be shown, or would fail


async def effects(crib: Crib, request: ApprovalRequest) -> Effects:
    """What the call of a request would change, looked at now."""
    found: object = msgspec.json.decode(request.arguments)
    arguments = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if isinstance(command := arguments.get("command"), str) and request.code:
        return _command(command, request)
    after = _after(arguments)
    if after is None or not crib.services:
        return Effects()
    caller = Caller(agent=request.agent, session=request.session, user=request.user, workspace=request.workspace)
    return await _file(crib, caller, str(arguments["path"]), after)


def _command(text: str, request: ApprovalRequest) -> Effects:
    folder = request.binding.get("folder", "")
    judged = judge(text, cwd=folder, workspace=request.workspace)
    return Effects(parts=tuple(shlex.join(words) for words in judged.ran))


def _after(arguments: Mapping[str, Any]) -> Callable[[str], str] | None:
    """What makes the new content of a file out of the old one, where these are the arguments of such a call."""
    if not isinstance(arguments.get("path"), str):
        return None
    if isinstance(content := arguments.get("content"), str):
        return lambda _: content
    several = arguments.get("edits")
    if isinstance(several, list):
        asked = [_replacement(cast("dict[str, Any]", one)) for one in cast("list[object]", several)]
    elif "oldText" in arguments:
        asked = [_replacement(arguments)]
    else:
        return None
    return lambda old: apply_all(old, asked)[0]


def _replacement(one: Mapping[str, Any]) -> Replacement:
    return Replacement(str(one.get("oldText", "")), str(one.get("newText", "")), bool(one.get("replaceAll", False)))


async def _file(crib: Crib, caller: Caller, path: str, after: Callable[[str], str]) -> Effects:
    workspaces = cast("Workspaces", crib.services[Workspaces])
    old, creates = "", False
    try:
        decoded = decode((await workspaces.of(caller).read(path)).data)
        if decoded is None:
            return Effects(path=path, trouble="What is there now is no text, so the change cannot be shown.")
        old = decoded.content
    except ToolError as error:
        creates = error.as_fault().code == "not_found"
        if not creates:
            return Effects(path=path, trouble=error.message)
    try:
        new = after(old)
    except ToolError as error:
        return Effects(path=path, trouble=f"It would fail as things are now: {error.message}")
    return _difference(path, crib.scrub(old).splitlines(), crib.scrub(new).splitlines(), creates=creates)


def _difference(path: str, old: Sequence[str], new: Sequence[str], *, creates: bool) -> Effects:
    lines: list[Line] = []
    for text in list(unified_diff(old, new, n=AROUND, lineterm=""))[2:]:
        sort = {"+": "ok", "-": "bad", "@": "at"}.get(text[:1], "")
        lines.append(Line(sort, text))
    return Effects(
        path=path,
        creates=creates,
        lines=tuple(lines[:LINES_SHOWN]),
        cut=len(lines) > LINES_SHOWN,
        added=sum(line.sort == "ok" for line in lines),
        removed=sum(line.sort == "bad" for line in lines),
    )
