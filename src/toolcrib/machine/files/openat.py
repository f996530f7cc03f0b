"""openat2(2): one system call that opens a path and cannot leave the directory it starts from."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache

_NUMBER = 437  # the same on every architecture that Python runs on
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_TRIES = 64  # the kernel asks to try again when something is renamed just then


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _how(flags: int) -> _How:
    return _How(flags, 0, _BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS)


@cache
def _syscall() -> Callable[..., int]:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    call.restype = ctypes.c_long
    return call


def open_plain(directory: int, path: str, flags: int) -> int:
    """Open a path below a directory, through no link at all. A link raises ELOOP."""
    how = _how(flags)
    name = os.fsencode(path)
    call = _syscall()
    for _ in range(_TRIES):
        fd = call(_NUMBER, directory, name, ctypes.addressof(how), 24)
        if fd >= 0:
            return fd
        number = ctypes.get_errno()
        if number not in {errno.EAGAIN, errno.EINTR}:
            raise OSError(number, os.strerror(number))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))  # the slower walk needs no such luck


@cache
def available() -> bool:
    """Whether the kernel has it and lets us: old kernels, macOS and some sandboxes do not."""
    if sys.platform != "linux":
        return False
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(open_plain(root, ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except OSError:
        return False
    finally:
        os.close(root)
    return True
