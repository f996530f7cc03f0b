"""One process for each program: it keeps its time, ends all that it started, and says how it ended.

Whatever a program starts comes to be a child of its supervisor when its own parent ends, in a session of its own or
not. When the supervisor's wire closes, because we are gone, it ends the program too.
"""

import fcntl
import json
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import suppress

from toolcrib.machine.sandbox.keeper.ghosts import Ghosts
from toolcrib.machine.sandbox.keeper.groups import Bases, Group
from toolcrib.machine.sandbox.keeper.groups import name as new_name
from toolcrib.machine.sandbox.keeper.inner import become, libc, received, rehearse
from toolcrib.machine.sandbox.launch import Launch, packed, unpacked

_SUBREAPER = 36
_PATIENCE = 10.0  # how long ending everything may take before it is given up
_CLEARING = 15.0
_BLOCKS = 1 << 16
_LOOKS = 200
_PLAIN = (
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGTERM,
    signal.SIGPIPE,
    signal.SIGXFSZ,
)  # what is ignored stays so in a program


def supervise(requests: socket.socket, taken: int, bases: Bases) -> None:
    """Be ready with a process in its group, wait for a request, and see it through."""
    libc().prctl(_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    group = Group(bases, new_name())
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        for number in _PLAIN:
            signal.signal(number, signal.SIG_DFL)
        ours.close()
        requests.close()
        group.join()
        become(theirs)
    theirs.close()
    _rehearse(group)
    handles = received(requests)
    requests.close()
    if handles:
        launch, *pipes = handles
        program = _Program(child, ours, group, unpacked(launch))
        program.run(launch, pipes, taken, lost=sorted(set(bases) - set(group.folders)))
    else:
        ours.close()
        os.waitpid(child, 0)
        group.end()


def _rehearse(group: Group) -> None:
    """Do once, with nothing in it, what is done when a program is asked for."""
    rehearse()
    with suppress(OSError):
        group.limit(memory=-1, processes=1_000, cpus=1)
    group.starved()
    select.poll().register(os.pidfd_open(os.getpid()))


class _Program:
    def __init__(self, child: int, inner: socket.socket, group: Group, launch: Launch) -> None:
        self._child = child
        self._inner = inner
        self._group = group
        self._launch = launch
        self._ghosts = Ghosts()
        self._scratch = ""
        self._wire: socket.socket
        self._began = time.monotonic()
        self._inside = 0  # the first process inside bubblewrap, as it is called out here
        self._status = -1
        self._heard = b""  # what bubblewrap says of itself

    def run(self, handle: int, pipes: list[int], taken: int, lost: Sequence[str]) -> None:
        """Start it, let the keeper make the next one ready, watch it, clear up, report.

        Without a group that was counted on (`lost`) nothing starts: its limits would hold nothing.
        """
        self._wire = socket.socket(fileno=pipes[0])
        trouble = f"no control group could be made ({', '.join(lost)})" if lost else self._start(handle, pipes[1:])
        os.write(taken, b"1")  # it is closed when this has ended
        report: dict[str, object] = {"trouble": trouble}
        if not trouble:
            self._tell({"pid": self._child})
            why = self._watch()
            report = {"why": why, **self._ended(why)}
        self._inner.close()
        self._end_all()
        self._clear()
        report["seconds"] = round(time.monotonic() - self._began, 6)
        self._tell(report)
        self._group.end()  # the kernel may still be putting away what was inside; nobody has to wait for that

    def _tell(self, what: dict[str, object]) -> None:
        with suppress(OSError):  # nobody listens any more
            self._wire.send(json.dumps(what).encode())

    def _start(self, handle: int, pipes: list[int]) -> str:
        """Hand everything to the process that waits; empty, or why it could not become the program."""
        launch = self._launch
        read, write = os.pipe()
        held_read, held = os.pipe() if launch.counted == "inside" else (-1, -1)
        self._status = read
        try:
            self._prepare()
            more = [held_read] if held >= 0 else []
            launched = [self._scratched(handle), *pipes, write, *more]
            socket.send_fds(self._inner, [b"go"], launched)
        except OSError as error:
            return f"{error.errno} {error.strerror}: {error.filename or ''}"
        for one in (*pipes, write, *((held_read,) if held >= 0 else ())):
            os.close(one)
        trouble = self._inner.recv(_BLOCKS).decode()
        if not trouble and launch.walled:
            self._count_inside(held)
        return trouble

    def _prepare(self) -> None:
        launch = self._launch
        if launch.ghosts:
            self._ghosts.put(launch.workspace, launch.ghosts)
        self._group.limit(memory=launch.memory, processes=launch.processes, cpus=launch.cpus)
        if launch.counted == "user" and not self._group.holds("pids"):
            number = resource.RLIMIT_NPROC
            most = launch.processes + _tasks_of(launch.user if launch.user >= 0 else os.getuid())
            resource.prlimit(self._child, number, (most, most))
        if not self._group.holds("cpu"):
            free = sorted(os.sched_getaffinity(0))
            count = max(1, min(len(free), round(launch.cpus)))
            first = self._child % len(free)
            os.sched_setaffinity(self._child, {free[(first + i) % len(free)] for i in range(count)})

    def _scratched(self, handle: int) -> int:
        """The launch, with a folder of its own wherever it says /tmp."""
        launch = self._launch
        if not launch.scratch:
            return handle
        self._scratch = f"/tmp/toolcrib-{os.urandom(8).hex()}"  # noqa: S108 - nobody can guess it, and it must be new
        os.mkdir(self._scratch, 0o700)
        if launch.user >= 0:
            os.chown(self._scratch, launch.user, launch.group)
        env = {name: self._scratch if value == "/tmp" else value for name, value in launch.env.items()}  # noqa: S108
        env.setdefault("TMPDIR", self._scratch)
        rules = [(self._scratch if path == "/tmp" else path, rights) for path, rights in launch.fence.rules]  # noqa: S108
        return packed(launch._replace(env=env, fence=launch.fence._replace(rules=rules)))

    def _count_inside(self, held: int) -> None:
        """Learn which process is the first inside; its limit on processes counts those inside only."""
        while b"\n" not in self._heard and (piece := os.read(self._status, 4096)):
            self._heard += piece
        with suppress(ValueError, KeyError):
            self._inside = json.loads(self._heard.split(b"\n")[0])["child-pid"]
        if held >= 0:
            most = self._launch.processes + 1  # its own first process
            if self._inside:
                with suppress(OSError):
                    resource.prlimit(self._inside, resource.RLIMIT_NPROC, (most, most))
            os.write(held, b"1")
            os.close(held)

    def _watch(self) -> str:
        """Until it ends, its time is over, or we are told; what it was."""
        exited = os.pidfd_open(self._child)
        poll = select.poll()
        poll.register(exited, select.POLLIN)
        poll.register(self._wire, select.POLLIN)
        until = self._began + self._launch.seconds
        why = "exit"
        while True:
            left = until - time.monotonic()
            if left <= 0:
                return "timeout"
            ready = {fd for fd, _ in poll.poll(min(left, 3600) * 1000 + 1)}
            if exited in ready:
                return why
            if self._wire.fileno() in ready:
                if self._wire.recv(16) != b"end":
                    return "stopped"
                why = "stopped"
                with suppress(OSError):
                    os.killpg(self._inside or self._child, signal.SIGTERM)

    def _ended(self, why: str) -> dict[str, object]:
        """Its exit code or signal, if it ended by itself or did so when it was asked to."""
        pid, status = os.waitpid(self._child, os.WNOHANG)
        if why == "timeout" or not pid:
            return {}
        code = os.waitstatus_to_exitcode(status)
        if self._group.starved() and code in {-signal.SIGKILL, 128 + signal.SIGKILL}:
            return {"why": "memory", "signal": int(signal.SIGKILL)}
        if self._launch.walled:
            code = self._relayed(code)
        if code < 0:
            return {"why": "signal" if why == "exit" else why, "signal": -code}
        return {"code": code}

    def _relayed(self, code: int) -> int:
        """Bubblewrap says 128 + n for signal n, and 1 when it could not even begin."""
        fcntl.fcntl(self._status, fcntl.F_SETFL, os.O_NONBLOCK)
        with suppress(BlockingIOError):
            while piece := os.read(self._status, 4096):
                self._heard += piece
        if code > 0 and b"exit-code" not in self._heard:
            return 126
        return 128 - code if 128 < code <= 128 + signal.NSIG else code

    def _end_all(self) -> None:
        """End whatever it started and left behind, in any session."""
        until = time.monotonic() + _PATIENCE
        if _reaped():
            return
        self._group.shut()
        if self._inside:  # the kernel ends all inside with the first of them
            _kill([self._inside, self._child], signal.SIGKILL)
            for _ in range(_LOOKS):
                if self._group.deserted() or _reaped():
                    return
                signal.sigtimedwait({signal.SIGCHLD}, 0.1 / _LOOKS)
        while not _reaped() and time.monotonic() < until:
            victims = _below(os.getpid())
            _kill(victims, signal.SIGSTOP)
            _kill(victims, signal.SIGKILL)
            signal.sigtimedwait({signal.SIGCHLD}, 0.02)

    def _clear(self) -> None:
        self._ghosts.take_away(self._launch.ghosts)
        if self._launch.after:
            _run(self._launch.after, self._launch.env)
        if self._scratch:
            _remove(self._scratch)


def _run(argv: Sequence[str], env: dict[str, str]) -> None:
    """Run a program to its end, or for as long as that may take."""
    with suppress(OSError):
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        pid = os.posix_spawn(argv[0], list(argv), env, file_actions=quiet)
        poll = select.poll()
        poll.register(os.pidfd_open(pid), select.POLLIN)
        if not poll.poll(_CLEARING * 1000):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _remove(top: str) -> None:
    """A folder and all below it; no link is followed."""
    for _, folders, files, handle in os.fwalk(top, topdown=False):
        for name in (*files, *folders):
            for remove in (os.unlink, os.rmdir):  # a link to a folder counts as a folder, and is none
                with suppress(OSError):
                    remove(name, dir_fd=handle)
    with suppress(OSError):
        os.rmdir(top)


def _kill(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def _reaped() -> bool:
    """Take the ended children; whether there are no others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _below(top: int) -> list[int]:
    """Every process that stands below one."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    found, fresh = set[int](), {top}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return list(found)


def _tasks_of(user: int) -> int:
    """How many processes and threads somebody has: the kernel counts them all against the limit."""
    total = 0
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError):
                facts = os.stat(f"/proc/{name}/task")
                total += (facts.st_nlink - 2) * (facts.st_uid == user)
    return total
