"""Every table of ours, each named tc_*: the engine keeps its own beside them in the same database."""

import sqlalchemy as sa

from toolcrib.services.record.lines import clean

METADATA = sa.MetaData()


class Words(sa.types.TypeDecorator[str]):
    """Text that both databases take: no NUL, no half of a surrogate pair."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002 - its signature
        return None if value is None else clean(value)


def _words(name: str, *, key: bool = False, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, Words, primary_key=key, nullable=False, server_default=default)


# In SQLite only INTEGER makes the number the row's own: then rows are appended, and nothing is kept twice.
_COUNT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_LINE = ("id", "at", "agent", "user", "session", "context", "tool", "arguments", "status", "code", "seconds", "size",
         "verdicts", "approval", "generation")  # fmt: skip
_NUMBERS: dict[str, sa.types.TypeEngine[float] | sa.types.TypeEngine[int]] = {
    "at": sa.Double(),
    "seconds": sa.Double(),
    "size": sa.BigInteger(),
    "generation": sa.BigInteger(),
}

AUDIT = sa.Table(
    "tc_audit",
    METADATA,
    sa.Column("seq", _COUNT, primary_key=True, autoincrement=False),
    *(sa.Column(name, _NUMBERS.get(name, sa.Text()), nullable=False) for name in _LINE),
    sa.Column("hash", sa.LargeBinary(32), nullable=False),
)
"""The columns between the number and the hash are a line, in the order in which it is hashed."""

HEAD = sa.Table(
    "tc_head",
    METADATA,
    sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.LargeBinary(32), nullable=False),
)
INFLIGHT = sa.Table(
    "tc_inflight",
    METADATA,
    _words("owner", key=True),
    _words("id", key=True),
    sa.Column("at", sa.Double, nullable=False),
    *(_words(name) for name in ("agent", "user", "session", "context", "tool", "arguments")),
    sa.Column("beat", sa.Double, nullable=False),
)
JOURNAL = sa.Table(
    "tc_journal",
    METADATA,
    _words("mark", key=True),
    _words("fingerprint"),
    _words("owner"),
    sa.Column("at", sa.Double, nullable=False, index=True),
    sa.Column("outcome", sa.LargeBinary, nullable=True),
)
DRAWERS = sa.Table(
    "tc_drawers",
    METADATA,
    _words("kind", key=True),
    _words("key", key=True),
    _words("name"),
    _words("body"),
    _words("created_by"),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("changed", sa.Double, nullable=False),
)
COUNTS = sa.Table(
    "tc_counts",
    METADATA,
    _words("name", key=True),
    sa.Column("value", sa.BigInteger, nullable=False),
)
LOADED = sa.Table(
    "tc_loaded",
    METADATA,
    _words("agent", key=True),
    _words("session", key=True),
    _words("names"),
    _words("notes"),
)
TODOS = sa.Table("tc_todos", METADATA, _words("agent", key=True), _words("session", key=True), _words("todos"))
REQUESTS = sa.Table(
    "tc_access_requests",
    METADATA,
    _words("id", key=True),
    *(_words(name) for name in ("agent", "session", "user", "tools", "reason")),
    sa.Column("asked", sa.Double, nullable=False),
    _words("state"),
    _words("granted"),
    _words("decided_by"),
    sa.Column("decided", sa.Double, nullable=True),
)
GRANTS = sa.Table(
    "tc_grants",
    METADATA,
    _words("id", key=True),
    _words("request"),
    sa.Column("agent", Words, nullable=False, index=True),
    *(_words(name) for name in ("session", "tool", "lifetime")),
    sa.Column("until", sa.Double, nullable=True),
    _words("granted_by"),
    sa.Column("granted", sa.Double, nullable=False),
    sa.Column("ended", sa.Double, nullable=True),
    _words("ended_by"),
)
LABELS = sa.Table("tc_labels", METADATA, _words("session", key=True), _words("label", key=True), _words("tool"))
DOCUMENTS = sa.Table(
    "tc_documents",
    METADATA,
    _words("agent", key=True),
    _words("user", key=True),
    _words("path", key=True),
    _words("content"),
    sa.Column("changed", sa.Double, nullable=False),
)
VAULT = sa.Table(
    "tc_vault",
    METADATA,
    *(_words(name, key=True) for name in ("team", "kind", "name")),
    _words("facts"),
    sa.Column("term", sa.Integer, nullable=False, index=True),
    _words("seal"),
    _words("body"),
)
VAULT_TERMS = sa.Table(
    "tc_vault_terms",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    _words("wrapped"),
    sa.Column("made", sa.Double, nullable=False),
    sa.Column("sealed", sa.BigInteger, nullable=False),
)
VAULT_HEAD = sa.Table(
    "tc_vault_head",
    METADATA,
    sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
    *(_words(name) for name in ("vault", "root", "key")),
    sa.Column("generation", sa.BigInteger, nullable=False),
    sa.Column("term", sa.Integer, nullable=False),
    *(_words(name) for name in ("total", "mac")),
)
APPROVALS = sa.Table(
    "tc_approvals",
    METADATA,
    _words("id", key=True),
    sa.Column("mark", Words, nullable=False, index=True),
    *(_words(name) for name in ("agent", "session")),
    sa.Column("state", Words, nullable=False, index=True),
    sa.Column("asked", sa.Double, nullable=False, index=True),
    _words("body"),
)
RULES = sa.Table(
    "tc_approval_rules",
    METADATA,
    _words("id", key=True),
    sa.Column("agent", Words, nullable=False, index=True),
    _words("tool"),
    sa.Column("made", sa.Double, nullable=False),
    _words("body"),
)
UNDO = sa.Table(
    "tc_undo",
    METADATA,
    sa.Column("number", _COUNT, primary_key=True, autoincrement=True),
    sa.Column("call", Words, nullable=False, index=True),
    sa.Column("at", sa.Double, nullable=False, index=True),
    *(_words(name) for name in ("agent", "user", "session", "workspace", "tool", "kind", "place")),
    sa.Column("before", Words, nullable=True),
    sa.Column("after", Words, nullable=True),
    _words("undone"),
)
MCP_SERVERS = sa.Table("tc_mcp_servers", METADATA, _words("name", key=True), _words("body"))
MCP_PINS = sa.Table("tc_mcp_pins", METADATA, *(_words(name, key=True) for name in ("server", "tool")), _words("body"))
MCP_GRANTS = sa.Table(
    "tc_mcp_grants", METADATA, *(_words(name, key=True) for name in ("server", "scope", "holder")), _words("body")
)
MCP_REQUESTS = sa.Table(
    "tc_mcp_requests", METADATA, _words("id", key=True), *(_words(name) for name in ("server", "state", "body"))
)
PEOPLE = sa.Table(
    "tc_people",
    METADATA,
    _words("kind", key=True),
    _words("id", key=True),
    _words("mark"),
    sa.Column("person", Words, nullable=False, index=True),
    sa.Column("until", sa.Double, nullable=False),
    sa.Column("made", sa.Double, nullable=False),
    sa.Column("revision", sa.BigInteger, nullable=False),
    _words("body"),
    sa.Index("ix_tc_people_mark", "kind", "mark", unique=True),
)
