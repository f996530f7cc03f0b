"""What the pages about people share."""

from toolcrib.core.errors import ToolFailed
from toolcrib.services.people.principal import Role

TABS = [
    ("People", "/people", 0),
    ("Invitations", "/people/invitations", 0),
    ("API keys", "/people/keys", 0),
    ("Your account", "/people/me", 0),
]


def role_of(name: str) -> Role:
    """A role by its name, or a refusal."""
    try:
        return Role(name)
    except ValueError:
        raise ToolFailed("Choose a role.", code="bad_role", hint="viewer, operator or admin.") from None
