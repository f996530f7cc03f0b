"""Runs the server: takes the port, says where it is, serves, and ends cleanly."""

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from types import FrameType

import uvicorn

from toolcrib import __version__
from toolcrib.app.house import House
from toolcrib.core.errors import CribError
from toolcrib.faces.serving import tracing
from toolcrib.faces.serving.composition import Composition
from toolcrib.faces.serving.joined import Protocol

GRACE = 5  # seconds that requests have to end
FIRST_RUN = "/start/"  # where the page takes the first-run token
BACKLOG = 512
YOUNG = 10_000  # objects made before the youngest are looked through: some dozens of calls


class CannotListen(CribError):
    """The server cannot listen where it should."""


class Server(uvicorn.Server):
    """uvicorn's server, which tells our streams when it is to end and leaves the signals to us."""

    ending: Callable[[], None] | None = None

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def handle_exit(self, sig: int, frame: FrameType | None = None) -> None:
        del frame
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True
        if self.ending is not None:
            self.ending()


def checked_address(host: str, port: str, *, auth: bool) -> tuple[str, int]:
    """Where to listen, or a refusal that says what to do."""
    if not port.isdecimal() or int(port) > 65_535:
        raise CannotListen(f"The port {port!r} is no number from 0 to 65535. Set it with --port or TOOLCRIB_PORT.")
    if not auth and not is_loopback(host):
        raise CannotListen(
            f"Sign-in is off, so the server listens on this machine only, and not on {host}: whoever reaches it may do "
            "everything. Turn sign-in on (TOOLCRIB_AUTH=on), or use --host 127.0.0.1."
        )
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return False


def listening(host: str, port: int) -> socket.socket:
    """The port, taken; or a refusal that says what to do."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        taken = socket.socket(family, kind, protocol)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
        taken.listen(BACKLOG)
    except OSError as error:
        raise CannotListen(_why(error, host, port)) from None
    taken.setblocking(False)  # noqa: FBT003 - its signature
    return taken


def _why(error: OSError, host: str, port: int) -> str:
    said = error.strerror or str(error)
    if isinstance(error, socket.gaierror):
        return f"There is no address {host!r} to listen on ({said}). Name another with --host."
    if isinstance(error, PermissionError):
        return f"This user may not listen on port {port} ({said}). Take one above 1023 with --port."
    if "in use" in said.lower():
        return f"Port {port} on {host} is in use. Stop what uses it, or take another with --port (0 takes a free one)."
    return f"The server cannot listen on {host} port {port}: {said}. Name another with --host and --port."


@contextmanager
def settled() -> Generator[None]:
    """While it is entered, what is there already is not looked through for garbage again and again."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def serve(house: House, taken: socket.socket, *, ready: Callable[[str], None] = lambda _: None) -> None:
    """Serve until a signal comes. `ready` is told the address as soon as requests are answered."""
    composition = Composition(house)
    config = uvicorn.Config(
        composition.app,
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=30,
        ws="none",
        http=Protocol,
        proxy_headers=False,  # the door reads them, where they matter
    )
    server = Server(config)
    server.ending = house.events.close
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.handle_exit, number)
    spans = _spans(house)
    try:
        async with composition.running():
            house.begin(house.look())
            ready(address_of(house, taken))
            with settled():
                await server.serve([taken])
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        await asyncio.to_thread(spans)


def _spans(house: House) -> Callable[[], None]:
    """Send spans where the environment says, until what comes back is called."""
    if not tracing.wanted(os.environ):
        return lambda: None
    heard, end = tracing.exporting(__version__)
    house.crib.listeners.append(heard)
    return end


def address_of(house: House, taken: socket.socket) -> str:
    """How people reach it."""
    if house.settings.url:
        return house.settings.url.rstrip("/")
    host, port = taken.getsockname()[:2]
    shown = "localhost" if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host  # noqa: S104 - named, not bound
    return f"http://{shown}:{port}"


async def link(house: House, address: str) -> tuple[str, bool]:
    """The link to open, and whether it makes the first admin."""
    if house.auth and not await house.people.persons.any():
        return f"{address}{FIRST_RUN}{house.people.signin.first_run()}", True
    return address, False
