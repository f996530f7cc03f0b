"""Idempotency keys: of claims made at once one is fresh, and an outcome is kept for every later one."""

import asyncio
import time
from typing import Any

import pytest

from tests.contracts.conftest import Place
from toolcrib.services.record.journal import Claim, ClaimState


async def test_a_new_key_is_fresh_and_then_running_and_then_replayed(store: Any) -> None:
    journal = store.journal
    assert await journal.claim("s", "k", "print") == Claim(ClaimState.FRESH)
    assert await journal.claim("s", "k", "print") == Claim(ClaimState.RUNNING)
    await journal.keep("s", "k", b'{"text":"\x00 3"}')
    assert await journal.claim("s", "k", "print") == Claim(ClaimState.REPLAY, b'{"text":"\x00 3"}')
    assert await journal.claim("s", "k", "print") == Claim(ClaimState.REPLAY, b'{"text":"\x00 3"}')


async def test_the_same_key_with_other_arguments_is_a_mismatch(store: Any) -> None:
    await store.journal.claim("s", "k", "print")
    assert (await store.journal.claim("s", "k", "other")).state is ClaimState.MISMATCH
    await store.journal.keep("s", "k", b"x")
    assert (await store.journal.claim("s", "k", "other")).state is ClaimState.MISMATCH


async def test_scopes_do_not_see_each_others_keys(store: Any) -> None:
    assert (await store.journal.claim("s", "k", "print")).state is ClaimState.FRESH
    assert (await store.journal.claim("t", "k", "print")).state is ClaimState.FRESH
    assert (await store.journal.claim("sk", "", "print")).state is ClaimState.FRESH


async def test_a_key_that_was_given_back_is_fresh_again(store: Any) -> None:
    await store.journal.claim("s", "k", "print")
    await store.journal.drop("s", "k")
    assert (await store.journal.claim("s", "k", "other")).state is ClaimState.FRESH


async def test_of_many_claims_at_once_exactly_one_is_fresh(store: Any) -> None:
    claims = await asyncio.gather(*(store.journal.claim("s", "k", "print") for _ in range(20)))
    states = sorted(claim.state.value for claim in claims)
    assert states == ["fresh"] + ["running"] * 19


async def test_of_claims_through_two_stores_exactly_one_is_fresh(place: Place) -> None:
    stores = [place.open() for _ in range(2)]
    for number in range(10):
        claims = await asyncio.gather(*(store.journal.claim("s", f"k{number}", "print") for store in stores * 3))
        assert [claim.state for claim in claims].count(ClaimState.FRESH) == 1


async def test_an_outcome_outlives_the_process(place: Place) -> None:
    first = place.open()
    await first.journal.claim("s", "k", "print")
    await first.journal.keep("s", "k", b"done")
    await first.close()
    assert await place.open().journal.claim("s", "k", "print") == Claim(ClaimState.REPLAY, b"done")


async def test_old_keys_are_forgotten(store: Any) -> None:
    await store.journal.claim("s", "old", "print")
    assert await store.journal.prune(time.time() - 60) == 0
    assert await store.journal.prune(time.time() + 60) == 1
    assert (await store.journal.claim("s", "old", "print")).state is ClaimState.FRESH


@pytest.mark.parametrize("key", ["", "k" * 100_000, "k\0", "k\ud800", "ключ", "a'b\"; DROP TABLE tc_journal"])
async def test_any_text_may_be_a_key(store: Any, key: str) -> None:
    assert (await store.journal.claim("s", key, "print")).state is ClaimState.FRESH
    assert (await store.journal.claim("s", key, "print")).state is ClaimState.RUNNING
