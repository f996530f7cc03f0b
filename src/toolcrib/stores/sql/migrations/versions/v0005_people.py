"""People, invitations, keys of programs, and visits."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "tc_people",
        sa.Column("kind", sa.Text(), nullable=False, primary_key=True),
        sa.Column("id", sa.Text(), nullable=False, primary_key=True),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        _moment("until"),
        _moment("made"),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
    )
    op.create_index("ix_tc_people_mark", "tc_people", ["kind", "mark"], unique=True)
    op.create_index("ix_tc_people_person", "tc_people", ["person"])


def _moment(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=False)
