"""A kill in the middle of a rotation, and two processes that rotate and write at once."""

import pytest

from tests.contracts.conftest import Place
from tests.contracts.test_crashes import kill, line, start
from tests.contracts.vaults import Vault

MANY = 120


async def filled(place: Place) -> None:
    vault = Vault(place.open())
    for number in range(MANY):
        await vault.put(f"S{number}", f"value-of-{number}")


async def check(place: Place) -> None:
    vault = Vault(place.open())
    assert (await vault.book.verify()).ok
    for number in range(MANY):
        assert await vault.value(f"S{number}") == f"value-of-{number}"


@pytest.mark.meets("vault:rotate:resumable")
async def test_a_kill_in_the_middle_of_rotations_loses_nothing_and_the_next_one_goes_on(place: Place) -> None:
    await filled(place)
    for seen in (1, 4, 2):
        rotating = await start(place, "rotate", "x")
        for _ in range(seen):
            await line(rotating)
        await kill(rotating)
        await check(place)
    vault = Vault(place.open())
    report = await vault.book.rotate()
    await check(place)
    assert place.ask("SELECT DISTINCT term FROM tc_vault") == [(report.term,)]
    assert place.ask("SELECT number FROM tc_vault_terms") == [(report.term,)]


async def test_two_processes_that_rotate_while_a_third_writes_lose_nothing(place: Place) -> None:
    await filled(place)
    rotating = [await start(place, "rotate", name, "6") for name in ("left", "right")]
    vault = Vault(place.open())
    for number in range(12):
        await vault.put(f"N{number}", f"new-value-{number}")
    for process in rotating:
        _, errors = await process.communicate()
        assert process.returncode == 0, errors
    await vault.book.rotate()
    await check(place)
    fresh = Vault(place.open())
    assert {await fresh.value(f"N{number}") for number in range(12)} == {f"new-value-{n}" for n in range(12)}
