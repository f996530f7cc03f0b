"""process."""

from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Annotated, Literal

from annotated_types import Ge, Le, MaxLen
from msgspec import Struct

from toolcrib.core.call import Result
from toolcrib.core.errors import BadArguments, ToolFailed
from toolcrib.core.guard import Call
from toolcrib.core.tool import Effect, Flow
from toolcrib.services.processes import Job
from toolcrib.services.shell import Shell
from toolcrib.tools.shell.family import family
from toolcrib.tools.shell.run import COMMAND, OUTPUT, started, wanted_of

LINES = 200
INPUT = 60_000
PATIENCE = 1.0  # seconds that poll waits for something new, so that an agent does not spin


class Wanted(Struct, frozen=True, kw_only=True):
    """The arguments of a call."""

    id: str
    command: str
    cwd: str
    data: str
    eof: bool
    offset: int | None
    limit: int


@family.tool(
    Effect.WRITE,
    flow=(Flow.PRIVATE,),
    sends_with=("command", "data"),
    runs_code=True,
    expands_secrets=True,
    whole=True,
    seconds=60,
)
async def process(
    shell: Shell,
    call: Call,
    *,
    action: Literal["list", "start", "poll", "log", "write", "kill"],
    id: Annotated[str, MaxLen(40), "Its id, for all but list and start"] = "",  # noqa: A002 - the name models know
    command: Annotated[str, MaxLen(COMMAND), "For start: bash command line"] = "",
    cwd: Annotated[str, MaxLen(4096), "For start: folder, relative to the workspace"] = ".",
    data: Annotated[str, MaxLen(INPUT), "For write: what to put on its input"] = "",
    eof: Annotated[bool, "For write: close its input after that"] = False,
    offset: Annotated[int, Ge(0), "For log: the first line"] | None = None,
    limit: Annotated[int, Ge(1), Le(2000), "For log: how many lines"] = LINES,
) -> Result:
    """Work with your background processes.

    list shows them; start begins one; poll gives its state and new output; log gives lines of its whole output, the
    last ones unless offset says where; write puts text on its input; kill ends it and all that it started.
    """
    wanted = Wanted(id=id, command=command, cwd=cwd, data=data, eof=eof, offset=offset, limit=limit)
    return await _ACTIONS[action](shell, call, wanted)


async def _list(shell: Shell, call: Call, _wanted: Wanted) -> Result:
    jobs = shell.processes.of(call.caller)
    lines = [f"{job.id}  {job.state}  {_age(job)}  {_short(job.command)}" for job in jobs]
    return Result(
        text="\n".join(lines) or "[no background processes]",
        structured={"processes": [_facts(job) for job in jobs]},
    )


async def _start(shell: Shell, call: Call, wanted: Wanted) -> Result:
    if not wanted.command:
        raise BadArguments("process: to start one takes its command.")
    return started(await shell.start(call, wanted_of(call, wanted.command, wanted.cwd, 0.0, background=True)))


async def _poll(shell: Shell, call: Call, wanted: Wanted) -> Result:
    job = shell.processes.find(call.caller, wanted.id)
    await job.moved(PATIENCE)
    text, lost = job.news()
    cut = max(0, len(text) - OUTPUT)
    lines = [f"[{job.id}: {job.state}, {_age(job)}]"]
    if lost or cut:
        lines.append(f"[{lost + cut:,} bytes of output before this are not shown]")
    lines.append(text[cut:] or "[nothing new]")
    return Result(text="\n".join(lines), structured=_facts(job))


async def _log(shell: Shell, call: Call, wanted: Wanted) -> Result:
    job = shell.processes.find(call.caller, wanted.id)
    lines = job.shown(job.kept.first).splitlines()
    first = max(0, len(lines) - wanted.limit) if wanted.offset is None else wanted.offset
    text = "\n".join(lines[first : first + wanted.limit])
    head = f"[{job.id}: {job.state}; lines {first} to {min(len(lines), first + wanted.limit)} of {len(lines)}"
    gone = f"; {job.kept.first:,} bytes before them are gone" if job.kept.first else ""
    cut = f"\n[the last {OUTPUT:,} characters of them]" if len(text) > OUTPUT else ""
    return Result(text=f"{head}{gone}]{cut}\n{text[-OUTPUT:]}", structured=_facts(job) | {"lines": len(lines)})


async def _write(shell: Shell, call: Call, wanted: Wanted) -> Result:
    job = shell.processes.find(call.caller, wanted.id)
    if job.ended is not None:
        raise ToolFailed(f"{job.id} has ended: {job.state}.", code="process_ended", hint="Nothing was written.")
    data = wanted.data.encode("utf-8", "surrogatepass")
    if data:
        await job.running.write(data)
    if wanted.eof:
        await job.running.close_input()
    closed = ", and its input is closed" if wanted.eof else ""
    return Result(text=f"{len(data):,} bytes were written to {job.id}{closed}.", structured=_facts(job))


async def _kill(shell: Shell, call: Call, wanted: Wanted) -> Result:
    job = shell.processes.find(call.caller, wanted.id)
    if job.ended is not None:
        return Result(text=f"{job.id} had ended already: {job.state}.", structured=_facts(job))
    await job.stop()
    return Result(text=f"{job.id} was ended, with all that it had started.", structured=_facts(job))


Action = Callable[[Shell, Call, Wanted], Awaitable[Result]]
_ACTIONS: Mapping[str, Action] = {
    "list": _list,
    "start": _start,
    "poll": _poll,
    "log": _log,
    "write": _write,
    "kill": _kill,
}


def _facts(job: Job) -> dict[str, object]:
    ended = job.ended
    return {
        "id": job.id,
        "state": job.state,
        "running": ended is None,
        "exit_code": ended.code if ended else None,
        "command": _short(job.command),
        "bytes": job.kept.total,
        "ran_in": job.where,
    }


def _short(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 80 else line[:79] + "…"


def _age(job: Job) -> str:
    seconds = job.ended.seconds if job.ended else monotonic() - job.began
    return f"{seconds:.1f} s"
