"""`toolcrib check path`: whether the file tools would work on a path."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import click
from msgspec import Struct

from toolcrib.app import Crib
from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.faces.cli.check.lines import Row, answer, asked_rows, plain_rows
from toolcrib.faces.cli.frame import Asked, Command, pass_asked
from toolcrib.faces.cli.opening import with_crib
from toolcrib.services.content.files import OPERATIONS, Workspaces


class Line(Struct):
    """What a program asks about on one line."""

    path: str
    op: str = "read"
    root: str = ""


def unread(why: str) -> Row:
    """What is not understood is refused."""
    return {"verdict": "deny", "code": "input", "why": why}


@click.command(
    "path",
    cls=Command,
    examples=(
        "toolcrib check path src/main.py notes/new.md --op write",
        'echo \'{"path": "a.md", "op": "write", "root": "."}\' | toolcrib check path --jsonl',
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--jsonl", is_flag=True, help='Read {"path", "op"?, "root"?} lines; write {"verdict", "why", …} lines.')
@click.option("--op", default="read", metavar="OP", help="What would be done: read, list, write, edit or delete.")
@click.option("--root", metavar="DIR", help="The workspace; without it, the one that is configured.")
@click.option("--agent", default="", metavar="NAME", help="Whose barred paths count, beside everybody's.")
@pass_asked
def command(asked: Asked, *, paths: tuple[str, ...], jsonl: bool, op: str, root: str | None, agent: str) -> int:
    """Say allow or deny about each PATH, or about each line of standard input. Nothing is read or written.

    The answer is the file tools' own: links, `..`, devices, hard links and barred paths as they would meet them now.
    A file that is not there yet is no reason to refuse. Exit code 1 if a path is denied, 2 if a line could not be read.
    """

    async def work(crib: Crib) -> int:
        workspaces = crib.services.get(Workspaces)
        assert isinstance(workspaces, Workspaces)  # noqa: S101 - a crib with the native tools has them
        loop = asyncio.get_running_loop()

        def verdict(line: Line) -> Row:
            folder = line.root or root
            caller = Caller(agent=agent, workspace=str(Path(folder).absolute()) if folder else "")
            return asyncio.run_coroutine_threadsafe(_verdict(workspaces, caller, line), loop).result()

        return await asyncio.to_thread(_answered, verdict, paths, op, jsonl, asked)

    return with_crib(asked, work)


def _answered(verdict: Callable[[Line], Row], paths: tuple[str, ...], op: str, jsonl: bool, asked: Asked) -> int:
    if jsonl:
        rows = asked_rows(Line, verdict, unread)
    else:
        rows = plain_rows(paths, lambda text: verdict(Line(text, op)), unread)
    return answer(rows, as_json=jsonl or asked.json)


async def _verdict(workspaces: Workspaces, caller: Caller, line: Line) -> Row:
    op = OPERATIONS.get(line.op.lower())
    if op is None:
        return unread(f"{line.op!r} is no operation; known are {', '.join(sorted(set(OPERATIONS.values())))}")
    try:
        await workspaces.of(caller).permits(line.path, op)
    except ToolFailed as error:
        fault = error.as_fault()
        verdict = "allow" if fault.code == "not_found" else "deny"
        return {"verdict": verdict, "code": fault.code, "why": fault.message}
    return {"verdict": "allow", "why": f"it is inside the workspace, and nothing bars it from being {_DONE[op]}"}


_DONE = {"read": "read", "list": "listed", "write": "written", "edit": "edited", "delete": "removed"}
