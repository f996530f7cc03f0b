"""What Alembic runs: the connection is handed in, and only our own tables are looked at."""

from typing import TYPE_CHECKING

from alembic import context

from toolcrib.stores.sql.schema import VERSION_TABLE
from toolcrib.stores.sql.tables import METADATA

if TYPE_CHECKING:
    from sqlalchemy import Connection


def _ours(name: str | None, kind: str, _parents: object) -> bool:
    """The engine keeps its tables in the same database; a migration must never drop them."""
    return kind != "table" or (name or "").startswith("tc_")


connection: "Connection" = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    include_name=_ours,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
