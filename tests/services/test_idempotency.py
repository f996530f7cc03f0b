"""What makes two calls the same call: their scope, and the fingerprint of their arguments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.core.call import Caller
from toolcrib.services.record.journal import fingerprint, scope_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b'{"a":1,"b":2}', b'{ "b": 2, "a": 1 }', True),
        (b'{"a":1}', b'{"a":2}', False),
        (b'{"a":1}', b'{"a":"1"}', False),
        (b'{"a":[1,2]}', b'{"a":[2,1]}', False),
        (b"not json", b"not json", True),
        (b"not json", b"not  json", False),
        (b"[" * 10_000, b"[" * 10_000, True),
        (b'"\xff"', b'"\xfe"', False),
    ],
)
def test_arguments_are_the_same_however_they_are_spaced_and_ordered(one: bytes, other: bytes, same: bool) -> None:
    assert (fingerprint(one) == fingerprint(other)) is same


@given(st.tuples(st.text(), st.text(), st.text()), st.tuples(st.text(), st.text(), st.text()))
def test_scopes_are_the_same_only_for_the_same_agent_session_and_tool(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    def scope(parts: tuple[str, str, str]) -> str:
        return scope_of(Caller(agent=parts[0], session=parts[1]), parts[2])

    assert (scope(one) == scope(other)) is (one == other)
