"""Asks a person for a secret and puts it into the vault. What they enter goes nowhere else."""

from collections.abc import Awaitable

from toolcrib.core.errors import NeedsApproval, ToolFailed
from toolcrib.services.vault.ports import AskSecret, SecretAsked
from toolcrib.services.vault.secrets import Secrets, Wanted, check_name


class SecretPrompt:
    """A person, if there is one to ask."""

    def __init__(self, secrets: Secrets, ask: AskSecret | None) -> None:
        self._secrets = secrets
        self._ask = ask

    async def ask(self, asked: SecretAsked) -> None:
        """Ask, and keep the answer; it belongs to the person. Raises when nobody answers."""
        check_name("secret", asked.key)
        if self._ask is None:
            raise nobody(asked.key)
        answer = self._ask(asked)
        answer = await answer if isinstance(answer, Awaitable) else answer
        if not answer:
            raise ToolFailed(
                f"The person did not enter {asked.key}; nothing was stored.",
                code="secret_not_given",
                hint="Go on without it, or ask what to do instead.",
            )
        wanted = Wanted(value=answer, description=asked.description or asked.label)
        await self._secrets.set(asked.key, wanted, team=asked.caller.team)


def nobody(key: str) -> NeedsApproval:
    """The refusal where there is no person."""
    return NeedsApproval(
        f"Nobody was asked for {key}: no person can be asked here.",
        hint=f"Ask the person to store it: toolcrib vault set {key}",
    )
