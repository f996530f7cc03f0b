"""Landlock: a process takes away its own rights over files, ports and signals, for good and for its children."""

import ctypes
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from toolcrib.machine.sandbox.launch import Fence

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every architecture
EXECUTE, WRITE, READ, LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _DEVICE = 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE | READ | _TRUNCATE | _DEVICE  # the rest means something for folders only
_TCP = 3
SOCKETS, SIGNALS = 1, 2
_UNTIL = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # since which version which rights


@cache
def _call() -> Callable[..., int]:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    return call


def _made(number: int, *arguments: int | bytes | None) -> int:
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = _call()(ctypes.c_long(number), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


@cache
def version() -> int:
    """Which Landlock this kernel has; 0: none, or it is switched off."""
    try:
        return _made(_CREATE, None, 0, 1)
    except OSError:
        return 0


def files() -> int:
    """Every right over files that this kernel knows."""
    return next((mask for since, mask in sorted(_UNTIL.items(), reverse=True) if version() >= since), 0)


def tcp() -> int:
    """Rights over TCP ports, where it knows them."""
    return _TCP if version() >= 4 else 0


def scopes() -> int:
    """Signals and abstract sockets, where it can keep them inside."""
    return SOCKETS | SIGNALS if version() >= 6 else 0


def rehearse() -> None:
    """Make a fence and let go of it: the first time costs a process most."""
    with suppress(OSError):
        os.close(_made(_CREATE, struct.pack("=QQQ", OF_FILES, 0, 0)[:8], 8, 0))


def enter(fence: Fence) -> None:
    """Stand inside the fence from now on. It needs no_new_privs."""
    size = 24 if version() >= 6 else 16 if version() >= 4 else 8
    attributes = struct.pack("=QQQ", fence.files, fence.network, fence.scopes)[:size]
    ruleset = _made(_CREATE, attributes, size, 0)
    for path, rights in fence.rules:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # not on this system, or gone since: what is not there needs no opening
        allowed = rights & fence.files
        if not os.path.isdir(f"/proc/self/fd/{place}"):
            allowed &= OF_FILES
        _made(_ADD, ruleset, 1, struct.pack("=Qi", allowed, place), 0)
        os.close(place)
    _made(_RESTRICT, ruleset, 0)
    os.close(ruleset)
