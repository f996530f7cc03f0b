"""Invitations: links with which people sign up, once and not for ever."""

import time
from secrets import token_hex

import msgspec
from msgspec.structs import replace

from toolcrib.core.errors import ToolFailed
from toolcrib.services.people.ports import Kind, PeopleRows, Row
from toolcrib.services.people.principal import Role
from toolcrib.services.people.values import Invitation, MadeInvitation, digest, new_secret

DAYS, MOST_DAYS = 7, 90
PATH = "/join/"  # where the page takes one


class Invitations:
    """Makes, lists and withdraws invitations. `link` says what to put before the secret."""

    def __init__(self, rows: PeopleRows, link: str = PATH) -> None:
        self._rows = rows
        self.link = link

    async def all(self) -> tuple[Invitation, ...]:
        """Every invitation, oldest first."""
        return tuple(map(_invitation, await self._rows.all(Kind.INVITATION)))

    async def get(self, invitation: str) -> Invitation:
        """The invitation with that id. Refused with `not_found`."""
        row = await self._rows.get(Kind.INVITATION, invitation)
        if row is None:
            raise _missing(invitation)
        return _invitation(row)

    async def make(self, *, by: str, role: Role = Role.VIEWER, label: str = "", days: float = DAYS) -> MadeInvitation:
        """Make one. Its secret is in what comes back, and nowhere else."""
        if not 0 < days <= MOST_DAYS:
            raise ToolFailed(f"An invitation holds for up to {MOST_DAYS} days.", code="bad_lifetime")
        secret, now = new_secret(), time.time()
        made = Invitation(
            id=token_hex(6),
            role=Role(role),
            label=" ".join(label.split())[:80],
            made=now,
            made_by=by,
            expires=now + days * 86_400,
        )
        row = Row(id=made.id, mark=digest(secret), body=_body(made), until=made.expires, made=now)
        await self._rows.add(Kind.INVITATION, row)
        return MadeInvitation(invitation=made, secret=secret)

    async def opened(self, secret: str) -> Invitation:
        """The invitation behind a secret, if it can still be used. Refused with `bad_invitation`."""
        row = await self._rows.find(Kind.INVITATION, digest(secret))
        if row is None or not (found := _invitation(row)).open(time.time()):
            raise ToolFailed(
                "This invitation does not hold: it was used, withdrawn, or is too old.",
                code="bad_invitation",
                hint="Ask an admin for another.",
            )
        return found

    async def accept(self, secret: str, by: str) -> Invitation:
        """Use one up. Of several who try at the same moment one succeeds."""
        found = await self.opened(secret)
        row = await self._rows.get(Kind.INVITATION, found.id)
        used = replace(found, accepted=time.time(), accepted_by=by)
        if row is None or not await self._rows.put(Kind.INVITATION, replace(row, body=_body(used))):
            raise ToolFailed("This invitation was used a moment ago.", code="bad_invitation")
        return used

    async def withdraw(self, invitation: str) -> Invitation:
        """Make a link useless."""
        row = await self._rows.get(Kind.INVITATION, invitation)
        if row is None:
            raise _missing(invitation)
        known = _invitation(row)
        if not known.open(time.time()):
            return known
        gone = replace(known, withdrawn=True)
        if not await self._rows.put(Kind.INVITATION, replace(row, body=_body(gone))):
            raise ToolFailed("The invitation was changed meanwhile.", code="revision_conflict", retryable=True)
        return gone


def _missing(invitation: str) -> ToolFailed:
    return ToolFailed(f"There is no invitation {invitation!r}.", code="not_found")


def _body(invitation: Invitation) -> str:
    return msgspec.json.encode(invitation).decode()


def _invitation(row: Row) -> Invitation:
    return msgspec.json.decode(row.body, type=Invitation)
