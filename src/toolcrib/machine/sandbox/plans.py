"""From a command to what the keeper is told: one function for each kind of walls."""

import math
import os
import resource
import uuid
from collections.abc import Sequence
from typing import NamedTuple

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.sandbox import bubblewrap, docker, fences, places
from toolcrib.machine.sandbox.choice import Host
from toolcrib.machine.sandbox.launch import Fence, Launch
from toolcrib.services.commands import Access, Command, Limits

_OPEN_FILES = 4_096
_ADDRESSES = 8  # address space for each byte of memory: runtimes reserve much and use little
_LONG = 1e9  # seconds


class Someone(NamedTuple):
    """Who programs run as, when that is not us."""

    user: int = -1
    group: int = -1


OURSELVES = Someone()


class Plan(NamedTuple):
    """What is to be started, and the options of bubblewrap."""

    launch: Launch
    words: Sequence[str] = ()


class Asked(NamedTuple):
    """A command that was looked at: where it begins, and who it runs as."""

    command: Command
    cwd: str
    someone: Someone


def look_at(command: Command, host: Host) -> Asked:
    """Raises ToolFailed for what can never be started."""
    words = (*command.argv, *command.env, *command.env.values())
    if not command.argv or not command.argv[0]:
        raise ToolFailed("There is no program to start.", code="no_program")
    if any("\0" in word for word in words) or any(not name or "=" in name for name in command.env):
        raise ToolFailed(
            "A word of the command, or a name in its environment, cannot be given to a program.",
            code="bad_command",
            hint="Leave out NUL characters, and = in names of the environment.",
        )
    facts = places.workspace(command.workspace)
    cwd = places.beginning(command.workspace, command.cwd)
    owned = host.root and facts.st_uid != 0  # the owner may write there, and is not root
    return Asked(command, cwd, Someone(facts.st_uid, facts.st_gid) if owned else OURSELVES)


def walled(asked: Asked, host: Host, bwrap: str) -> Plan:
    """Inside bubblewrap."""
    command = asked.command
    covers = _covers(command)
    as_root = host.root and asked.someone.user <= 0
    inside = host.counts_inside and not host.holds("pids") and not as_root
    fence = fences.round_bubblewrap(network=command.network)
    words = bubblewrap.options(command, asked.cwd, covers, filtered=host.filtered, blocked=inside, mapped=as_root)
    families = "inside" if not command.network or fence.scopes else "inet"
    launch = _launch(asked, host)._replace(
        argv=bubblewrap.argv(bwrap, (_program(asked), *command.argv[1:])),
        walled=True,
        files=bubblewrap.copied(command),
        filter=families if host.filtered else "",
        fence=fence,
        counted="inside" if inside else "",
        ghosts=list(covers.ghosts),
    )
    return Plan(launch, words)


def fenced(asked: Asked, host: Host) -> Plan:
    """Behind Landlock."""
    command = asked.command
    launch = _launch(asked, host)._replace(
        argv=[_program(asked), *command.argv[1:]],
        filter="inet" if command.network else "closed",
        fence=fences.whole(command),
        scratch=True,
    )
    return Plan(launch)


def contained(asked: Asked, host: Host, client: str, image: str) -> Plan:
    """In a container. What is started here is the docker program, which is ours."""
    command = asked.command
    name = f"toolcrib-{uuid.uuid4().hex[:16]}"
    user = asked.someone if asked.someone.user >= 0 else Someone(os.getuid(), os.getgid())
    covers = _covers(command)
    words = docker.argv(client, image, command, asked.cwd, covers, name=name, user=f"{user.user}:{user.group}")
    launch = _launch(asked, host)._replace(
        argv=words,
        env={**command.env, **docker.client_env()},
        cwd="/",
        limits=[],
        user=-1,
        group=-1,
        private=False,
        counted="",
        ghosts=list(covers.ghosts),
        after=docker.ending(client, name),
    )
    return Plan(launch)


def plain(asked: Asked, host: Host) -> Plan:
    """No walls. Time, what it may use up, and that nothing outlives it, hold all the same."""
    program = places.program(asked.command.argv[0], asked.command.env, ("/",), asked.cwd)
    launch = _launch(asked, host)._replace(
        argv=[program, *asked.command.argv[1:]], user=-1, group=-1, private=False, fence=Fence()
    )
    return Plan(launch)


def _launch(asked: Asked, host: Host) -> Launch:
    command, limits = asked.command, asked.command.limits
    return Launch(
        argv=[],
        env=dict(command.env),
        cwd=asked.cwd,
        workspace=command.workspace,
        seconds=limits.seconds if math.isfinite(limits.seconds) else _LONG,
        processes=limits.processes,
        memory=limits.memory,
        cpus=limits.cpus,
        limits=_limits(limits, together=host.holds("memory")),
        user=asked.someone.user,
        group=asked.someone.group,
        counted="user",
    )


def _limits(limits: Limits, *, together: bool) -> list[tuple[int, int]]:
    """What each single process may use; its memory only where no control group bounds them all."""
    out = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_CPU, int(min(limits.seconds * max(limits.cpus, 1), _LONG)) + 1),
    ]
    if not together:
        out += [(resource.RLIMIT_DATA, limits.memory), (resource.RLIMIT_AS, limits.memory * _ADDRESSES)]
    return out


def _covers(command: Command) -> places.Covers:
    return places.covers(command.workspace) if command.access is Access.WRITE else places.Covers()


def _program(asked: Asked) -> str:
    command = asked.command
    own = () if command.access is Access.NONE else (command.workspace,)
    seen = (*command.readable, *own)
    return places.program(command.argv[0], command.env, seen, asked.cwd)
