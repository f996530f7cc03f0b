"""The vault: getting, setting and rotating, in memory and in SQLite.

The floor of a get is one AES-256-GCM decryption of the same bytes; of a rotation, unwrapping and wrapping as many keys.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from toolcrib.machine.keys import ProcessKey
from toolcrib.safety.envelope import EnvelopeCrypto
from toolcrib.safety.scrub import Scrubber
from toolcrib.services.vault.book import Book
from toolcrib.services.vault.ports import VaultRows
from toolcrib.services.vault.secrets import Secrets, Wanted
from toolcrib.services.vault.telling import Teller
from toolcrib.services.vault.values import Facts, Kind, Place
from toolcrib.stores import inprocess, sql
from toolcrib_bench.figures import Figure, best, best_async, figure

TIMES = 2_000
ROWS = 10_000
VALUE = "a-long-password-of-some-service-0123456789"


def run() -> Iterator[Figure]:
    """Each in memory, then in SQLite on a disk."""
    yield from asyncio.run(_figures("memory", inprocess.open_store(scrub=str).vault))
    with tempfile.TemporaryDirectory() as folder:
        store = sql.open_store(f"sqlite:///{Path(folder) / 'store.db'}", scrub=str)
        yield from asyncio.run(_figures("SQLite", store.vault))
        asyncio.run(store.close())


async def _figures(kind: str, rows: VaultRows) -> list[Figure]:
    scrubber = Scrubber()
    key = ProcessKey()
    book = Book(rows, key, EnvelopeCrypto(), Teller(scrubber.add))
    secrets = Secrets(book)
    await secrets.set("DB", Wanted(value=VALUE))
    one, two = _floors()
    got = await best_async(lambda: secrets.get("DB"), TIMES) * 1e6
    put = await best_async(lambda: secrets.set("DB", Wanted(value=VALUE)), 100, repeats=5) * 1e6
    await _filled(Book(rows, key, EnvelopeCrypto(), _told))
    began = time.perf_counter()
    report = await book.rotate()
    rotated = time.perf_counter() - began
    assert report.rewrapped == ROWS + 1
    after = await best_async(lambda: secrets.get("DB"), TIMES) * 1e6
    return [
        figure("vault", f"get, {kind}", got, "us", one),
        figure("vault", f"get among {ROWS:,}, {kind}", after, "us", one),
        figure("vault", f"set, {kind}", put, "us"),
        figure("vault", f"rotate {ROWS:,}, {kind}", rotated, "s", ROWS * two / 1e6),
    ]


def _told(facts: Facts, value: bytes) -> None:
    """No scrubber: it is not what is measured with so many."""


async def _filled(book: Book) -> None:
    places = [Place("", Kind.SECRET, f"S{number:05}") for number in range(ROWS)]
    await book.put_many([(Facts(place=place), VALUE.encode()) for place in places])


def _floors() -> tuple[float, float]:
    """One decryption; and unwrapping one key and wrapping it again. In microseconds."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    cipher, nonce = AESGCM(os.urandom(32)), os.urandom(12)
    sealed = cipher.encrypt(nonce, VALUE.encode(), b"facts")
    key = cipher.encrypt(nonce, os.urandom(32), b"facts")
    one = best(lambda: cipher.decrypt(nonce, sealed, b"facts"), 10_000) * 1e6
    two = best(lambda: cipher.encrypt(os.urandom(12), cipher.decrypt(nonce, key, b"facts"), b"facts"), 10_000) * 1e6
    return one, two
