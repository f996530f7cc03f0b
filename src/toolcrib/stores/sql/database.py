"""One database, SQLite or PostgreSQL: how it is connected to, and what its faults mean to those who asked."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import event, exc

from toolcrib.core.heavy import heavy
from toolcrib.services.store import StoreBusy, StoreError

T = TypeVar("T")
SECONDS_BUSY = 5
_WRITES = "tc_writes"
_LOCKED = ("locked", "lock timeout", "deadlock", "could not obtain lock")


class Database:
    """Units of work, each in one transaction and one hop to a thread."""

    def __init__(self, url: str, *, strict: bool = False, busy: float = SECONDS_BUSY) -> None:
        with told():
            self.url = sa.make_url(url)
        self.engine = _sqlite(self.url, strict=strict, busy=busy) if self.sqlite else _postgres(self.url, busy=busy)
        self._looking = self.engine if self.sqlite else self.engine.execution_options(isolation_level="REPEATABLE READ")
        self._writing = self.engine.execution_options(**{_WRITES: True})
        self._quick: sa.PoolProxiedConnection | None = None
        self._lock = Lock()

    @property
    def sqlite(self) -> bool:
        """Whether it is one file beside us."""
        return self.url.get_backend_name() == "sqlite"

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run work that only looks."""
        return await asyncio.to_thread(self.reading, work)

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Run work that changes something: all of it, or nothing."""
        return await asyncio.to_thread(self.writing, work)

    def reading(self, work: Callable[[sa.Connection], T]) -> T:
        """The same as `read`, for whoever is in a thread already. The work sees one moment throughout."""
        with told(), self._looking.connect() as connection:
            return work(connection)  # and roll back: there is nothing to commit, and a damaged file cannot

    def writing(self, work: Callable[[sa.Connection], T]) -> T:
        """The same as `write`, for whoever is in a thread already."""
        with told(), self._writing.begin() as connection:
            return work(connection)

    def row(self, statement: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """The first of such rows, if there is one."""
        found = self.rows(statement, values)
        return found[0] if found else None

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """A few rows of SQLite by their key, at once: 10 us, where a hop to a thread alone takes 60. Readers never wait.

        Raises LookupError where that is not possible; then they are asked for with `read`, whose faults say more.
        """
        if not self.sqlite:
            raise LookupError
        try:
            with self._lock:
                if self._quick is None:
                    self._quick = self.engine.raw_connection()
                found: list[tuple[Any, ...]] = cast("Any", self._quick).execute(statement, values).fetchall()
                return found
        except (sqlite3.Error, exc.SQLAlchemyError):
            raise LookupError from None

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            quick, self._quick = self._quick, None
            if quick is not None:
                quick.close()
        self.engine.dispose()


@contextmanager
def told() -> Generator[None]:
    """Turn a database's fault into ours, with words that say what to do."""
    try:
        yield
    except exc.SQLAlchemyError as error:
        raise _meaning(error) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        hint = "Check that the folder exists and that this user can write to it, or name another home with --home."
        raise StoreError(f"The store cannot be opened: {where}{error.strerror or error}.", hint=hint) from error


def _insert(connection: sa.Connection) -> Any:  # noqa: ANN401 - a class of each dialect's own
    """The INSERT of this database; only its own dialect is loaded."""
    return heavy(f"sqlalchemy.dialects.{connection.dialect.name}").insert


def insert_new(connection: sa.Connection, table: sa.Table, values: Mapping[str, object]) -> bool:
    """Insert a row unless one with its key is there; whether it was inserted."""
    make = _insert(connection)
    asked = make(table).values(values).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
    return connection.execute(asked).rowcount == 1


def put(connection: sa.Connection, table: sa.Table, values: Mapping[str, object]) -> None:
    """Insert a row, or replace the one with its key."""
    make = _insert(connection)
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in values.items() if name not in keys}
    connection.execute(make(table).values(values).on_conflict_do_update(index_elements=keys, set_=changed))


def put_new(connection: sa.Connection, table: sa.Table, values: Mapping[str, object]) -> None:
    """Insert a row, unless there is one with its key already."""
    make = _insert(connection)
    connection.execute(make(table).values(values).on_conflict_do_nothing())


def _meaning(error: exc.SQLAlchemyError) -> StoreError:
    said = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    lowered = said.lower()
    if any(word in lowered for word in _LOCKED):
        return StoreBusy(f"The store is held by another process ({said}).", hint="Try again in a moment.")
    if "not a database" in lowered or "malformed" in lowered:
        return StoreError(
            f"The store is damaged, or is not a store at all ({said}).",
            hint="Check the path in the configuration, or put back a copy.",
        )
    if "full" in lowered or "no space" in lowered:
        return StoreError(f"The store's disk is full ({said}).", hint="Make room on it, and try again.")
    if "readonly" in lowered or "unable to open" in lowered:
        return StoreError(
            f"The store cannot be written ({said}).", hint="Check that the folder exists and is writable for this user."
        )
    return StoreError(
        f"The store cannot be used ({said}).", hint="Check that its disk has space, can be written and is sound."
    )


def _sqlite(url: sa.URL, *, strict: bool, busy: float) -> sa.Engine:
    if url.database in {None, "", ":memory:"}:
        raise StoreError("A SQLite store needs a file: sqlite:///path/to/toolcrib.db.")
    with told():
        path = Path(cast("str", url.database)).expanduser().absolute()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The file is ours alone before anything is in it; its companions take over its mode. One that is there is not
        # touched: closing it would let go of the locks that SQLite holds on it for this process.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    engine = sa.create_engine(url.set(drivername="sqlite", database=str(path)), connect_args={"timeout": busy})

    def connected(raw: Any, _record: object) -> None:  # noqa: ANN401 - the driver's connection
        raw.isolation_level = None  # transactions begin where we say so, below
        for setting in (
            "journal_mode=WAL",
            f"synchronous={'FULL' if strict else 'NORMAL'}",
            "foreign_keys=ON",
            "secure_delete=ON",
        ):
            raw.execute(f"PRAGMA {setting}").close()

    def begun(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _postgres(url: sa.URL, *, busy: float) -> sa.Engine:
    if url.get_backend_name() not in {"postgresql", "postgres"}:
        raise StoreError(f"A store is sqlite:///... or postgresql://..., not {url.get_backend_name()}.")
    options = f"-c lock_timeout={int(busy * 1000)}"
    given = url.query.get("options")
    wanted = url.set(drivername="postgresql+psycopg").update_query_dict(
        {"options": f"{given} {options}" if isinstance(given, str) else options}
    )
    try:
        return sa.create_engine(wanted, pool_pre_ping=True, connect_args={"connect_timeout": 10})
    except ModuleNotFoundError:
        raise StoreError(
            "A PostgreSQL store needs psycopg.", hint="Install it with: pip install 'toolcrib[postgres]'"
        ) from None
