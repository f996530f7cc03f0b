"""What happens when a store cannot be opened or written: a clear sentence, and nothing lost in silence."""

import asyncio
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from tests.contracts.conftest import Place, hide
from tests.contracts.records import record
from toolcrib.services.record.audit import Query
from toolcrib.services.shelf import Box
from toolcrib.services.store import StoreBusy, StoreError, StoreNewer
from toolcrib.stores import sql
from toolcrib.stores.sql.database import Database
from toolcrib.stores.sql.schema import VERSIONS, migrate, scripts
from toolcrib.stores.sql.tables import METADATA


def open_at(url: str) -> Any:
    return sql.open_store(url, scrub=hide)


@pytest.mark.meets("store:trouble:sentence")
def test_a_file_that_is_no_database_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, not a database" * 100)
    with pytest.raises(StoreError, match="not a store at all") as caught:
        open_at(f"sqlite:///{path}")
    assert "\n" not in caught.value.message
    assert path.read_text().startswith("these are my notes")


@pytest.mark.meets("store:trouble:sentence")
@pytest.mark.parametrize("path", ["/proc/nowhere/store.db", "{tmp}/file/store.db", "{tmp}"])
def test_a_place_that_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be (opened|written|used)") as caught:
        open_at("sqlite:///" + path.format(tmp=tmp_path))
    assert "\n" not in caught.value.message


@pytest.mark.meets("store:trouble:sentence")
def test_a_store_of_a_newer_version_is_refused_and_left_alone(bare_place: Place) -> None:
    bare_place.open().database.close()
    bare_place.execute("UPDATE tc_version SET version_num = '9999'")
    with pytest.raises(StoreNewer, match="9999"):
        bare_place.open()
    assert bare_place.ask("SELECT version_num FROM tc_version") == [("9999",)]


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://localhost/x"])
def test_a_url_that_names_no_store_of_ours_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match="sqlite:///"):
        open_at(url)


def test_a_url_that_is_none_is_one_clear_sentence() -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        open_at("my store")


def test_a_server_that_does_not_answer_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used") as caught:
        open_at(f"postgresql:///none?host={tmp_path}")
    assert "\n" not in caught.value.message


@pytest.mark.meets("store:migrate:from-first")
def test_a_new_store_is_migrated_from_the_first_table_and_opening_it_again_changes_nothing(bare_place: Place) -> None:
    bare_place.open()
    first = tables_of(bare_place)
    assert {f"tc_{name}" for name in ("audit", "head", "inflight", "journal", "drawers", "version")} <= first.keys()
    bare_place.open()
    assert tables_of(bare_place) == first


def test_the_migrations_make_the_tables_that_the_code_uses(bare_place: Place) -> None:
    bare_place.open()
    made = tables_of(bare_place)
    for table in METADATA.tables.values():
        assert made[table.name] == [column.name for column in table.columns]


def test_the_known_versions_are_those_of_the_migrations() -> None:
    from alembic.script import ScriptDirectory

    found = [script.revision for script in ScriptDirectory.from_config(scripts()).walk_revisions()]
    assert tuple(reversed(found)) == VERSIONS


def test_opening_a_store_that_is_up_to_date_does_not_import_alembic(place: Place) -> None:
    place.open()
    code = "import sys; from toolcrib.stores import sql; sql.open_store(sys.argv[1], scrub=str); print('alembic' in sys.modules)"
    env = {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    said = subprocess.run([sys.executable, "-c", code, place.url], capture_output=True, text=True, env=env, check=True)
    assert said.stdout.strip() == "False"


def test_tables_of_others_in_the_same_database_are_left_alone(bare_place: Place) -> None:
    bare_place.execute("CREATE TABLE workflow_status (id TEXT)")
    database = Database(bare_place.url)
    migrate(database)
    database.close()
    assert "workflow_status" in tables_of(bare_place)


def test_only_the_owner_may_read_a_store_file(tmp_path: Path) -> None:
    store = open_at(f"sqlite:///{tmp_path / 'new' / 'store.db'}")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()}
    store.audit._writer.finish()
    store.database.close()
    assert modes
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize(("strict", "level"), [(False, 1), (True, 2)])
def test_sqlite_is_set_up_for_one_writer_and_many_readers(make_place: Any, strict: bool, level: int) -> None:
    store = make_place("sqlite").open(strict=strict)
    asked = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
    told = store.database.reading(lambda c: [c.exec_driver_sql(f"PRAGMA {name}").scalar() for name in asked])
    assert told == ["wal", level, 1, 1]


class Lock:
    """Somebody else who holds the database: a write transaction that does not end."""

    def __init__(self, place: Place) -> None:
        self._engine = sa.create_engine(place.url.replace("postgresql:", "postgresql+psycopg:"))
        self._connection = self._engine.connect()
        if place.kind == "sqlite":
            raw: Any = self._connection.connection.dbapi_connection
            assert isinstance(raw, sqlite3.Connection)
            raw.isolation_level = None
            raw.execute("BEGIN IMMEDIATE")
        else:
            self._connection.execute(sa.text("LOCK TABLE tc_head, tc_drawers IN ACCESS EXCLUSIVE MODE"))

    def release(self) -> None:
        self._connection.close()
        self._engine.dispose()


