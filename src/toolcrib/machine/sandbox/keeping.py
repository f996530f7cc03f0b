"""Our end of the keeper: one small process that starts programs, started itself when the first is asked for."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.sandbox.keeper import groups
from toolcrib.machine.sandbox.launch import Launch, options, packed
from toolcrib.machine.sandbox.running import LocalRunning

_PATIENCE = 10.0
# The package by its folders, without running what the package itself runs when it is imported.
_BEGIN = """
import sys, types
package = types.ModuleType("toolcrib")
package.__path__ = [sys.argv.pop(1)]
sys.modules["toolcrib"] = package
from toolcrib.machine.sandbox.keeper.loop import main
main()
"""
_PACKAGE = str(Path(__file__).parents[2])


class Keeper:
    """Starts programs. One for each event loop's worth of programs; it ends when it is let go of."""

    def __init__(self, bases: groups.Bases, user: int = -1, group: int = -1) -> None:
        self._settings = json.dumps([bases, user, group])
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None

    async def start(self, launch: Launch, words: Sequence[str], *, stdin: bool, split: bool) -> LocalRunning:
        """Start a program, with the options of bubblewrap; its standard input is empty unless it stays open."""
        pipes = _Pipes(stdin=stdin, split=split)
        told = [packed(launch), options(words)]
        try:
            self._ask([told[0], *pipes.theirs, told[1]])
        except OSError as error:
            pipes.close_ours()
            raise ToolFailed(
                f"The keeper of programs cannot be reached: {error.strerror}.", code="not_started"
            ) from None
        finally:
            for handle in told:
                os.close(handle)
            pipes.close_theirs()
        running = LocalRunning(pipes.wire, pipes.output, pipes.errors, pipes.stdin)
        try:
            await running.started()
        except asyncio.CancelledError:
            running.let_go()
            raise
        return running

    def _ask(self, handles: list[int]) -> None:
        for last in (False, True):
            requests = self._open()
            try:
                socket.send_fds(requests, [b"go"], handles)
            except OSError:
                self._drop()
                if last:
                    raise
            else:
                return

    def _open(self) -> socket.socket:
        if self._requests is not None and self._process is not None and self._process.poll() is None:
            return self._requests
        self._drop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own code, with nothing of the caller's in the command
                [sys.executable, "-I", "-S", "-c", _BEGIN, _PACKAGE, self._settings],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={"LANG": "C.UTF-8"},
                cwd="/",
            )
        self._requests = ours
        return ours

    def _drop(self) -> None:
        if self._requests is not None:
            self._requests.close()
            self._requests = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)
            self._process = None

    async def close(self) -> None:
        """Let go of it; it ends by itself."""
        if self._process is not None:
            await asyncio.to_thread(self._drop)


class _Pipes:
    """The pipes of one program: ours and theirs."""

    def __init__(self, *, stdin: bool, split: bool) -> None:
        self.wire, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.wire.settimeout(0)
        self._theirs = theirs
        self.output, out = os.pipe()
        self.errors, error = os.pipe() if split else (-1, out)
        read, self.stdin = os.pipe() if stdin else (os.open(os.devnull, os.O_RDONLY), -1)
        for handle in (self.output, self.errors, self.stdin):
            if handle >= 0:
                os.set_blocking(handle, False)
        self.theirs = [theirs.fileno(), read, out, error]

    def close_theirs(self) -> None:
        self._theirs.close()
        for handle in set(self.theirs[1:]):
            os.close(handle)

    def close_ours(self) -> None:
        self.wire.close()
        for handle in (self.output, self.errors, self.stdin):
            if handle >= 0:
                os.close(handle)
