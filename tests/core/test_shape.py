"""What goes out: texts, structured content, attachments; scrubbed, and cut where it is too long."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tests import examples
from tests.core.workbench import Bench, code
from toolcrib.core.call import Attachment, Caller, Result
from toolcrib.core.guard import Call
from toolcrib.core.resolver import View
from toolcrib.core.shape import HEAD, LIMIT, TAIL
from toolcrib.core.tool import Traits, read_tool, tool

SECRET = 'pa"ss\nwörd'


def masked(text: str) -> str:
    return text.replace(SECRET, "[REDACTED]")


def masked_and_token(text: str) -> str:
    return masked(text).replace("tok-123", "[REDACTED]")


class Spilled:
    """Keeps long results."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def keep(self, call: Call, text: str) -> str:
        self.kept[call.id] = text
        return call.id


class Book(BaseModel):
    title: str
    pages: int = 1


class Row(msgspec.Struct):
    title: str


async def given_back(value: object, **bench: Any) -> Any:
    def give() -> Any:
        """Give it."""
        return value

    return await Bench(give, **bench).call("give")


@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        ("plain", "plain", None),
        ("", "", None),
        (None, "null", None),
        (3, "3", 3),
        (True, "true", True),
        (0.5, "0.5", 0.5),
        ({"a": [1, "b"]}, '{"a":[1,"b"]}', {"a": [1, "b"]}),
        (Book(title="x"), '{"title":"x","pages":1}', {"title": "x", "pages": 1}),
        (Row("x"), '{"title":"x"}', {"title": "x"}),
        ([Book(title="x")], '[{"title":"x","pages":1}]', [{"title": "x", "pages": 1}]),
        (Result(text="short", structured={"n": 1}), "short", {"n": 1}),
        (Result(structured={"n": 1}), '{"n":1}', {"n": 1}),
        (Result(), "", None),
    ],
)
async def test_any_value_has_a_text_and_data_keep_their_structure(value: object, text: str, structured: object) -> None:
    outcome = await given_back(value)
    assert outcome.ok
    assert (outcome.text, outcome.structured) == (text, structured)


@pytest.mark.meets("result:parts:four")
async def test_a_result_has_a_text_for_the_model_one_for_the_person_data_and_attachments() -> None:
    picture = Attachment("a.png", "image/png", data=b"\x89PNG")
    outcome = await given_back(Result(text="m", person="p", structured={"a": 1}, attachments=(picture,)))
    assert (outcome.text, outcome.person, outcome.structured, outcome.attachments) == ("m", "p", {"a": 1}, (picture,))
    told = outcome.as_json()
    assert (told["person"], told["structured"]) == ("p", {"a": 1})
    assert told["attachments"][0]["name"] == "a.png"


async def test_a_value_that_cannot_be_written_breaks_the_call_and_no_more() -> None:
    loop: list[object] = []
    loop.append(loop)

    class Rude:
        def __str__(self) -> str:
            raise RuntimeError("no")

    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    assert code(await given_back(loop)) == "bad_response"
    assert code(await given_back(deep)) == "bad_response"
    assert code(await given_back(Rude())) == "internal"


@pytest.mark.meets("scrub:values:every-edge", "scrub:values:before-rendering")
@pytest.mark.parametrize(
    "value",
    [
        f"it is {SECRET}",
        {"a": {"b": [SECRET, {"c": f"x{SECRET}y"}]}},
        {SECRET: 1},
        [[SECRET]],
        Book(title=SECRET),
        Row(SECRET),
        Result(text=SECRET, person=f"for you: {SECRET}", structured={"a": [SECRET]}),
        Result(structured=[SECRET]),
        {SECRET},
        SECRET.encode().decode(),
    ],
)
async def test_a_secret_leaves_in_no_text_and_no_data(value: object) -> None:
    """Its quote and its line feed are escaped in JSON, so it must go before the text is written."""
    outcome = await given_back(value, scrub=masked)
    assert outcome.ok
    assert "ss" not in str(outcome.structured)
    assert "ss" not in outcome.text
    assert "REDACTED" in outcome.text
    assert SECRET not in (outcome.person or "")


@pytest.mark.parametrize("value", [(SECRET,), {"a": ("b", SECRET)}, Result(structured=((SECRET,),))])
async def test_a_secret_in_a_tuple_leaves_no_more_than_one_in_a_list(value: object) -> None:
    outcome = await given_back(value, scrub=masked)
    assert "ss" not in outcome.text


