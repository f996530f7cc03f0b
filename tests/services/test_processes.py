"""What is kept of an output, and of background processes."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.services.commands import Ended
from toolcrib.services.processes import KEPT_OF_JOB, OVER, Job, Kept, Processes, owner_of

ADA = Caller(agent="ada", session="s1")


class Scripted:
    """A program whose output and end the test says."""

    pid = 1

    def __init__(self, *output: bytes) -> None:
        self._output = asyncio.Queue[bytes]()
        self._end = asyncio.get_running_loop().create_future()
        for piece in output:
            self._output.put_nowait(piece)

    def say(self, piece: bytes) -> None:
        self._output.put_nowait(piece)

    def end(self, **said: object) -> None:
        self._output.put_nowait(b"")
        self._end.set_result(Ended(**{"why": "exit", "code": 0, **said}))  # type: ignore[arg-type]

    async def read(self) -> bytes:
        return await self._output.get()

    async def read_error(self) -> bytes:
        return b""

    async def write(self, data: bytes) -> None: ...

    async def close_input(self) -> None: ...

    async def wait(self) -> Ended:
        return await asyncio.shield(self._end)

    async def stop(self, *, grace: float = 1.0) -> Ended:
        if not self._end.done():
            self.end(why="stopped", code=None)
        return await self._end


def job(program: Scripted, name: str = "p1", scrub: object = str) -> Job:
    return Job(name, "command", program, scrub)  # type: ignore[arg-type]


@given(pieces=st.lists(st.binary(max_size=40), max_size=60), most=st.integers(1, 50))
def test_the_newest_bytes_are_kept_and_no_more_than_twice_the_bound(pieces: list[bytes], most: int):
    kept, whole = Kept(most), b"".join(pieces)
    for piece in pieces:
        kept.add(piece)
        assert kept.total - kept.first <= 2 * most + 40
    assert kept.total == len(whole)
    assert kept.since(0) == whole[kept.first :]
    assert len(kept.since(0)) >= min(most, len(whole))
    assert kept.since(kept.total - 1 if whole else 0) == whole[-1:]


async def test_news_come_in_whole_lines_once_and_what_is_gone_is_counted():
    program = Scripted(b"one\ntw")
    mine = job(program)
    await mine.moved(5)
    assert mine.news() == ("one\n", 0)
    program.say(b"o\n")
    await mine.moved(5)
    assert mine.news() == ("two\n", 0)
    assert mine.news() == ("", 0)
    program.say(b"x" * (3 * KEPT_OF_JOB) + b"\n")
    await mine.moved(5)
    text, lost = mine.news()
    assert lost + len(text) == 3 * KEPT_OF_JOB + 1
    assert lost > 0
    await mine.stop()


async def test_a_question_without_an_end_of_line_is_told_after_a_while():
    program = Scripted(b"Password: ")
    mine = job(program)
    began = time.monotonic()
    while not (told := mine.news()[0]):
        await mine.moved(5)
    assert told == "Password: "
    assert time.monotonic() - began < 4
    await mine.stop()


async def test_waiting_for_news_ends_with_the_process():
    program = Scripted()
    mine = job(program)
    program.end(code=3)
    await mine.moved(60)
    assert mine.state == "exit code 3"


async def test_a_secret_that_stands_over_the_beginning_of_what_is_shown_is_not_shown():
    program = Scripted(b"a" * 100 + b"hunter2-and-more\n" + b"b" * 50)
    mine = job(program, scrub=lambda text: text.replace("hunter2-and-more", "[X]"))
    program.end()
    await mine.over()
    for most in range(1, 80):
        shown, _ = mine.tail(most)
        assert "and-more" not in shown, most
        assert "hunter2" not in shown


async def test_a_character_at_the_cut_is_shown_whole():
    program = Scripted("ääää".encode())
    mine = job(program)
    program.end()
    await mine.over()
    assert mine.tail(3)[0] == "ää"


async def test_each_owner_counts_apart_and_ended_ones_make_room():
    kept = Processes(most=2)
    programs = [Scripted() for _ in range(40)]
    for program in programs:
        with kept.admit(ADA) as keep:
            mine = keep(lambda id_, program=program: job(program, id_))
        program.end()
        await mine.over()
    assert [one.id for one in kept.of(ADA)] == [f"p{number}" for number in range(40 - OVER, 41)]
    assert kept.of(Caller(agent="bob", session="s1")) == []
    with pytest.raises(ToolFailed, match="You have no background process 'p1'"):
        kept.find(ADA, "p1")
    await kept.close()


async def test_no_more_run_than_may_also_while_they_are_being_started():
    kept = Processes(most=2)
    with kept.admit(ADA), kept.admit(ADA), pytest.raises(ToolFailed, match="2 background processes run already"):
        kept.room(owner_of(ADA))
    with kept.admit(ADA):
        pass
    kept.room(owner_of(ADA))


async def test_closing_ends_every_one():
    kept, programs = Processes(), [Scripted() for _ in range(3)]
    jobs: list[Job] = []
    for program in programs:
        with kept.admit(ADA) as keep:
            jobs.append(keep(lambda id_, program=program: job(program, id_)))
    await kept.close()
    assert [one.state for one in jobs] == ["stopped"] * 3
