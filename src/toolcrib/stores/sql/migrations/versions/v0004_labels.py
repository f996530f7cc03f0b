"""What each session has taken in."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "tc_labels",
        sa.Column("session", sa.Text(), nullable=False, primary_key=True),
        sa.Column("label", sa.Text(), nullable=False, primary_key=True),
        sa.Column("tool", sa.Text(), nullable=False),
    )
