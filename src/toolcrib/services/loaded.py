"""Which toolkits an agent has loaded in a session. Without a session nothing is kept."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class KitState(Struct, frozen=True):
    """The toolkits loaded, and notes on what was dropped from them since."""

    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


NOTHING = KitState()


class LoadedKits(Protocol):
    """Keeps the loaded toolkits of each agent in each session. A team's members do not share theirs."""

    async def get(self, agent: str, session: str) -> KitState | None:
        """What was kept; None when this agent has none yet in this session."""
        ...

    async def put(self, agent: str, session: str, names: Sequence[str], notes: Sequence[str] = ()) -> None:
        """Keep these instead. With session "" nothing is kept."""
        ...
