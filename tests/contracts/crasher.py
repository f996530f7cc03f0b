"""A process for the tests: writes audit records until it is killed, or a number of them. Prints what it did."""

import asyncio
import sys
import time
from collections.abc import Sequence

from toolcrib.core.call import Caller, Record, Status
from toolcrib.machine.keys import GivenKey
from toolcrib.safety.envelope import EnvelopeCrypto
from toolcrib.services.vault import book
from toolcrib.services.vault.ports import Rewrap
from toolcrib.stores import sql

ME = Caller(agent="child", session="s")


def told(name: str) -> Record:
    """One record."""
    return Record(id=name, at=time.time(), caller=ME, tool="add", arguments=b'{"a":1}', status=Status.DONE)


async def count(store: sql.SqlStore, name: str, many: int) -> None:
    """Hand over so many records, and finish in order."""
    for number in range(many):
        store.audit.hand(told(f"{name}-{number}"))
        if number % 50 == 0:
            await store.audit.settle()
    await store.close()
    print("done", flush=True)


async def forever(store: sql.SqlStore, name: str) -> None:
    """Hand over records without end; say which are durable."""
    number = 0
    while True:
        for _ in range(40):
            store.audit.hand(told(f"{name}-{number}"))
            number += 1
        await store.audit.settle()
        print(number, flush=True)


async def hang(store: sql.SqlStore, name: str) -> None:
    """Begin a call and a claim, and never end them."""
    store.audit.began(f"{name}-call", time.time(), ME, "slow", b'{"password":"hunter2"}')
    await store.journal.claim("scope", "key", "print")
    await store.audit.settle()
    print("hanging", flush=True)
    await asyncio.sleep(600)


async def rotate(store: sql.SqlStore, times: int) -> None:
    """Rotate the vault in small steps, so that a kill meets one of them; say when each step is done."""
    book.BATCH = 7
    vault = book.Book(store.vault, GivenKey("11" * 32), EnvelopeCrypto(), lambda facts, value: None)
    rewrap = store.vault.rewrap

    async def told(rows: Sequence[Rewrap], term: int) -> int:
        done = await rewrap(rows, term)
        print(done, flush=True)
        return done

    store.vault.rewrap = told
    for _ in range(times):
        await vault.rotate()
    await store.close()


async def main() -> None:
    """crasher.py URL WHAT NAME [MANY]."""
    url, what, name, *many = sys.argv[1:]
    store = sql.open_store(url, scrub=lambda text: text.replace("hunter2", "[secret]"))
    if what == "count":
        await count(store, name, int(many[0]))
    elif what == "forever":
        await forever(store, name)
    elif what == "rotate":
        await rotate(store, int(many[0]) if many else 1_000_000)
    else:
        await hang(store, name)


asyncio.run(main())
