"""The first tables: audit, its head and marks, idempotency, toolboxes, toolkits, access, to-dos, documents."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table. They are written out here, so that a later change of tables.py changes no history."""
    _audit()
    _calls()
    _boxes()
    _access()


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=nullable)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False)


def _audit() -> None:
    op.create_table(
        "tc_audit",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True, autoincrement=False),
        _text("id"),
        _number("at"),
        *map(_text, ("agent", "user", "session", "context", "tool", "arguments", "status", "code")),
        _number("seconds"),
        _count("size"),
        *map(_text, ("verdicts", "approval")),
        _count("generation"),
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
    )
    head = op.create_table(
        "tc_head",
        sa.Column("one", sa.Integer(), primary_key=True, autoincrement=False),
        _count("seq"),
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
    )
    op.bulk_insert(head, [{"one": 1, "seq": 0, "hash": bytes(32)}])


def _calls() -> None:
    op.create_table(
        "tc_inflight",
        *map(_text, ("owner", "id")),
        _number("at"),
        *map(_text, ("agent", "user", "session", "context", "tool", "arguments")),
        _number("beat"),
        sa.PrimaryKeyConstraint("owner", "id"),
    )
    op.create_table(
        "tc_journal",
        *map(_text, ("mark", "fingerprint", "owner")),
        _number("at"),
        sa.Column("outcome", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("mark"),
    )
    op.create_index("ix_tc_journal_at", "tc_journal", ["at"])


def _boxes() -> None:
    op.create_table(
        "tc_drawers",
        *map(_text, ("kind", "key", "name", "body", "created_by")),
        sa.Column("revision", sa.Integer(), nullable=False),
        _number("changed"),
        sa.PrimaryKeyConstraint("kind", "key"),
    )
    op.create_table("tc_counts", _text("name"), _count("value"), sa.PrimaryKeyConstraint("name"))
    op.create_table(
        "tc_loaded",
        *map(_text, ("agent", "session", "names", "notes")),
        sa.PrimaryKeyConstraint("agent", "session"),
    )
    op.create_table("tc_todos", *map(_text, ("agent", "session", "todos")), sa.PrimaryKeyConstraint("agent", "session"))
    op.create_table(
        "tc_documents",
        *map(_text, ("agent", "user", "path", "content")),
        _number("changed"),
        sa.PrimaryKeyConstraint("agent", "user", "path"),
    )


def _access() -> None:
    op.create_table(
        "tc_access_requests",
        *map(_text, ("id", "agent", "session", "user", "tools", "reason")),
        _number("asked"),
        *map(_text, ("state", "granted", "decided_by")),
        _number("decided", nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "tc_grants",
        *map(_text, ("id", "request", "agent", "session", "tool", "lifetime")),
        _number("until", nullable=True),
        _text("granted_by"),
        _number("granted"),
        _number("ended", nullable=True),
        _text("ended_by"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_tc_grants_agent", "tc_grants", ["agent"])
