"""How the vault refuses. None of its words ever holds a value."""

from toolcrib.core.errors import ToolError, ToolFailed
from toolcrib.services.vault.values import LONGEST_NAME, Place


class VaultError(ToolError):
    """The vault cannot be used. Nothing was changed."""

    code = "vault_unavailable"


class KeyLost(VaultError):
    """There is a vault, and its key is not where it should be."""

    code = "vault_key_lost"


class KeyWrong(VaultError):
    """There is a key, and it is not the one of this vault."""

    code = "vault_key_wrong"


class KeyUnsafe(VaultError):
    """The key lies where others can read or change it, so it is not used."""

    code = "vault_key_unsafe"


class VaultChanged(VaultError):
    """What is stored is not what was sealed: changed, moved, taken away, or put back from an older time."""

    code = "vault_changed"


class VaultBusy(VaultError):
    """Others change the vault all the time."""

    code = "vault_busy"
    retryable = True


def key_lost(where: str) -> KeyLost:
    """The refusal to go on without the key."""
    return KeyLost(
        f"The vault cannot be opened: its key is not there ({where}). Nothing was changed, and no new vault was made.",
        hint="Put the key back where it was, from your copy. Without it nobody can read what the vault holds.",
    )


def key_wrong(where: str) -> KeyWrong:
    """The refusal of another vault's key."""
    return KeyWrong(
        f"The vault cannot be opened: the key ({where}) is not the one it was made with. Nothing was changed.",
        hint="Put the right key back, or open the store that belongs to this key.",
    )


def changed(place: Place) -> VaultChanged:
    """The refusal of a row that does not fit its seal."""
    return VaultChanged(
        f"{place.name!r} was not opened: somebody changed it in the store, or put an old copy in its place.",
        hint="Put back a copy of the store, or set the value again: toolcrib vault set. See: toolcrib vault verify.",
    )


def tampered() -> VaultChanged:
    """The refusal of a vault whose rows are not those that were written."""
    return VaultChanged(
        "The vault was not opened: rows were changed, taken away or put back in the store behind its back.",
        hint="Put back a copy of the store. To go on with what is there, a person runs: toolcrib vault verify --accept.",
    )


def no_secret(name: str) -> ToolFailed:
    """The refusal of a name that is not in the vault."""
    return ToolFailed(
        f"The vault holds no secret named {name!r}.",
        code="secret_not_found",
        hint="search_secrets shows the names that there are.",
    )


def no_entry(name: str) -> ToolFailed:
    """The same for an entry."""
    return ToolFailed(f"The vault holds no entry named {name!r}.", code="entry_not_found")


def secret_exists(name: str) -> ToolFailed:
    """The refusal to make what is there."""
    return ToolFailed(
        f"A secret named {name!r} exists already; it was not changed.",
        code="secret_exists",
        hint="Change it with update_secret, or use another key.",
    )


def entry_exists(name: str) -> ToolFailed:
    """The same for an entry."""
    return ToolFailed(
        f"An entry named {name!r} exists already; it was not changed.", code="entry_exists", hint="Use another key."
    )


def type_exists(slug: str) -> ToolFailed:
    """The same for a type of entries."""
    return ToolFailed(
        f"A type named {slug!r} exists already; it was not changed.",
        code="entry_type_exists",
        hint="Use it as it is, or choose another slug.",
    )


def protected(name: str) -> ToolFailed:
    """The refusal to touch a secret that is not the agent's own."""
    return ToolFailed(
        f"{name!r} was not changed: it is a secret that a person or the system keeps, or another agent made.",
        code="secret_protected",
        hint="Use another key, or ask a person: toolcrib vault set, toolcrib vault delete.",
    )


def bad_name(what: str, name: str) -> ToolFailed:
    """The refusal of a name that could not be written down anywhere."""
    return ToolFailed(
        f"{name[:60]!r} cannot name a {what}.",
        code="bad_secret_name",
        hint=f"Use 1 to {LONGEST_NAME} visible characters, without braces and '|', and no space at either end.",
    )
