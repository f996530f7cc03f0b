"""Looking up names, as the machine knows them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolcrib.core.heavy import heavy

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_THREADS = 16


def look_up(host: str) -> Sequence[str]:
    """The addresses of a name; none if there are none."""
    socket = heavy("socket")
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return [str(row[4][0]) for row in found]


class Lookups:
    """Looks up in threads of its own: a name that nobody answers for takes none from the store and the files."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None

    async def __call__(self, host: str) -> Sequence[str]:
        if self._threads is None:
            self._threads = heavy("concurrent.futures").ThreadPoolExecutor(_THREADS, "toolcrib-names")
        return await heavy("asyncio").get_running_loop().run_in_executor(self._threads, look_up, host)

    def close(self) -> None:
        """Wait for no look-up that is still under way."""
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)
