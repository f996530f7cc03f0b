"""Everything about people that a server works on."""

from collections.abc import Callable, Iterable

from toolcrib.services.people.invitations import Invitations
from toolcrib.services.people.keys import ApiKeys
from toolcrib.services.people.persons import Persons
from toolcrib.services.people.ports import Passwords, PeopleRows
from toolcrib.services.people.signin import SignIn


class People:
    """`persons`, `invitations`, `keys` and `signin`, on one store."""

    def __init__(self, rows: PeopleRows, passwords: Passwords, agents: Callable[[], Iterable[str]]) -> None:
        self.persons = Persons(rows, self._changed)
        self.invitations = Invitations(rows)
        self.keys = ApiKeys(rows, self.persons, agents)
        self.signin = SignIn(rows, self.persons, self.invitations, passwords)

    def _changed(self) -> None:
        """A person was closed or given another role: what is remembered of their keys is stale."""
        self.keys.forget()
