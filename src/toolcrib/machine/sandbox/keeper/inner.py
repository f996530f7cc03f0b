"""The last steps of a process before it becomes the program: limits, rights, walls. Nothing is undone after them."""

import ctypes
import fcntl
import os
import resource
import signal
import socket
from contextlib import suppress
from functools import cache

from toolcrib.machine.sandbox.keeper import landlock, seccomp
from toolcrib.machine.sandbox.launch import ARGS, BLOCK, FILES, FILTER, STATUS, Fence, Launch, packed, unpacked

_NO_NEW_PRIVILEGES, _SECCOMP, _DROP_BOUND, _SECURE_BITS, _CLEAR_AMBIENT, _DEATH_SIGNAL = 38, 22, 24, 28, 47, 1
_NO_ROOT = 0x0F  # user 0 gets no capabilities by being user 0, and none keeps them over a change of user; locked
_CAPABILITIES = 41
_APART = 100  # handles above the numbers that bubblewrap is told
INPUT, OUTPUT, ERRORS, OPTIONS, TOLD, HELD = range(6)  # the handles that come with the launch, after the launch itself


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


class _CapHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def received(wire: socket.socket) -> list[int]:
    """The handles that come next, which no program inherits; none: the other end is closed."""
    _, handles, _, _ = socket.recv_fds(wire, 16, 8)
    for one in handles:
        fcntl.fcntl(
            one, fcntl.F_SETFD, fcntl.FD_CLOEXEC
        )  # Python passes no flag on to the kernel that would do it at once
    return handles


def become(wire: socket.socket) -> None:
    """Wait to be told what to become, and become it. If that fails, say so on the wire and end."""
    rehearse()
    os.close(seccomp.handle("inside"))
    landlock.rehearse()
    handles = received(wire)
    if not handles:
        os._exit(0)
    launch = unpacked(handles[0])
    try:
        os.setsid()
        _limit(launch)
        _settle(launch, handles[1:])
        os.chdir(launch.cwd if not launch.walled else "/")
        if not launch.walled:
            _enclose(launch)
        program = launch.argv[0]
        os.execve(program, launch.argv, {} if launch.walled else launch.env)  # noqa: S606 - no shell is wanted
    except OSError as error:
        with suppress(OSError):
            wire.send(f"{error.errno} {error.strerror}: {error.filename or launch.argv[0]}".encode())
    except ValueError as error:  # a word that no program can be given
        wire.send(str(error).encode())
    os._exit(127)


def rehearse() -> None:
    """Read a launch that is none: what a process has done once it does again in a tenth of the time."""
    handle = packed(Launch(["true"], {"PATH": "/bin"}, "/", 1, 1, 1, 1, [(0, 0)], fence=Fence(rules=[("/", 0)])))
    unpacked(handle)
    os.close(handle)


def _limit(launch: Launch) -> None:
    for number, value in launch.limits:
        _, hard = resource.getrlimit(number)
        lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (lower, lower))


def _settle(launch: Launch, handles: list[int]) -> None:
    """Give each handle its number, take another user's place, and keep out of sockets and signals beyond."""
    apart = [_apart(one) for one in handles]
    for number in (INPUT, OUTPUT, ERRORS):
        os.dup2(apart[number], number)
    if launch.walled:
        _hand_over(launch, apart)
    if launch.user >= 0:
        os.setgroups([])
        os.setresgid(launch.group, launch.group, launch.group)
        os.setresuid(launch.user, launch.user, launch.user)
    elif os.geteuid() == 0:
        with suppress(PermissionError):  # in a user namespace that does not let groups be changed
            os.setgroups([])
    if launch.walled and (launch.fence.scopes or launch.fence.network):
        _prctl(_NO_NEW_PRIVILEGES, 1)
        landlock.enter(launch.fence)


def _hand_over(launch: Launch, apart: list[int]) -> None:
    """What bubblewrap reads and writes, under the numbers that it was told."""
    os.dup2(apart[OPTIONS], ARGS)
    os.dup2(apart[TOLD], STATUS)
    if len(apart) > HELD:
        os.dup2(apart[HELD], BLOCK)
    if launch.filter:
        os.dup2(_apart(seccomp.handle(launch.filter)), FILTER)
    for number, path in enumerate(launch.files, FILES):
        os.dup2(_apart(os.open(path, os.O_RDONLY)), number)


def _apart(handle: int) -> int:
    """The same under a number that is not told to anybody: a copy onto its own number would be closed with the rest."""
    try:
        return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, _APART)
    finally:
        os.close(handle)


def _enclose(launch: Launch) -> None:
    """The walls that a process puts round itself."""
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if not launch.private:
        return
    if os.geteuid() == 0:
        for number in range(_CAPABILITIES):
            _prctl(_DROP_BOUND, number)
        _prctl(_SECURE_BITS, _NO_ROOT)
    _prctl(_CLEAR_AMBIENT, 4)
    header = _CapHeader(0x20080522, 0)
    if libc().capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())):
        raise OSError(ctypes.get_errno(), "capabilities could not be dropped")
    if _prctl(_NO_NEW_PRIVILEGES, 1):
        raise OSError(ctypes.get_errno(), "no_new_privs could not be set")
    landlock.enter(launch.fence)
    steps = seccomp.program(launch.filter)
    if not steps or _prctl(_SECCOMP, 2, ctypes.byref(_Program(len(steps) // 8, steps))):
        raise OSError(ctypes.get_errno(), "the filter of system calls could not be set")


def _prctl(option: int, first: int, second: object = None) -> int:
    return libc().prctl(option, ctypes.c_ulong(first), second, None, None)


@cache
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)
