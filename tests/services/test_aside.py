"""Bytes in messages are laid aside for the scrubber, and come back where they were."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.services.mcp.aside import laid_aside, put_back

PICTURE = base64.b64encode(bytes(range(96))).decode()
json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)
binary = st.binary(min_size=48, max_size=200).map(lambda data: base64.b64encode(data).decode())
blocks = st.one_of(
    json,
    binary.map(lambda data: {"type": "image", "mimeType": "image/png", "data": data}),
    binary.map(lambda data: {"type": "resource", "resource": {"uri": "file:///a", "blob": data}}),
)


@given(st.dictionaries(st.sampled_from(["content", "contents", "messages", "other"]), st.lists(blocks, max_size=4)))
def test_what_is_laid_aside_comes_back(message: dict[str, Any]):
    bare, kept = laid_aside(message)
    assert all(value not in str(bare) for _, value in kept)
    assert put_back(bare, kept) == message


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "image", "data": PICTURE}]},
        {"content": [{"type": "audio", "data": PICTURE}]},
        {"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": PICTURE}}]},
        {"contents": [{"uri": "a:b", "blob": PICTURE}]},
        {"messages": [{"role": "user", "content": {"type": "image", "data": PICTURE}}]},
        {"content": [{"type": "image", "data": base64.encodebytes(bytes(range(200))).decode()}]},
    ],
)
def test_bytes_are_found_wherever_the_protocol_has_them(message: dict[str, Any]):
    bare, kept = laid_aside(message)
    assert [value for _, value in kept if value in str(bare)] == []
    assert len(kept) == 1
    assert put_back(bare, kept) == message


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "data": "AKIAIOSFODNN7EXAMPLE"},
        {"type": "image", "data": "password: " + "hunter2 " * 20},
        {"type": "image", "data": "sk-proj-" + "a1B2" * 30},
        {"type": "text", "data": PICTURE},
        {"blob": PICTURE},
        {"type": "image", "data": ["x"]},
    ],
)
def test_what_is_no_picture_is_not_kept_from_the_scrubber(part: dict[str, Any]):
    assert laid_aside({"content": [part]}) == ({"content": [part]}, [])


def test_bytes_whose_place_the_scrubber_took_away_are_left_out():
    message = {"content": [{"type": "image", "data": PICTURE}, {"type": "text", "text": "x"}]}
    _, kept = laid_aside(message)
    for changed in (None, {}, {"content": []}, {"content": "gone"}, {"content": [{"type": "text"}]}):
        assert put_back(changed, kept) == changed
