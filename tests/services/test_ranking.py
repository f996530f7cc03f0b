"""The one ranking of tools by words."""

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.core.tool import Effect, Traits, read_tool
from toolcrib.services.finding.ranking import EXACT, Document, Ranking, best, document, fused

TOOLS = (
    Document(id="read_file", name="read_file", aliases=("view",), domain="files", about="Read a text file."),
    Document(id="write_file", name="write_file", domain="files", about="Write a whole file.", arguments="path content"),
    Document(id="grep", name="grep", aliases=("search",), domain="files", about="Search files with a pattern."),
    Document(id="delete_toolbox", name="delete_toolbox", domain="toolboxes", about="Delete a toolbox."),
    Document(
        id="sendMail", name="sendMail", domain="mail", about="Send a message.", arguments="recipient subject body"
    ),
    Document(
        id="get_weather", name="get_weather", domain="web", about="The weather of a place.", arguments="celsius city"
    ),
)
RANKING = Ranking(TOOLS)


def names(query: str, limit: int = 10) -> list[str]:
    return [hit.id for hit in RANKING.search(query, limit)]


@pytest.mark.meets("search-tools:ranking")
@pytest.mark.parametrize("query", ["grep", "GREP", "search", "  search "])
def test_an_exact_name_or_alias_comes_first(query: str):
    assert names(query)[0] == "grep"


def test_an_exact_name_may_be_written_with_blanks():
    hits = RANKING.search("read file")
    assert hits[0].id == "read_file"
    assert hits[0].score >= EXACT


def test_a_name_within_a_sentence_comes_first():
    assert names("what does `delete_toolbox` do with the files that I read and write?")[0] == "delete_toolbox"


@pytest.mark.meets("search-tools:ranking")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("deleting toolboxes", "delete_toolbox"),
        ("send mail to somebody", "sendMail"),
        ("temperature in celsius", "get_weather"),
        ("erase a toolbox", "delete_toolbox"),
        ("search for a pattern", "grep"),
    ],
)
def test_words_of_any_form_find_the_tool(query: str, expected: str):
    assert names(query)[0] == expected


@pytest.mark.meets("search-tools:ranking")
def test_a_word_in_the_name_counts_more_than_one_in_the_arguments():
    made = Ranking(
        [
            Document(id="a", name="sort_rows", about="Sort.", arguments="city"),
            Document(id="b", name="find_city", about="Find.", arguments="name"),
        ]
    )
    assert [hit.id for hit in made.search("city")] == ["b", "a"]


def test_words_that_no_tool_has_find_nothing():
    assert names("zebra quagga") == []
    assert names("") == []


def test_a_search_can_be_bounded():
    assert [hit.id for hit in RANKING.search("file", among=["grep", "write_file", "unknown"])] == ["write_file", "grep"]
    assert names("file", 1) == ["read_file"]


def test_an_empty_ranking_answers():
    assert Ranking([]).search("anything") == []
    assert len(Ranking([])) == 0


def test_a_tool_brings_its_names_words_and_choices():
    async def measure(*, unit: Annotated[str, "Kelvin or celsius"], place: str = "") -> str:
        """Measure how warm it is.

        Outdoors only.
        """
        return f"{unit} {place}"

    made = document(read_tool("weather", measure, Traits(effect=Effect.READ)))
    assert (made.name, made.domain) == ("measure", "weather")
    for word in ("kelvin", "place", "outdoors", "weather"):
        assert Ranking([made]).search(word), word


@given(st.text(max_size=120))
def test_any_query_gives_hits_in_falling_order(query: str):
    hits = RANKING.search(query, 3)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(hits) <= 3
    assert all(hit.score > 0 for hit in hits)


@given(st.permutations(TOOLS), st.sampled_from(["file", "send a message", "delete_toolbox", "search files"]))
def test_the_order_of_the_tools_does_not_matter(order: list[Document], query: str):
    assert [hit.id for hit in Ranking(order).search(query)] == names(query)


@pytest.mark.meets("search-tools:ranking")
@given(st.sampled_from(TOOLS), st.dictionaries(st.sampled_from([one.id for one in TOOLS]), st.floats(0, 1)))
def test_an_exact_name_stays_first_whatever_another_score_says(tool: Document, other: dict[str, float]):
    total = fused([(0.5, RANKING.scores(tool.name)), (0.5, other)])
    assert best(total, 1)[0].id == tool.id


def test_scores_are_added_on_one_scale():
    total = fused([(0.5, {"a": 10.0, "b": 20.0, "c": 30.0}), (0.5, {"a": 0.9, "b": 0.7, "d": 0.1})])
    assert {name: round(score, 3) for name, score in total.items()} == {"a": 0.5, "b": 0.625, "c": 0.5, "d": 0.0}