async def test_a_secret_in_the_name_or_address_of_an_attachment_does_not_leave() -> None:
    note = Attachment("tok-123.txt", "text/plain", data=b"tok-123", uri="https://x.example/?t=tok-123")
    outcome = await given_back(Result(text="see", attachments=(note,)), scrub=masked_and_token)
    assert "tok-123" not in str(outcome.as_json())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(SECRET) | st.text().map(lambda s: s + SECRET),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just(SECRET), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.meets("scrub:values:every-edge")
@given(json_values)
def test_no_json_value_of_any_shape_carries_a_secret_out(value: Any) -> None:
    def body() -> Any:
        """Give it."""
        return value

    bench = Bench(tool(inline=True)(body), scrub=masked)
    steps = bench.call("body")
    with pytest.raises(StopIteration) as stop:
        steps.send(None)
    outcome = stop.value.value
    whole = msgspec.json.decode(msgspec.json.encode(outcome.as_json()))

    def texts(part: Any) -> list[str]:
        if isinstance(part, dict):
            return [text for key, inner in part.items() for text in (key, *texts(inner))]
        return [text for inner in part for text in texts(inner)] if isinstance(part, list) else [str(part)]

    assert not [text for text in texts(whole) if SECRET in text]
    examples.count()


@pytest.mark.meets("result:size:spilled")
async def test_a_result_over_the_limit_is_kept_whole_and_given_as_head_and_tail() -> None:
    text = "".join(f"{i:07d}\n" for i in range(LIMIT // 4))
    spill = Spilled()
    outcome = await given_back(text, spill=spill)
    assert spill.kept == {outcome.id: text}
    assert outcome.spilled == outcome.id
    assert outcome.text.startswith(text[:HEAD])
    assert outcome.text.endswith(text[-TAIL:])
    assert f"{len(text) - HEAD - TAIL:,} of {len(text):,} characters left out" in outcome.text
    assert outcome.structured is None


@pytest.mark.meets("result:size:spilled")
async def test_a_result_at_the_limit_is_whole() -> None:
    outcome = await given_back("x" * LIMIT, spill=Spilled())
    assert outcome.text == "x" * LIMIT
    assert not outcome.spilled


async def test_what_is_kept_is_scrubbed_before() -> None:
    spill = Spilled()
    outcome = await given_back({"a": SECRET, "b": "x" * LIMIT}, spill=spill, scrub=masked)
    assert "ss" not in spill.kept[outcome.id]
    assert "REDACTED" in spill.kept[outcome.id]


async def test_how_to_read_the_rest_depends_on_what_the_caller_holds() -> None:
    def big() -> str:
        """Give much."""
        return "x" * 20_000

    def read_result(id: str) -> str:  # noqa: A002 - its name
        """Read on."""
        return id

    def read_file(path: str) -> str:
        """Read a file."""
        return path

    spill = Spilled()
    assert "read_result" in (await Bench(big, read_result, spill=spill).call("big")).text
    assert 'read_file {"path": "' in (await Bench(big, read_file, spill=spill).call("big")).text
    assert "a person can read it" in (await Bench(big, spill=spill).call("big")).text
    assert "The rest is lost" in (await Bench(big).call("big")).text


async def test_a_tool_that_reads_kept_results_is_never_cut() -> None:
    def big() -> str:
        """Give much."""
        return "x" * 20_000

    whole = read_tool("own", big, Traits(whole=True), free=True)
    assert len((await Bench(whole, spill=Spilled()).call("big")).text) == 20_000


@pytest.mark.parametrize(("size", "limit"), [(1_001, 1_000), (6_001, 6_000), (30, 20)])
async def test_with_a_small_limit_no_part_is_given_twice(size: int, limit: int) -> None:
    spill = Spilled()
    outcome = await given_back("".join(chr(0x4E00 + i) for i in range(size)), spill=spill, limit=limit)
    shown = [letter for letter in outcome.text if letter >= "\u4e00"]
    assert len(shown) == len(set(shown))
    assert len(shown) <= limit


@pytest.mark.parametrize("size", [LIMIT + 1, LIMIT + 500, 3 * LIMIT])
async def test_head_tail_and_what_is_left_out_are_the_whole(size: int) -> None:
    spill = Spilled()
    text = "".join(chr(0x4E00 + i % 20_000) for i in range(size))
    outcome = await given_back(text, spill=spill)
    left = size - HEAD - TAIL
    assert outcome.text.startswith(f"{text[:HEAD]}\n\n[{left:,} of {size:,} ")
    assert outcome.text.endswith(f"]\n\n{text[HEAD + left :]}")


async def test_the_caller_is_not_part_of_what_comes_back() -> None:
    def who(me: Caller, held: View) -> str:
        """Who."""
        return f"{me.agent} {len(held)}"

    assert set((await Bench(who).call("who")).as_json()) == {"id", "tool", "status", "text"}
