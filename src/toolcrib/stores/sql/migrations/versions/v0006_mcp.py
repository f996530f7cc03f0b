"""MCP servers: how they are reached, what their tools were, who may use them."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the tables."""
    _table("tc_mcp_servers", ("name",))
    _table("tc_mcp_pins", ("server", "tool"))
    _table("tc_mcp_grants", ("server", "scope", "holder"))
    _table("tc_mcp_requests", ("id",), "server", "state")


def _table(name: str, keys: tuple[str, ...], *more: str) -> None:
    columns = [sa.Column(key, sa.Text(), nullable=False, primary_key=True) for key in keys]
    columns += [sa.Column(one, sa.Text(), nullable=False) for one in (*more, "body")]
    op.create_table(name, *columns)
