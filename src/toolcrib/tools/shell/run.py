"""run_shell."""

from typing import Annotated

from annotated_types import Ge, Le, Len, MaxLen

from toolcrib.core.call import Result
from toolcrib.core.guard import Call
from toolcrib.core.tool import Effect, Flow
from toolcrib.safety.variables import with_variables
from toolcrib.services.processes import Job
from toolcrib.services.shell import Shell, Start, ended_badly
from toolcrib.tools.shell.family import family

OUTPUT = 30_000  # bytes
COMMAND = 100_000  # characters; the system takes no longer argument than 128 kB
SECONDS, MOST_SECONDS = 30, 600


@family.tool(
    Effect.WRITE,
    aliases=("exec", "bash"),
    flow=(Flow.PRIVATE,),
    runs_code=True,
    expands_secrets=True,
    whole=True,
    seconds=MOST_SECONDS + 30,
)
async def run_shell(
    shell: Shell,
    call: Call,
    *,
    command: Annotated[str, Len(1, COMMAND), "Bash command line"],
    cwd: Annotated[str, MaxLen(4096), "Folder to run it in, relative to the workspace"] = ".",
    timeout: Annotated[int, Ge(1), Le(MOST_SECONDS), "Seconds it may take"] = SECONDS,  # noqa: ASYNC109 - a tool's argument
    background: Annotated[bool, "Start it and go on; use process to read it"] = False,
) -> Result:
    """Run a shell command in the workspace and get the end of its output, with the exit code.

    Each call is a new shell. {{secret:NAME}} as an argument or in double quotes gives it a secret.
    """
    wanted = wanted_of(call, command, cwd, float(timeout), background=background)
    job = await shell.start(call, wanted)
    if background:
        return started(job)
    try:
        await job.over()
    finally:
        await job.stop(grace=0.0)
    if failure := ended_badly(job):
        raise failure
    return _told(job)


def wanted_of(call: Call, command: str, cwd: str, seconds: float, *, background: bool) -> Start:
    """What to start."""
    written = with_variables(command)
    watched = bool(call.notes)  # something was said of it: what it is given later is looked at as well
    return Start(
        command=command,
        text=written.text,
        cwd=cwd,
        seconds=seconds,
        background=background,
        secrets=written.named,
        watched=watched,
    )


def started(job: Job) -> Result:
    """What is said of a process in the background."""
    text = f"Started in the background as {job.id}. Use process with id {job.id} to read, write to or stop it."
    return Result(text=text, structured={"id": job.id, "state": job.state, "ran_in": job.where})


def _told(job: Job) -> Result:
    output, cut = job.tail(OUTPUT)
    ended = job.ended
    state = job.state[0].upper() + job.state[1:]
    seconds = ended.seconds if ended else 0.0
    lines = [f"[{state}, {seconds:.1f} s, ran in {job.where}]"]
    if cut:
        lines.append(f"[the first {cut:,} bytes of the output are not shown]")
    lines.append(output or "[no output]")
    told = {
        "exit_code": ended.code if ended else None,
        "signal": ended.signal if ended else 0,
        "seconds": round(seconds, 3),
        "cut": cut,
        "ran_in": job.where,
    }
    return Result(text="\n".join(lines), structured=told)
