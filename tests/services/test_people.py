"""People as agents see them, and invitations that agents make when a person agrees."""

import pytest

from toolcrib.app import Crib
from toolcrib.core.errors import RateLimited, ToolFailed
from toolcrib.core.guard import Approval
from toolcrib.services.people.desk import People
from toolcrib.services.people.invitations import Invitations
from toolcrib.services.people.persons import Persons
from toolcrib.services.people.principal import Role
from toolcrib.services.people.throttle import FREE, PER_NAME, Throttle
from toolcrib.services.people.values import Person


class Plain:
    """Passwords without the work."""

    async def hashed(self, password: str) -> str:
        return f"plain:{password}"

    async def fits(self, kept: str, password: str) -> bool:
        return kept == f"plain:{password}"

    def stale(self, kept: str) -> bool:
        return False


def people(crib: Crib) -> People:
    return People(crib.store.people, Plain(), lambda: crib.resolver.grants.agents)


@pytest.mark.meets("users:list:read")
async def test_agents_see_people_without_what_is_secret_of_them() -> None:
    async with Crib(native=True, agents={"a": ["all"]}) as crib:
        await people(crib).persons.add(Person(id="", name="Ada", role=Role.ADMIN, password="plain:secret-words"))
        listed = await crib.call("list_users", agent="a")
        shown = await crib.call("get_user", {"user": "ADA"}, agent="a")
        assert "Ada (admin)" in listed.text
        assert (shown.ok, "Ada is admin" in shown.text) == (True, True)
        assert "secret-words" not in str(listed.as_json()) + str(shown.as_json())


@pytest.mark.meets("users:invite:link")
async def test_an_invitation_that_an_agent_makes_works_once_and_as_a_viewer() -> None:
    async with Crib(native=True, agents={"a": ["all"]}, approve=lambda *_: Approval(allowed=True, by="ada")) as crib:
        made = await crib.call("create_invitation", {"label": "Grace", "expires_in_days": 1}, agent="a")
        assert made.ok, made.error
        link = made.structured["link"]  # type: ignore[index]
        assert link in made.text
        desk = people(crib)
        secret = link.rpartition("/")[2]
        visit = await desk.signin.join(secret, "Grace", "four words make a password")
        assert visit.person.role is Role.VIEWER
        with pytest.raises(ToolFailed, match="does not hold"):
            await desk.signin.join(secret, "Eve", "four words make a password")
        (entry,) = (await crib.store.audit.entries()).entries
        assert secret not in str(entry.as_json())


async def test_an_invitation_that_is_too_old_or_withdrawn_opens_nothing() -> None:
    async with Crib(native=True) as crib:
        desk = people(crib)
        old = await desk.invitations.make(by="ada", days=1e-12)
        gone = await desk.invitations.make(by="ada")
        await desk.invitations.withdraw(gone.invitation.id)
        for secret in (old.secret, gone.secret, "nonsense"):
            with pytest.raises(ToolFailed, match="does not hold"):
                await desk.invitations.opened(secret)


@pytest.mark.meets("auth:keys:scopes")
async def test_a_key_holds_scopes_agents_and_an_end() -> None:
    async with Crib(native=True, agents={"a": ["all"]}) as crib:
        desk = people(crib)
        ada = await desk.persons.add(Person(id="", name="Ada", role=Role.OPERATOR))
        made = await desk.keys.make(name="k", person=ada.id, role=Role.OPERATOR, scopes=["calls"], agents=["a"], days=1)
        assert made.secret.startswith(f"tcb_{made.key.id}_")
        found = await desk.keys.principal(made.secret)
        assert found is not None
        assert (found.may(Role.OPERATOR, "calls"), found.may(Role.OPERATOR, "vault")) == (True, False)
        assert (found.may_act_as("a"), found.may_act_as("b")) == (True, False)
        kept = str(await crib.store.people.all("key"))  # type: ignore[arg-type]
        assert made.secret.rpartition("_")[2] not in kept
        ended = await desk.keys.make(name="old", person=ada.id, role=Role.VIEWER, days=1e-12)
        assert await desk.keys.principal(ended.secret) is None
        for wrong in ({"scopes": ["cals"]}, {"agents": ["nobody"]}, {"role": Role.ADMIN}, {"days": -1}):
            with pytest.raises(ToolFailed):
                await desk.keys.make(**{"name": "k", "person": ada.id, "role": Role.VIEWER, **wrong})  # type: ignore[arg-type]


@pytest.mark.meets("auth:login:throttled")
def test_guessing_slows_down_and_locks_nobody_out() -> None:
    now = [1000.0]
    throttle = Throttle(lambda: now[0])

    def waits(name: str, address: str) -> float:
        try:
            throttle.check(name, address)
        except RateLimited as error:
            return float(str(error.data["retry_after"]))
        return 0.0

    throttle.passed("ada", "home")
    for i in range(PER_NAME + 10):
        throttle.failed("ada", f"bot {i}")
    assert waits("ada", "home") == 0.0
    assert 0 < waits("ada", "new place") <= 11
    now[0] += 12
    assert waits("ada", "new place") == 0.0
    for _ in range(FREE + 3):
        throttle.failed("bob", "one place")
    first = waits("bob", "one place")
    throttle.failed("bob", "one place")
    assert waits("bob", "one place") > first > 0
    now[0] += 3600
    assert waits("bob", "one place") == 0.0


async def test_names_of_people_are_the_same_however_they_are_written() -> None:
    async with Crib(native=True) as crib:
        persons: Persons = people(crib).persons
        await persons.add(Person(id="", name="Ada  Lovelace", role=Role.ADMIN))
        with pytest.raises(ToolFailed, match="already"):
            await persons.add(Person(id="", name="ADA lovelace", role=Role.VIEWER))
        assert isinstance(crib.services[Invitations], Invitations)
