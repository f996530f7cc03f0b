"""Approval requests, the standing rules that come of them, and what calls changed, to undo it."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables, written out as the first ones are."""
    op.create_table(
        "tc_approvals",
        *map(_text, ("id", "mark", "agent", "session", "state")),
        _number("asked"),
        _text("body"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "tc_approval_rules",
        *map(_text, ("id", "agent", "tool")),
        _number("made"),
        _text("body"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "tc_undo",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True, autoincrement=True),
        _text("call"),
        _number("at"),
        *map(_text, ("agent", "user", "session", "workspace", "tool", "kind", "place")),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        _text("undone"),
    )
    for table, column in (
        ("tc_approvals", "mark"),
        ("tc_approvals", "state"),
        ("tc_approvals", "asked"),
        ("tc_approval_rules", "agent"),
        ("tc_undo", "call"),
        ("tc_undo", "at"),
    ):
        op.create_index(f"ix_{table}_{column}", table, [column])


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _number(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=False)
