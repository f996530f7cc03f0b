"""The chain: whatever is changed, removed or moved in it is found, and the first place is named."""

from hashlib import sha256

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from toolcrib.core.call import Caller, Record, Status
from toolcrib.services.record.audit import Entry, Head
from toolcrib.services.record.chain import START, link, verified
from toolcrib.services.record.lines import Drafts, entry

FIELDS = [name for name in Entry.__struct_fields__ if name not in {"seq", "previous", "hash"}]


def chain(names: list[str]) -> tuple[list[Entry], Head]:
    """A chain of calls of these tools."""
    drafts = Drafts(str)
    made: list[Entry] = []
    head = Head(0, START)
    for number, name in enumerate(names):
        record = Record(
            id=f"c{number}", at=1e9 + number, caller=Caller(agent="a"), tool=name, arguments=b"{}", status=Status.DONE
        )
        line, body = drafts.of(record)
        digest = link(head.hash, head.seq + 1, body)
        made.append(entry(head.seq + 1, line, head.hash, digest))
        head = Head(head.seq + 1, digest)
    return made, head


def test_the_form_that_is_hashed_never_changes() -> None:
    entries, _ = chain(["add"])
    line = b'[1,"c0",1000000000.0,"a","","","","add","{}","done","",0.0,0,"","",0]'
    assert entries[0].hash == sha256(START.encode() + b"\n" + line).hexdigest()


@given(st.lists(st.text(), max_size=20))
def test_an_untouched_chain_is_in_order(names: list[str]) -> None:
    entries, head = chain(names)
    verdict = verified(entries, head)
    assert (verdict.ok, verdict.checked) == (True, len(names))


@given(st.lists(st.text(), min_size=1, max_size=12), st.data())
def test_any_change_to_any_field_is_found_at_its_entry(names: list[str], data: st.DataObject) -> None:
    entries, head = chain(names)
    place = data.draw(st.integers(0, len(entries) - 1))
    field = data.draw(st.sampled_from(FIELDS))
    old = getattr(entries[place], field)
    new = {str: st.text(), float: st.floats(0, 1e12), int: st.integers(0, 2**40), tuple: st.lists(st.text()).map(tuple)}
    value = data.draw(new[type(old)].filter(lambda value: value != old))
    entries[place] = replace(entries[place], **{field: value})
    verdict = verified(entries, head)
    assert (verdict.ok, verdict.broken_seq, verdict.checked) == (False, place + 1, place)


@given(st.integers(2, 12), st.data())
def test_a_removed_doubled_or_swapped_entry_is_found_where_it_was(length: int, data: st.DataObject) -> None:
    entries, head = chain(["add"] * length)
    place = data.draw(st.integers(0, length - 1))
    match data.draw(st.sampled_from(["remove", "double", "swap", "cut"])):
        case "remove":
            del entries[place]
        case "double":
            entries.insert(place, entries[place])
            place += 1
        case "swap":
            place = min(place, length - 2)
            entries[place], entries[place + 1] = entries[place + 1], entries[place]
        case _:
            del entries[place:]
    verdict = verified(entries, head)
    assert (verdict.ok, verdict.broken_seq) == (False, place + 1)


def test_a_part_of_a_chain_can_be_checked_from_a_known_entry_on() -> None:
    entries, head = chain(["add"] * 9)
    verdict = verified(entries[4:], head, Head(4, entries[3].hash))
    assert (verdict.ok, verdict.checked) == (True, 5)
    assert verified(entries[4:], head, Head(4, entries[2].hash)).broken_seq == 5


def test_an_entry_survives_json() -> None:
    entries, head = chain(["a\x00\ufffd\"'é"])
    again = [msgspec.json.decode(msgspec.json.encode(one.as_json()), type=Entry) for one in entries]
    assert verified(again, head).ok
