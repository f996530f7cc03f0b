"""Whoever changes the audit behind our back is found out, and the first changed entry is named."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.conftest import Place
from tests.contracts.records import record

FIELDS = {
    "id": "'other'",
    "at": "at + 0.001",
    "agent": "'mallory'",
    "user": "'mallory'",
    "session": "'other'",
    "context": "'{}'",
    "tool": "'grep'",
    "arguments": "'{}'",
    "status": "'failed'",
    "code": "'denied'",
    "seconds": "seconds + 1",
    "size": "size + 1",
    "verdicts": "'[]'",
    "approval": "'me'",
    "generation": "generation + 1",
}


async def filled(place: Place, count: int = 10) -> Any:
    store = place.open()
    for _ in range(count):
        store.audit.hand(record())
    await store.audit.settle()
    return store


@pytest.mark.meets("audit:chain:verifies")
@pytest.mark.parametrize("field", FIELDS)
async def test_a_changed_field_is_found(place: Place, field: str) -> None:
    store = await filled(place)
    assert (await store.audit.verify()).ok
    place.execute(f'UPDATE tc_audit SET "{field}" = {FIELDS[field]} WHERE seq = 4')
    verdict = await store.audit.verify()
    assert (verdict.ok, verdict.broken_seq, verdict.checked) == (False, 4, 3)
    assert "entry 4" in verdict.why


@pytest.mark.meets("audit:chain:removed-or-swapped")
@pytest.mark.parametrize(
    ("statements", "broken"),
    [
        (["DELETE FROM tc_audit WHERE seq = 5"], 5),
        (["DELETE FROM tc_audit WHERE seq = 1"], 1),
        (["DELETE FROM tc_audit WHERE seq > 7"], 8),
        (["DELETE FROM tc_audit"], 1),
        (
            [
                "UPDATE tc_audit SET seq = 100 WHERE seq = 3",
                "UPDATE tc_audit SET seq = 3 WHERE seq = 4",
                "UPDATE tc_audit SET seq = 4 WHERE seq = 100",
            ],
            3,
        ),
        (["DELETE FROM tc_audit WHERE seq = 2", "UPDATE tc_audit SET seq = seq - 1 WHERE seq = 3"], 2),
        (["UPDATE tc_head SET seq = 9"], 10),
        (["DELETE FROM tc_audit WHERE seq = 10", "UPDATE tc_head SET seq = 9"], 9),
    ],
)
async def test_a_removed_or_moved_entry_is_found(place: Place, statements: list[str], broken: int) -> None:
    store = await filled(place)
    for statement in statements:
        place.execute(statement)
    verdict = await store.audit.verify()
    assert (verdict.ok, verdict.broken_seq) == (False, broken)


async def test_an_entry_that_was_added_behind_the_head_is_found(place: Place) -> None:
    store = await filled(place)
    place.execute(
        'INSERT INTO tc_audit SELECT 11, id, at, agent, "user", session, context, tool, arguments, status, code, '
        "seconds, size, verdicts, approval, generation, hash FROM tc_audit WHERE seq = 10"
    )
    assert (await store.audit.verify()).broken_seq == 11


async def test_a_missing_head_is_found(place: Place) -> None:
    store = await filled(place)
    place.execute("DELETE FROM tc_head")
    verdict = await store.audit.verify()
    assert not verdict.ok
    assert "head" in verdict.why


@pytest.mark.meets("audit:chain:one-byte")
async def test_any_single_byte_changed_in_the_file_of_an_entry_is_found(make_place: Any, tmp_path: Path) -> None:
    place = make_place("sqlite")
    store = place.open()
    for number in range(40):
        store.audit.hand(record(arguments=b'{"marker":"entry %03d"}' % number, verdicts=("v\x01",)))
    await store.close()
    path = tmp_path / "store.db"
    untouched = path.read_bytes()
    assert untouched.count(b"entry 020") == 1
    start = untouched.index(b'{"marker":"entry 020"}') - 60
    dice = random.Random(5)
    for offset in range(start, start + 150):
        changed = bytearray(untouched)
        changed[offset] = dice.choice([value for value in range(256) if value != untouched[offset]])
        path.write_bytes(bytes(changed))
        again = place.open()
        verdict = await again.audit.verify()
        await again.close()
        assert not verdict.ok, (offset - start, untouched[offset], changed[offset])
        assert verdict.broken_seq in range(18, 24)


async def test_a_row_that_is_not_even_text_any_more_is_named(make_place: Any) -> None:
    place = make_place("sqlite")
    store = await filled(place)
    place.execute("UPDATE tc_audit SET tool = CAST(x'ff00fe' AS TEXT) WHERE seq = 6")
    verdict = await store.audit.verify()
    assert (verdict.ok, verdict.broken_seq) == (False, 6)
    place.execute("UPDATE tc_audit SET hash = 'short' WHERE seq = 3")
    assert (await store.audit.verify()).broken_seq == 3
