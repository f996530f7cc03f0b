"""A process for the tests: writes audit records until it is killed, or a number of them. Prints what it did."""

import asyncio
import sys
import time

from toolcrib.core.call import Caller, Record, Status
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


async def main() -> None:
    """crasher.py URL WHAT NAME [MANY]."""
    url, what, name, *many = sys.argv[1:]
    store = sql.open_store(url, scrub=lambda text: text.replace("hunter2", "[secret]"))
    if what == "count":
        await count(store, name, int(many[0]))
    elif what == "forever":
        await forever(store, name)
    else:
        await hang(store, name)


asyncio.run(main())
