"""What tools cost a prompt, and which of them are shown."""

from hypothesis import given
from hypothesis import strategies as st

from tests import examples
from tests.core.test_resolver import made
from toolcrib.core.prompt import Budget, shown, tokens
from toolcrib.core.registry import Registry

REGISTRY = Registry([made(f"tool_{letter * n}") for n, letter in enumerate("abcdefgh", 1)])
MASKS = st.integers(0, REGISTRY.everything)


def test_no_number_is_no_limit_and_nothing_is_one() -> None:
    assert not Budget()
    assert Budget(tools=0)
    assert Budget(tokens=0)


def test_a_longer_tool_costs_more() -> None:
    costs = [tokens(tool) for tool in REGISTRY.tools]
    assert costs == sorted(costs)
    assert costs[0] > 10


@given(MASKS, MASKS, MASKS, st.none() | st.integers(0, 9), st.none() | st.integers(0, 300))
def test_what_is_shown_is_held_fits_and_keeps_its_order(
    issued: int, pinned: int, found: int, most: int | None, budget: int | None
) -> None:
    told = [tool.name for tool in shown(REGISTRY, issued, (pinned, found), Budget(most, budget))]
    held = REGISTRY.names_of(issued)
    assert told == [name for name in held if name in told]
    assert most is None or len(told) <= most
    assert budget is None or sum(tokens(tool) for tool in REGISTRY.tools if tool.name in told) <= budget
    if most is None and budget is None:
        assert told == list(held)
    if budget is None and most is not None:  # what is pinned goes before what was found, and that before the rest
        assert len(told) == min(most, len(held))
        first = REGISTRY.names_of(issued & pinned)
        assert set(first) <= set(told) or set(told) <= set(first)
    examples.count()
