"""What the pages about people share."""

from toolcrib.core.errors import ToolFailed
from toolcrib.services.people.principal import Principal, Role

_TABS = (
    ("People", "/people", Role.VIEWER),
    ("Invitations", "/people/invitations", Role.ADMIN),
    ("API keys", "/people/keys", Role.VIEWER),
    ("Your account", "/people/me", Role.VIEWER),
)


def tabs(who: Principal) -> list[tuple[str, str, int]]:
    """The tabs that this person may open."""
    return [(words, path, 0) for words, path, role in _TABS if who.may(role)]


def role_of(name: str) -> Role:
    """A role by its name, or a refusal."""
    try:
        return Role(name)
    except ValueError:
        raise ToolFailed("Choose a role.", code="bad_role", hint="viewer, operator or admin.") from None