@pytest.mark.meets("store:busy:coded")
async def test_a_locked_database_is_a_coded_retryable_error(place: Place) -> None:
    store = place.open(busy=0.2)
    lock = Lock(place)
    with pytest.raises(StoreBusy, match="another process") as caught:
        await store.shelf.create(Box(name="mine"))
    lock.release()
    fault = caught.value.as_fault()
    assert (fault.code, fault.retryable) == ("store_busy", True)
    assert (await store.shelf.create(Box(name="mine"))).revision == 1


@pytest.mark.meets("store:busy:coded")
async def test_records_wait_while_the_database_is_locked_and_none_is_lost(place: Place) -> None:
    store = place.open(busy=0.1)
    lock = Lock(place)
    for _ in range(50):
        store.audit.hand(record())
    with pytest.raises(StoreBusy):
        await store.audit.settle()
    assert "held by another process" in store.audit.trouble
    lock.release()
    wait_until(lambda: not store.audit.trouble)
    await store.audit.settle()
    assert (await store.audit.verify()).checked == 50


@pytest.mark.meets("audit:commit:grouped")
async def test_handing_over_waits_for_nothing_and_only_a_strict_caller_waits_for_the_commit(place: Place) -> None:
    store = place.open(busy=30)
    lock = Lock(place)
    for _ in range(500):
        store.audit.hand(record())
    waiting = asyncio.ensure_future(store.audit.durable(record()))
    done, _ = await asyncio.wait([waiting], timeout=0.2)
    assert not done
    lock.release()
    await waiting
    assert (await store.audit.verify()).checked == 501


async def test_a_strict_caller_hears_that_its_record_is_not_safe(place: Place) -> None:
    store = place.open(busy=0.1, strict=True)
    lock = Lock(place)
    with pytest.raises(StoreBusy):
        await store.audit.durable(record())
    lock.release()


@pytest.mark.meets("store:busy:coded")
async def test_beyond_the_bound_the_loss_is_counted_and_written_into_the_chain(place: Place) -> None:
    store = place.open(busy=0.1, most_waiting=20)
    lock = Lock(place)
    store.audit.hand(record())
    with pytest.raises(StoreBusy):
        await store.audit.settle()
    assert not store.audit.full
    for _ in range(30):
        store.audit.hand(record())
    assert store.audit.full
    lock.release()
    wait_until(lambda: not store.audit.trouble and not store.audit._writer.lost)
    await store.audit.settle()
    verdict = await store.audit.verify()
    assert verdict.ok
    (gap,) = (await store.audit.entries(Query(code="records_lost"))).entries
    kept = (await store.audit.entries(Query(status="done"))).entries
    assert (gap.status, gap.size + len(kept)) == ("gap", 31)
    assert not store.audit.full


async def test_a_writer_that_is_far_behind_makes_its_callers_wait_and_loses_nothing(place: Place) -> None:
    store = place.open(most_waiting=50)
    for _ in range(2000):
        store.audit.hand(record())
    await store.audit.settle()
    assert (await store.audit.verify()).checked == 2000


async def test_closing_while_nothing_can_be_written_says_how_much_is_lost(place: Place) -> None:
    store = place.open(busy=0.05)
    lock = Lock(place)
    for _ in range(3):
        store.audit.hand(record())
    with pytest.raises(StoreError, match="3 audit records could not be written"):
        await store.close()
    lock.release()


async def test_what_is_handed_to_a_closed_audit_is_not_waited_for_in_vain(place: Place) -> None:
    store = place.open()
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.audit.durable(record())
    store.audit._writer._records.clear()


async def test_a_full_disk_is_told_and_nothing_is_lost(make_place: Any) -> None:
    store = make_place("sqlite").open()
    pages = store.database.reading(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar())

    def small(raw: Any, _record: object) -> None:
        raw.execute(f"PRAGMA max_page_count={pages + 5}").close()

    event.listen(store.database.engine, "connect", small)
    store.database.engine.dispose()
    for _ in range(100):
        store.audit.hand(record(arguments=b'{"a":"%b"}' % (b"x" * 5000)))
    with pytest.raises(StoreError, match="disk is full"):
        await store.audit.settle()
    assert "full" in store.audit.trouble
    with pytest.raises(StoreError, match="disk is full"):
        await store.documents.put("a", "u", "MEMORY.md", "x" * 100_000)
    event.remove(store.database.engine, "connect", small)
    store.database.engine.dispose()
    wait_until(lambda: not store.audit.trouble)
    await store.audit.settle()
    assert (await store.audit.verify()).checked == 100


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for the writer's thread, for ten seconds at most."""
    for _ in range(1000):
        if holds():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came to hold")


def tables_of(place: Place) -> dict[str, list[str]]:
    engine = sa.create_engine(place.url.replace("postgresql:", "postgresql+psycopg:"))
    try:
        look = sa.inspect(engine)
        return {name: [column["name"] for column in look.get_columns(name)] for name in look.get_table_names()}
    finally:
        engine.dispose()
