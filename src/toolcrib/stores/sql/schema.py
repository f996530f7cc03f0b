"""Brings the tables to this program's version. Alembic is imported only when there is something to do."""

from typing import TYPE_CHECKING

import sqlalchemy as sa

from toolcrib.core.heavy import heavy
from toolcrib.services.store import StoreNewer
from toolcrib.stores.sql.database import Database

if TYPE_CHECKING:
    from alembic.config import Config

VERSIONS = ("0001", "0002", "0003", "0004", "0005", "0006")
"""Every version there has been, oldest first; a test compares it with the migrations."""
VERSION_TABLE = "tc_version"
_LOCK = 7_205_759_403_792_793  # a number of ours, so that only one process migrates at a time


def migrate(database: Database) -> None:
    """Do nothing when the tables are as they should be; otherwise bring them there in one transaction."""
    if _version(database) != VERSIONS[-1]:
        database.writing(_upgrade)


def scripts() -> "Config":
    """Alembic's configuration: the migrations inside this package, and no file."""
    made: Config = heavy("alembic.config").Config()
    made.set_main_option("script_location", "toolcrib.stores.sql:migrations")
    made.set_main_option("path_separator", "os")
    return made


def _version(database: Database) -> str | None:
    return database.reading(_current)


def _current(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 - our own name
    if found is not None and found not in VERSIONS:
        raise StoreNewer(
            f"The store is of version {found}, and this program knows up to {VERSIONS[-1]}. Nothing was changed.",
            hint="Use the newer program that wrote it, or another store.",
        )
    return found


def _upgrade(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    if _current(connection) == VERSIONS[-1]:
        return  # another process was quicker
    config = scripts()
    config.attributes["connection"] = connection
    heavy("alembic.command").upgrade(config, "head")
