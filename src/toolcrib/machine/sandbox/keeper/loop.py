"""The keeper: it always has one supervisor ready, with its process already in its control group.

Forks and moves between groups then cost a start nothing: they were done before it was asked for.
"""

import gc
import json
import os
import select
import signal
import socket
import sys

from toolcrib.machine.sandbox.keeper import inner, landlock, seccomp
from toolcrib.machine.sandbox.keeper.supervisor import supervise

_UNDER_WAY = 40  # milliseconds


def main() -> None:
    """Keep one ready until the socket, given as standard input, is closed at the other end."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is for whoever started us; our end is the socket's
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    bases, user, group = json.loads(sys.argv[1])
    requests = socket.socket(fileno=os.dup(0))
    if user >= 0:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    landlock.version()
    inner.libc()
    for families in seccomp.FAMILIES:
        seccomp.program(families)
    gc.disable()  # every process of ours is short, and a collection would copy what forks share
    while True:
        read, write = os.pipe()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(read)
            supervise(requests, write, bases)
            os._exit(0)
        os.close(write)
        told = os.read(read, 1)
        if told:
            _rest(requests, read)
        os.close(read)
        if not told and not _open(requests):
            return


def _rest(requests: socket.socket, ended: int) -> None:
    """Wait until the program is under way, has ended, or somebody asks for another.

    Moving a process to its group stops every fork on the machine for a moment: not while this one starts.
    """
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    poll.register(ended, 0)  # only that the other end is closed
    poll.poll(_UNDER_WAY)


def _open(requests: socket.socket) -> bool:
    """Whether anybody may still ask."""
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    return not any(event & select.POLLHUP for _, event in poll.poll(0))
