"""Control groups: limits for a program and all that it starts together. Version 1 and 2, where we may make them."""

import os
import signal
import time
from contextlib import suppress

# controller -> where its groups are made; "unified" stands for all of them (version 2)
Bases = dict[str, str]
_CONTROLLERS = ("pids", "memory", "cpu")
_PERIOD = 100_000  # microseconds
_PATIENCE = 5.0
_PREFIX = "toolcrib-"


def find(text: str, mounts: str) -> Bases:
    """Where groups can be made: our own group or one above it. Takes /proc/self/cgroup and /proc/self/mountinfo."""
    own = {
        name: path for line in text.splitlines() for _, names, path in [line.split(":", 2)] for name in names.split(",")
    }
    found: Bases = {}
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        root, place = left.split(" ")[3:5]
        if kind == "cgroup2" and not found:
            found.update(_unified(place, _below(own.get("", "/"), root)))
        elif kind == "cgroup":
            for name in set(_CONTROLLERS) & set(options.split(",")):
                folder = next((one for one in (place + _below(own.get(name, "/"), root), place) if _ours(one)), "")
                if folder:
                    found[name] = folder
    return found


def _below(path: str, root: str) -> str:
    return (path if root == "/" else path.removeprefix(root)).rstrip("/")


def _unified(place: str, path: str) -> Bases:
    """The nearest group that lends its controllers to groups below it, and whose members we may move."""
    while True:
        folder = place + path
        with suppress(OSError):
            lent = _read(f"{folder}/cgroup.subtree_control").split()
            if {"pids", "memory"} <= set(lent) and _ours(folder):
                return {"unified": folder}
        if not path:
            return {}
        path = path.rpartition("/")[0]


def _ours(folder: str) -> bool:
    return os.access(folder, os.W_OK) and os.access(f"{folder}/cgroup.procs", os.W_OK)


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _write(path: str, value: float | str) -> None:
    with open(path, "w") as file:
        file.write(str(value))


def name() -> str:
    """A new name for a group of this process. Numbers of processes come again: by themselves they name nothing."""
    return f"{_PREFIX}{os.getpid()}-{os.urandom(8).hex()}"


def sweep(bases: Bases) -> None:
    """Take away what processes of ours left behind that were killed. A group with members stays."""
    for base in bases.values():
        for one in _listed(base):
            owner = one.removeprefix(_PREFIX).partition("-")[0]
            if one.startswith(_PREFIX) and not os.path.exists(f"/proc/{owner}"):
                with suppress(OSError):
                    os.rmdir(f"{base}/{one}")


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


class Group:
    """One group in every controller that there is; nothing happens in one that could not be made."""

    def __init__(self, bases: Bases, name: str) -> None:
        self.folders = {controller: f"{base}/{name}" for controller, base in bases.items()}
        for controller, folder in list(self.folders.items()):
            try:
                os.mkdir(folder)
            except OSError:
                del self.folders[controller]

    def holds(self, controller: str) -> bool:
        return controller in self.folders or "unified" in self.folders

    def join(self) -> None:
        """Put the calling process, which has one thread, into it.

        Moving a thread that is the caller takes no lock; moving a process would stop every fork on the machine.
        """
        for controller, folder in self.folders.items():
            try:
                _write(f"{folder}/{'cgroup.procs' if controller == 'unified' else 'tasks'}", 0)
            except OSError:
                if controller != "cpu":  # it takes no process that runs in real time
                    raise

    def limit(self, *, memory: int, processes: int, cpus: float) -> None:
        """Bound what its members use together."""
        quota = max(1_000, int(cpus * _PERIOD))
        for controller, folder in self.folders.items():
            if controller in {"pids", "unified"}:
                _write(f"{folder}/pids.max", processes)
            if controller == "memory":
                _write(f"{folder}/memory.limit_in_bytes", memory)
                with suppress(OSError):  # kernels without accounting of swap have no such file
                    _write(f"{folder}/memory.memsw.limit_in_bytes", memory)
            if controller == "cpu":
                _write(f"{folder}/cpu.cfs_period_us", _PERIOD)
                _write(f"{folder}/cpu.cfs_quota_us", quota)
            if controller == "unified":
                _write(f"{folder}/memory.max", memory)
                for name, value in (("memory.swap.max", 0), ("memory.oom.group", 1), ("cpu.max", f"{quota} {_PERIOD}")):
                    with suppress(OSError):  # swap and processor time are lent apart
                        _write(f"{folder}/{name}", value)

    def starved(self) -> bool:
        """Whether the kernel ended a member because there was no more memory for them."""
        name = "memory.events" if "unified" in self.folders else "memory.oom_control"
        folder = self.folders.get("unified") or self.folders.get("memory")
        with suppress(OSError):
            if folder:
                return any(
                    line.startswith("oom_kill ") and line.split()[1] != "0"
                    for line in _read(f"{folder}/{name}").splitlines()
                )
        return False

    def members(self) -> set[int]:
        found: set[int] = set()
        for folder in self.folders.values():
            with suppress(OSError):
                found.update(map(int, _read(f"{folder}/cgroup.procs").split()))
        return found

    def deserted(self) -> bool:
        """Whether all that was in it has ended, so that nothing of it can run any more. Without a group: not known."""
        folder = self.folders.get("unified") or self.folders.get("pids")
        try:
            return bool(folder) and not _read(f"{folder}/cgroup.procs")
        except OSError:
            return False

    def shut(self) -> None:
        """Nobody in it can start another from now on."""
        for folder in self.folders.values():
            with suppress(OSError):
                _write(f"{folder}/pids.max", 0)

    def end(self) -> None:
        """Take it away, and whoever is still in it."""
        until = time.monotonic() + _PATIENCE
        while self.folders and time.monotonic() < until:
            for controller, folder in list(self.folders.items()):
                with suppress(OSError):
                    os.rmdir(folder)
                    del self.folders[controller]
            for pid in self.members():
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if self.folders:
                time.sleep(0.001)
