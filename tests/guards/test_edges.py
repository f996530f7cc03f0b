"""A secret comes out at no edge: texts, data, names of attachments, the record, the log, the listeners, errors."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.safety.test_scrub import TOKEN
from toolcrib.app import Crib
from toolcrib.core.call import Attachment, Outcome, Result
from toolcrib.core.errors import ToolFailed

OWN = "melon-lamp-quartz"  # nobody would know that it is a secret, were it not registered
SECRETS = (TOKEN, OWN)


def crib_of(*tools: Any, **more: Any) -> Crib:
    return Crib(tools, agents={"helper": ["all"]}, secrets={"OWN": OWN}, **more)


async def give(value: Any) -> Outcome:
    async def leak() -> Any:
        """Leak."""
        return value

    async with crib_of(leak) as crib:
        return await crib.call("leak", {}, agent="helper")


def said(outcome: Outcome) -> str:
    return repr(outcome) + outcome.text + json.dumps(outcome.structured, default=repr)


@pytest.mark.meets("scrub:values:every-edge")
@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "shape",
    [
        lambda secret: f"it is {secret}",
        lambda secret: {"a": [{"b": secret}]},
        lambda secret: {secret: 1},
        lambda secret: Result(text=secret, person=f"for you: {secret}", structured={"a": secret}),
        lambda secret: Result(
            text="see", attachments=(Attachment(f"{secret}.txt", "text/plain", secret.encode(), f"file:///{secret}"),)
        ),
    ],
)
async def test_no_result_lets_a_secret_out(shape: Any, secret: str):
    outcome = await give(shape(secret))
    assert outcome.ok
    assert secret not in said(outcome)
    assert "[REDACTED:" in said(outcome)


@pytest.mark.meets("scrub:data:named")
@pytest.mark.parametrize(
    "value",
    [
        {"db": {"password": "Zx9kkqLm7"}},
        [{"name": "DB_PASSWORD", "value": "Zx9kkqLm7"}],
        {"kind": "Secret", "data": {"a": "Wng5a2txTG03"}},
        Result(text="ok", structured={"headers": {"Authorization": "Bearer Zx9kkqLm7Zx9kkqLm7"}}),
    ],
)
async def test_data_whose_name_makes_it_a_secret_is_taken_too(value: Any):
    outcome = await give(value)
    assert "Zx9kkqLm7" not in said(outcome)
    assert "Wng5a2txTG03" not in said(outcome)
    assert outcome.structured


async def test_data_that_is_no_secret_comes_out_as_it_is():
    value = {
        "sha256": "ab" * 32,
        "id": "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "n": [1, 2.5, None, True],
        "t": 'a "b"\n',
    }
    outcome = await give(value)
    assert outcome.structured == value
    assert json.loads(outcome.text) == value


@pytest.mark.meets("scrub:values:every-edge", "scrub:logs:too")
@pytest.mark.parametrize("secret", SECRETS)
async def test_no_error_log_record_or_listener_lets_a_secret_out(
    secret: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    async def fail() -> None:
        """Fail."""
        raise ToolFailed(f"no {secret}", code="x", hint=f"try {secret}", data={"a": secret})

    async def broken() -> None:
        """Break."""
        raise ValueError(secret)

    heard: list[str] = []
    async with crib_of(fail, broken, native=True, workspace=str(tmp_path)) as crib:
        crib.listeners.append(lambda record: heard.append(repr(record)))
        with caplog.at_level(logging.ERROR):
            for tool, arguments in (("fail", {}), ("broken", {}), ("read_file", {"path": secret}), (secret, {})):
                outcome = await crib.call(tool, arguments, agent="helper")
                assert not outcome.ok
                assert secret not in outcome.text + repr(outcome.error)
        records = await crib.store.audit.entries()
        assert secret not in repr(records)
    assert secret not in caplog.text + "".join(heard)
