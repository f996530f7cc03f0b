"""Who stands at a face, and what a route asks of them."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from msgspec import Struct

_ALLOWS = "__toolcrib_allows__"
F = TypeVar("F", bound=Callable[..., Any])


class Role(StrEnum):
    """What a person may do: look, work, or decide over others. Each may do all that the ones before it may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


_ORDER = tuple(Role)


class Principal(Struct, frozen=True, kw_only=True):
    """A person, or a program with a key."""

    id: str
    name: str
    role: Role
    via: str  # "session", "key", "oidc" or "off" (sign-in is off: whoever reaches the port)
    scopes: frozenset[str] | None = None  # of a key: the nouns it may use; None: all that the role may
    agents: frozenset[str] | None = None  # of a key: the agents it may act as; None: all

    def may(self, role: Role, scope: str = "") -> bool:
        """Whether this role, and for a key this scope, is there."""
        enough = _ORDER.index(self.role) >= _ORDER.index(role)
        return enough and (self.scopes is None or not scope or scope in self.scopes)

    def may_act_as(self, agent: str) -> bool:
        """Whether calls may be made in this agent's name."""
        return self.agents is None or agent in self.agents


class Keys(Protocol):
    """Knows the keys that programs show."""

    async def principal(self, key: str) -> Principal | None:
        """Whose key this is, or None: unknown, ended or revoked."""
        ...


class Allowed(Struct, frozen=True):
    """What a route asks of whoever comes. No role: everybody, also without a sign-in."""

    role: Role | None
    scope: str = ""


def allows(role: Role | None, scope: str = "") -> Callable[[F], F]:
    """Say who may use a route. A route that says nothing is closed to all."""

    def mark(endpoint: F) -> F:
        setattr(endpoint, _ALLOWS, Allowed(role, scope))
        return endpoint

    return mark


def allowed(endpoint: object) -> Allowed | None:
    """What the route's function says, or None: closed."""
    return getattr(endpoint, _ALLOWS, None)
