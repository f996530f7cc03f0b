"""What the vault keeps, and what is told of it."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec
from msgspec import Struct

LONGEST_NAME = 200
LONGEST_VALUE = 16 * 1024  # characters: the scrubber has to know each secret in all its forms
LONGEST_FILE = 50 * 1024 * 1024
MOST_FILES = 10  # attachments of one entry
NEVER, ASK, ALWAYS = "never", "ask", "always"


class Kind(StrEnum):
    """What a row is."""

    SECRET = "secret"  # noqa: S105 - a word
    ENTRY = "entry"
    TYPE = "type"
    FILE = "file"


class Place(Struct, frozen=True):
    """Where a row stands. `team` "" is the vault of all who are in no team."""

    team: str
    kind: str
    name: str


class Facts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that is known of a row without its value. Every one of them is bound to the value."""

    place: Place
    version: int = 1
    secret: bool = True
    about: str = ""  # a description; the type of an entry; the media type of a file
    tools: tuple[str, ...] = ()  # that may be filled in with it; none: any that fills in
    hosts: tuple[str, ...] = ()  # that it may be sent to; none: any
    by: str = ""  # the agent that made it; "" is a person or the system
    created: float = 0.0
    changed: float = 0.0


class Row(Struct, frozen=True, kw_only=True):
    """One row as a store keeps it. The record is `seal` and `body` with a dot between."""

    facts: Facts
    term: int
    seal: str = ""  # v1.<term>.<nonce>.<wrapped key>: all that a rotation changes
    body: str = ""  # <ciphertext>

    @property
    def record(self) -> str:
        """v1.<term>.<nonce>.<wrapped key>.<ciphertext>."""
        return f"{self.seal}.{self.body}"


class Term(Struct, frozen=True, kw_only=True):
    """One key that wraps the keys of rows, wrapped itself."""

    number: int
    wrapped: str
    made: float = 0.0
    sealed: int = 0  # how often it has wrapped


class Head(Struct, frozen=True, kw_only=True):
    """The first page of the vault. Its sum runs over every row, so none can be taken away or put back unseen."""

    vault: str
    root: str  # the root key, wrapped by the master key
    key: str  # tells master keys apart, and nothing about them
    generation: int = 0  # counts changes
    term: int = 1  # the one in use
    total: str = ""
    mac: str = ""


class Secret(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A secret as it is listed. A value stands in it only where the row is no secret, or it was asked for."""

    key: str
    description: str = ""
    is_secret: bool = True
    allowed_tools: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    created_by: str = ""
    version: int = 1
    changed: float = 0.0
    value: str | None = None


class FieldRule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field of a type of entries."""

    name: str
    label: str = ""
    secret: bool = False
    required: bool = False


class EntryType(Struct, frozen=True, kw_only=True):
    """A type of entries."""

    slug: str
    name: str
    icon: str = ""
    fields: tuple[FieldRule, ...] = ()


class Entry(Struct, frozen=True, kw_only=True):
    """A structured entry with its values by field."""

    key: str
    entry_type: str
    value: Mapping[str, str]
    attachments: tuple[str, ...] = ()
    version: int = 1


class Kept(Struct, frozen=True, kw_only=True):
    """An entry as it is sealed: its values, and which of them are secret."""

    value: dict[str, str]
    secret: tuple[str, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """What a rotation did."""

    term: int
    rewrapped: int
    dropped: int = 0  # old terms that nothing needs any more


class Checked(Struct, frozen=True, kw_only=True):
    """What a look at every row found."""

    rows: int
    broken: tuple[str, ...] = ()
    whole: bool = True  # no row was taken away, put back or changed in what is said of it

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.whole and not self.broken


def secret_of(facts: Facts, value: str | None = None) -> Secret:
    """A row as it is listed."""
    return Secret(
        key=facts.place.name,
        description=facts.about,
        is_secret=facts.secret,
        allowed_tools=facts.tools,
        allowed_hosts=facts.hosts,
        created_by=facts.by,
        version=facts.version,
        changed=facts.changed,
        value=value,
    )


def bound(facts: Facts) -> bytes:
    """Facts as they are bound to a value: every part apart from the others."""
    return _encode(facts)


def read_facts(place: Place, text: str) -> Facts:
    """Facts as a store has kept them. Anything but what was written there comes out as facts that fit no seal."""
    try:
        facts = _decode(text)
    except msgspec.MsgspecError:
        return Facts(place=place, version=0)
    intact = facts.place == place and _encode(facts) == text.encode("utf-8", "surrogatepass")
    return facts if intact else Facts(place=place, version=0)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Facts).decode


def _field(name: str, label: str, *, secret: bool = False, required: bool = False) -> FieldRule:
    return FieldRule(name=name, label=label, secret=secret, required=required)


BUILT_IN: tuple[EntryType, ...] = (
    EntryType(slug="text", name="Text", icon="file-text", fields=(_field("text", "Text", secret=True, required=True),)),
    EntryType(
        slug="credential",
        name="Credential",
        icon="key",
        fields=(
            _field("username", "User name"),
            _field("password", "Password", secret=True, required=True),
            _field("url", "Address"),
            _field("notes", "Notes"),
        ),
    ),
    EntryType(
        slug="card",
        name="Card",
        icon="credit-card",
        fields=(
            _field("holder", "Holder"),
            _field("number", "Number", secret=True, required=True),
            _field("expires", "Expires"),
            _field("code", "Security code", secret=True),
            _field("notes", "Notes"),
        ),
    ),
    EntryType(
        slug="note",
        name="Note",
        icon="sticky-note",
        fields=(_field("title", "Title"), _field("text", "Text", secret=True, required=True)),
    ),
    EntryType(
        slug="identity",
        name="Identity",
        icon="id-card",
        fields=(
            _field("name", "Name", required=True),
            _field("email", "E-mail"),
            _field("phone", "Telephone"),
            _field("address", "Address"),
            _field("number", "Number of the document", secret=True),
            _field("notes", "Notes"),
        ),
    ),
)
