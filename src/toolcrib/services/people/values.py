"""People, what they are invited with, what their programs carry, and the visits that they make."""

from hashlib import sha256
from secrets import token_urlsafe

from msgspec import Struct

from toolcrib.core.errors import ToolFailed
from toolcrib.services.drawers import key_of
from toolcrib.services.people.principal import Role

SCOPES = ("agents", "tools", "calls", "toolboxes", "approvals", "record", "vault", "people", "keys", "settings", "mcp",
          "events")  # fmt: skip
"""What a key can be narrowed to."""
NAME_MOST = 64
KEY_PREFIX = "tcb"
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 256


class Person(Struct, frozen=True, kw_only=True):
    """Somebody who signs in. `subject` is who they are at the sign-in provider; "" signs in with a password."""

    id: str
    name: str
    role: Role
    password: str = ""  # an argon2 hash
    subject: str = ""
    made: float = 0.0
    made_by: str = ""
    closed: bool = False
    revision: int = 0


class Invitation(Struct, frozen=True, kw_only=True):
    """A link with which one person can sign up, once."""

    id: str
    role: Role
    label: str
    made: float
    made_by: str
    expires: float
    accepted: float = 0.0
    accepted_by: str = ""
    withdrawn: bool = False

    def open(self, now: float) -> bool:
        """Whether it can still be used."""
        return not self.withdrawn and not self.accepted and now < self.expires


class ApiKey(Struct, frozen=True, kw_only=True):
    """What a program shows instead of a password. Only the hash of its secret is kept."""

    id: str
    name: str
    person: str
    role: Role
    scopes: tuple[str, ...] | None  # None: all that the role may
    agents: tuple[str, ...] | None  # None: all
    made: float
    expires: float  # 0 does not expire
    revoked: float = 0.0
    used: float = 0.0  # about when it was used last

    def holds(self, now: float) -> bool:
        """Whether it opens anything now."""
        return not self.revoked and (not self.expires or now < self.expires)


class Session(Struct, frozen=True, kw_only=True):
    """One visit of a person with a browser. Its id is the hash of what the cookie holds."""

    id: str
    person: str
    csrf: str
    made: float
    expires: float
    client: str = ""  # the browser, as it names itself
    via: str = "session"  # "session" or "oidc"


class Made(Struct, frozen=True, kw_only=True):
    """Something new together with the secret that is shown once."""

    secret: str


class MadeInvitation(Made, frozen=True, kw_only=True):
    """A new invitation."""

    invitation: Invitation


class MadeKey(Made, frozen=True, kw_only=True):
    """A new key."""

    key: ApiKey


class MadeSession(Made, frozen=True, kw_only=True):
    """A new visit; the secret goes into the cookie."""

    session: Session
    person: Person


def digest(secret: str) -> str:
    """What is kept of a secret that is random and long."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_secret() -> str:
    """Thirty-two random bytes as text."""
    return token_urlsafe(32)


def clean_name(name: str) -> str:
    """A person's name, or a refusal."""
    name = " ".join(name.split())
    if not name or len(name) > NAME_MOST or not name.isprintable():
        raise ToolFailed(f"A person needs a name of 1 to {NAME_MOST} printable characters.", code="bad_name")
    return name


def checked_password(password: str, name: str) -> str:
    """A password that may be kept, or a refusal."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise ToolFailed(
            f"A password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters.",
            code="bad_password",
            hint="Four or five words that do not belong together are easy to keep in mind.",
        )
    if len(set(password)) < 4 or key_of(password) == key_of(name):
        raise ToolFailed("This password would be guessed at once.", code="bad_password", hint="Choose another.")
    return password
