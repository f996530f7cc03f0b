"""What an agent sees of a secret is a mark; a file that it writes gets the secret again, nothing else does."""

from pathlib import Path

import pytest

from tests.safety.test_scrub import TOKEN
from toolcrib.app import Crib

LINE = f"api_token = '{TOKEN}'\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "settings.py").write_text("debug = True\n" + LINE, encoding="utf-8")
    return tmp_path


def crib_of(workspace: Path) -> Crib:
    return Crib(agents={"helper": ["all"]}, native=True, workspace=str(workspace))


async def seen(crib: Crib, path: str = "settings.py") -> str:
    text = (await crib.call("read_file", {"path": path}, agent="helper")).text
    assert TOKEN not in text
    return text


@pytest.mark.meets("scrub:edit:restored")
async def test_a_file_written_back_as_it_was_seen_keeps_its_secret(workspace: Path):
    async with crib_of(workspace) as crib:
        text = await seen(crib)
        outcome = await crib.call("write_file", {"path": "copy.py", "content": text + "x = 1\n"}, agent="helper")
        assert outcome.ok
        assert (workspace / "copy.py").read_text(encoding="utf-8") == "debug = True\n" + LINE + "x = 1\n"


@pytest.mark.meets("scrub:edit:restored")
@pytest.mark.parametrize("tool", ["edit_file", "multi_edit"])
async def test_an_edit_of_the_line_with_the_mark_keeps_its_secret(workspace: Path, tool: str):
    async with crib_of(workspace) as crib:
        line = (await seen(crib)).splitlines()[1]
        one = {"oldText": line, "newText": line.replace("api_token", "token")}
        arguments = {"path": "settings.py", **(one if tool == "edit_file" else {"edits": [one]})}
        assert (await crib.call(tool, arguments, agent="helper")).ok
        assert f"\ntoken = '{TOKEN}'" in (workspace / "settings.py").read_text(encoding="utf-8")


@pytest.mark.meets("scrub:edit:unknown")
async def test_a_mark_that_nobody_knows_is_refused_and_the_file_keeps_its_secret(workspace: Path):
    async with crib_of(workspace) as crib:
        arguments = {"path": "settings.py", "content": "api_token = '[REDACTED:github:zzzz]'\n"}
        outcome = await crib.call("write_file", arguments, agent="helper")
        assert outcome.error is not None
        assert outcome.error.code == "unknown_mark"
        assert "Read the file again" in outcome.error.hint
        assert TOKEN in (workspace / "settings.py").read_text(encoding="utf-8")
        edit = {"path": "settings.py", "oldText": "debug = True", "newText": "x = '[REDACTED:github:zzzz]'"}
        assert (await crib.call("edit_file", edit, agent="helper")).error is not None


async def test_a_mark_that_a_file_holds_as_plain_text_may_stay(workspace: Path):
    (workspace / "log.txt").write_text("was [REDACTED:github:zzzz] then\n", encoding="utf-8")
    async with crib_of(workspace) as crib:
        arguments = {"path": "log.txt", "content": "is [REDACTED:github:zzzz] now\n"}
        assert (await crib.call("write_file", arguments, agent="helper")).ok
        assert (workspace / "log.txt").read_text(encoding="utf-8") == "is [REDACTED:github:zzzz] now\n"


async def test_another_session_of_the_program_does_not_know_the_mark(workspace: Path):
    async with crib_of(workspace) as crib:
        text = await seen(crib)
    async with crib_of(workspace) as crib:
        outcome = await crib.call("write_file", {"path": "settings.py", "content": text}, agent="helper")
        assert not outcome.ok


@pytest.mark.meets("scrub:edit:restored")
async def test_the_record_and_other_tools_see_the_mark_only(workspace: Path):
    heard: list[str] = []

    async def send(words: str) -> str:
        """Send words away."""
        heard.append(words)
        return "sent"

    crib = Crib([send], agents={"helper": ["all"]}, native=True, workspace=str(workspace))
    crib.listeners.append(lambda record: heard.append(repr(record)))
    async with crib:
        text = await seen(crib)
        await crib.call("send", {"words": text}, agent="helper")
        await crib.call("write_file", {"path": "copy.py", "content": text}, agent="helper")
    assert TOKEN not in "".join(heard)
    assert "[REDACTED:github:" in heard[1]
