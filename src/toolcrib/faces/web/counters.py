"""The numbers that stand beside names in the navigation: all of them from here."""

from typing import TYPE_CHECKING

from toolcrib.services.access import Decision
from toolcrib.services.people.principal import Principal, Role

if TYPE_CHECKING:
    from toolcrib.app.house import House


async def counters(house: "House", who: Principal) -> dict[str, int]:
    """What waits for a person, by the name of the badge."""
    if not who.may(Role.VIEWER, "approvals"):
        return {}
    waiting = len(await house.crib.approvals.list(limit=1000))
    wishes = len(await house.crib.store.access.requests(state=Decision.PENDING))
    return {"approvals": waiting + wishes}
