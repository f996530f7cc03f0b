"""The vault: its head, its terms and its rows."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the three tables."""
    op.create_table(
        "tc_vault",
        *map(_text, ("team", "kind", "name", "facts")),
        sa.Column("term", sa.Integer(), nullable=False),
        *map(_text, ("seal", "body")),
        sa.PrimaryKeyConstraint("team", "kind", "name"),
    )
    op.create_index("ix_tc_vault_term", "tc_vault", ["term"])
    op.create_table(
        "tc_vault_terms",
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("wrapped", sa.Text(), nullable=False),
        _number("made"),
        sa.Column("sealed", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "tc_vault_head",
        sa.Column("one", sa.Integer(), primary_key=True, autoincrement=False),
        *map(_text, ("vault", "root", "key")),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("term", sa.Integer(), nullable=False),
        *map(_text, ("total", "mac")),
    )


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _number(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=False)
