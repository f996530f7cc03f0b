"""Starting shell commands: where a caller's commands run, inside which walls, with which variables, for how long."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.core.guard import Call, Verdict
from toolcrib.services.commands import MIB, Access, Command, Commands, Limits, NoWalls, Running
from toolcrib.services.config.values import Sandbox
from toolcrib.services.places import IN_WALLS, Environment, Places
from toolcrib.services.processes import Job, Processes, Scrub, owner_of
from toolcrib.services.vault.placeholders import Named, filtered
from toolcrib.services.vault.secrets import Secrets

BASH = ("/bin/bash", "--noprofile", "--norc", "-c")
ON_HOST = "this machine, without walls"


class Start(Struct, frozen=True, kw_only=True):
    """A command that is to be started."""

    command: str  # as it was asked for
    text: str  # as the shell gets it: with variables where it names secrets
    cwd: str = "."
    seconds: float = 30
    background: bool = False
    secrets: tuple[tuple[str, Named], ...] = ()  # each variable with the secret that it holds
    watched: bool = False


class Setting(Struct, frozen=True):
    """Where a caller's commands run."""

    sandbox: Sandbox
    host: bool

    @property
    def kind(self) -> str:
        """What a kept rule says of it: a yes for commands inside walls is none for this machine."""
        return "this machine" if self.host else IN_WALLS

    @property
    def words(self) -> str:
        """As a person reads it."""
        if self.host:
            return ON_HOST
        net = "with the network" if self.sandbox.network else "no network"
        return f"{IN_WALLS}, {net}, workspace {self.sandbox.access}"

    def seconds(self, asked: float, *, background: bool) -> float:
        """How long a command may take."""
        sandbox = self.sandbox
        if background:
            return sandbox.background_seconds
        return min(asked, sandbox.host_seconds if self.host else sandbox.seconds)


class Shell:
    """Starts what was checked and agreed to."""

    def __init__(
        self,
        commands: Commands,
        places: Places,
        sandbox: Sandbox,
        env: Environment,
        *,
        secrets: Secrets,
        scrub: Scrub,
        processes: Processes,
    ) -> None:
        self.processes = processes
        self._commands = commands
        self.places = places
        self.sandbox = sandbox
        self.env = env
        self._secrets = secrets
        self._scrub = scrub

    async def start(self, call: Call, wanted: Start) -> Job:
        """Start a command. The record of the call says where it runs."""
        setting = setting_of(self.sandbox, call.caller)
        if not wanted.background:
            running, where = await self._started(call, wanted, setting)
            return self._job("", wanted, running, where)
        with self.processes.admit(call.caller) as keep:
            running, where = await self._started(call, wanted, setting)
            return keep(lambda id_: self._job(id_, wanted, running, where))

    async def _started(self, call: Call, wanted: Start, setting: Setting) -> tuple[Running, str]:
        place = self.places.of(call.caller)
        folder = self.places.folder(place, wanted.cwd)
        env = self.env(host=setting.host, workspace=place.workspace)
        given = {variable: filtered(one, await self._value(call, one.name)) for variable, one in wanted.secrets}
        where = ON_HOST if setting.host else (await self._commands.walls()).name
        call.notes.append(Verdict("note", "unsafe_host" if setting.host else "sandbox", f"it ran in {where}"))
        sandbox = setting.sandbox
        running = await self._commands.start(
            Command(
                argv=(*BASH, wanted.text),
                workspace=place.workspace,
                cwd=folder,
                env={**env, **given},
                access=Access(sandbox.access),
                network=sandbox.network,
                limits=Limits(
                    seconds=setting.seconds(wanted.seconds, background=wanted.background),
                    memory=sandbox.memory * MIB,
                    cpus=sandbox.cpus,
                    processes=sandbox.processes,
                ),
                hidden=place.hidden,
                key=_key(sandbox.scope, call.caller),
                stdin=wanted.background,
                unsafe_host=setting.host,
            )
        )
        return running, where

    async def close(self) -> None:
        """End what runs in the background, and everything else that was started."""
        await self.processes.close()
        await self._commands.close()

    def _job(self, id_: str, wanted: Start, running: Running, where: str) -> Job:
        job = Job(id_, wanted.command, running, self._scrub)
        job.where, job.watched = where, wanted.watched
        return job

    async def _value(self, call: Call, name: str) -> str:
        """A secret's value. That it is for this tool was seen to before."""
        value = (await self._secrets.get(name, team=call.caller.team)).value or ""
        if "\0" in value:
            raise ToolFailed(f"The secret {name!r} holds a NUL, which no variable can.", code="bad_secret")
        return value


def setting_of(sandbox: Sandbox, caller: Caller) -> Setting:
    """Where a caller's commands run. Outside of walls they run only where that is allowed in so many words."""
    own = sandbox.of(caller.agent)
    main = not caller.depth and not caller.channel and not caller.group
    host = own.mode == "off" or (own.mode == "non-main" and main)
    if host and not own.unsafe_host:
        raise NoWalls(
            f"The command was not run: sandbox.mode is {own.mode!r}, so it would run on this machine without walls, and"
            " that is not allowed.",
            hint="A person sets sandbox.mode to all, or sandbox.unsafe_host to true, in toolcrib.yaml.",
        )
    return Setting(own, host)


def variables(own: Mapping[str, str], more: Sequence[str]) -> Environment:
    """The variables of commands: a few plain ones, and those of ours that a person named."""

    def env(*, host: bool, workspace: str) -> Mapping[str, str]:
        plain = {name: own[name] for name in ("LANG", "LC_ALL", "LC_CTYPE", "TZ", *more) if name in own}
        # Walls show no home folder; a program that needs one gets what goes away with the command.
        home = own.get("HOME", workspace) if host else "/tmp"  # noqa: S108 - inside the walls it is the command's own
        path = own.get("PATH", SYSTEM_PATH) if host else SYSTEM_PATH
        return {"PATH": path, "HOME": home, "TERM": "dumb", "LANG": "C.UTF-8", "SHELL": BASH[0], **plain}

    return env


SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def _key(scope: str, caller: Caller) -> str:
    owner = owner_of(caller)
    parts = {"shared": ("shared",), "agent": ("agent", *owner[:2]), "session": ("session", *owner)}[scope]
    return "\x1f".join(parts)


def ended_badly(job: Job) -> ToolFailed | None:
    """The failure of a command that was stopped."""
    ended = job.ended
    if ended is None or ended.why not in _STOPPED:
        return None
    code, why, hint = _STOPPED[ended.why]
    text, _ = job.tail(4000)
    printed = f" Its output ended with:\n{text}" if text else " It printed nothing."
    return ToolFailed(
        f"The command was stopped after {ended.seconds:.1f} seconds: {why}.{printed}", code=code, hint=hint
    )


_STOPPED = {
    "timeout": (
        "timeout",
        "its time was over",
        "Give it a longer timeout, or start it with background; sandbox.seconds in toolcrib.yaml is the most.",
    ),
    "memory": ("out_of_memory", "it used more memory than it may", "sandbox.memory in toolcrib.yaml says how much."),
    "stopped": ("cancelled", "it was ended from outside", ""),
}
