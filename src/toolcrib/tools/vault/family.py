"""The family of tools for secrets, values of a team and structured entries."""

from collections.abc import Sequence

from toolcrib.core.tool import Family

family = Family(name="vault", label="Vault", about="Keep secrets and use them without seeing them.", icon="vault")


def told(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return ", ".join(names) or "none"
