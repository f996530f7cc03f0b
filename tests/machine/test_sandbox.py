"""Programs on this machine: how they start, speak, end, and what they may use up; with each kind of walls and without."""

import asyncio
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.machine.programs import ENV, Place, came_of, needs, opened, until, users, workspace_of
from toolcrib.core.errors import ToolError
from toolcrib.machine.sandbox.commands import LocalCommands
from toolcrib.services.commands import Access, Command, Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs are held on Linux")


@pytest.fixture(params=users())
def user(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=["bubblewrap", "landlock", "host"])
async def place(request: pytest.FixtureRequest, user: Any) -> Any:
    await needs(request.param, user)
    with tempfile.TemporaryDirectory(prefix="toolcrib-test-") as folder:
        Path(folder).chmod(0o711)
        with workspace_of(user, Path(folder)) as top:
            yield Place(request.param, user, top)


async def test_a_program_works_in_its_workspace(place: Place):
    (place.top / "sub").mkdir()
    (place.top / "sub").chmod(0o777)
    came = await place.run("sh", "-c", "pwd; echo made > made; cat made; exit 3", cwd="sub")
    assert came.said.splitlines() == [str(place.top / "sub"), "made"]
    assert (came.ended.why, came.ended.code) == ("exit", 3)


async def test_it_writes_files_whoever_owns_the_workspace(place: Place):
    came = await place.run("sh", "-c", "echo one > file && mkdir folder && mv file folder/ && cat folder/file")
    assert came.said == "one\n"
    assert (place.top / "folder/file").read_text() == "one\n"
    assert (place.top / "folder/file").stat().st_uid == place.top.stat().st_uid or place.walls == "host"


async def test_root_s_own_files_can_be_written_by_what_root_starts(place: Place):
    """A workspace of root, with files that root's own tools made."""
    if place.user.user >= 0 or os.geteuid() != 0:
        pytest.skip("this is about root")
    (place.top / "tool.txt").write_text("by a tool\n")
    came = await place.run("sh", "-c", "echo more >> tool.txt; cat tool.txt")
    assert came.said == "by a tool\nmore\n"


async def test_a_program_of_root_is_the_owner_of_somebody_s_workspace(place: Place):
    if place.user.user >= 0 or os.geteuid() != 0 or place.walls == "host":
        pytest.skip("this is about root, and walls")
    os.chown(place.top, 4321, 4321)
    came = await place.run("sh", "-c", "id -u; echo x > file")
    assert came.said.strip() == "4321"
    assert (place.top / "file").stat().st_uid == 4321


async def test_the_environment_is_what_was_given(place: Place):
    came = await place.run("env", env={"ONE": "1", "PATH": "/usr/bin:/bin"})
    names = {line.partition("=")[0] for line in came.said.splitlines()}
    assert names - {"PWD", "TMPDIR"} == {"ONE", "PATH"}


async def test_a_variable_for_the_linker_reaches_the_program_only(place: Place):
    """Bubblewrap itself must not load what a workspace has put there."""
    (place.top / "evil.so").write_bytes(b"not a library")
    came = await place.run("sh", "-c", "echo $LD_PRELOAD", env={**ENV, "LD_PRELOAD": str(place.top / "evil.so")})
    assert came.said.strip().endswith("evil.so")


async def test_what_it_says_comes_in_order(place: Place):
    came = await place.run("sh", "-c", "for i in 1 2 3; do echo out $i; echo err $i >&2; done")
    assert came.said == "".join(f"out {i}\nerr {i}\n" for i in (1, 2, 3))


async def test_errors_come_apart_when_asked_for(place: Place):
    async with opened(place.commands()) as commands:
        running = await commands.start(place.command("sh", "-c", "echo out; echo err >&2", split=True))
        assert await running.read() == b"out\n"
        assert await running.read_error() == b"err\n"
        assert await running.read() == b""
        assert await running.read_error() == b""


async def test_a_server_can_be_spoken_to(place: Place):
    async with opened(place.commands()) as commands:
        running = await commands.start(place.command("cat", stdin=True, split=True))
        for word in (b"one\n", b"two\n", b"x" * 300_000):
            async with asyncio.TaskGroup() as group:
                group.create_task(running.write(word))
                got = b""
                while len(got) < len(word):
                    got += await running.read()
            assert got == word
        await running.close_input()
        assert await running.read() == b""
        assert (await running.wait()).code == 0
        with pytest.raises(ToolError) as caught:
            await running.write(b"more")
        assert caught.value.as_fault().code == "input_closed"


async def test_without_input_it_reads_nothing(place: Place):
    assert (await place.run("cat")).said == ""


async def test_endless_output_is_read_piece_by_piece_and_others_go_on(place: Place):
    async with opened(place.commands()) as commands:
        running = await commands.start(place.command("sh", "-c", "while :; do echo endless; done"))
        turns, got = 0, 0

        async def others() -> None:
            nonlocal turns
            while got < 2_000_000:
                turns += 1
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            group.create_task(others())
            while got < 2_000_000:
                piece = await running.read()
                assert len(piece) <= 65_536
                got += len(piece)
        assert turns > 10
        assert (await running.stop()).why == "stopped"


async def test_nobody_reads_and_it_waits_until_its_time_is_over(place: Place):
    async with opened(place.commands()) as commands:
        running = await commands.start(place.command("sh", "-c", "yes", limits=Limits(seconds=0.5)))
        assert (await running.wait()).why == "timeout"


async def test_its_time_is_kept(place: Place):
    began = time.monotonic()
    came = await place.run(
        "sh", "-c", "trap '' TERM INT HUP; echo on; sleep 30 & wait; sleep 30", limits=Limits(seconds=0.5)
    )
    assert came.said == "on\n"
    assert (came.ended.why, came.ended.code) == ("timeout", None)
    assert time.monotonic() - began < 10


async def test_it_is_asked_before_it_is_ended(place: Place):
    async with opened(place.commands()) as commands:
        running = await commands.start(
            place.command("sh", "-c", "trap 'echo bye; exit 7' TERM; echo on; while :; do sleep 0.05; done")
        )
        assert await running.read() == b"on\n"
        ended = await running.stop(grace=10)
        assert (ended.why, ended.code) == ("stopped", 7)
        assert (await running.read()).endswith(b"bye\n")


async def test_one_that_does_not_listen_is_ended(place: Place):
    async with opened(place.commands()) as commands:
        running = await commands.start(place.command("sh", "-c", "trap '' TERM; echo on; while :; do sleep 0.05; done"))
        assert await running.read() == b"on\n"
        began = time.monotonic()
        assert (await running.stop(grace=0.2)).why == "stopped"
        assert time.monotonic() - began < 5
        assert (await running.stop()).why == "stopped"


async def test_a_signal_is_named(place: Place):
    came = await place.run("sh", "-c", "kill -SEGV $$")
    assert (came.ended.why, came.ended.signal) == ("signal", signal.SIGSEGV)


async def test_a_missing_program_is_told_as_a_shell_tells_it(place: Place):
    async with opened(place.commands()) as commands:
        for name in ("no-such-program", "./no-such-program", "/no/such/program", "../up"):
            with pytest.raises(ToolError) as caught:
                await commands.start(place.command(name))
            assert caught.value.as_fault().code == "no_program"
            assert caught.value.data == {"exit_code": 127}


async def test_a_file_that_is_no_program_says_so(place: Place):
    (place.top / "tool").write_text("#!/no/such/interpreter\n")
    (place.top / "tool").chmod(0o755)
    try:
        came = await place.run("./tool")
    except ToolError as error:
        assert error.as_fault().code == "not_started"  # noqa: PT017 - either of two ways
    else:
        assert came.ended.code in {126, 127, 1}
        assert "tool" in came.said


@pytest.mark.parametrize(
    ("argv", "env", "code"),
    [
        ((), {}, "no_program"),
        (("",), {}, "no_program"),
        (("echo", "a\0b"), ENV, "bad_command"),
        (("echo",), {"A\0B": "c"}, "bad_command"),
        (("echo",), {"A=B": "c"}, "bad_command"),
        (("echo", "\ud800"), ENV, "not_started"),
        (("echo", "x" * 200_000), ENV, "not_started"),
    ],
)
async def test_words_that_cannot_be_given_are_refused(
    place: Place, argv: tuple[str, ...], env: dict[str, str], code: str
):
    async with opened(place.commands()) as commands:
        try:
            came = await came_of(commands, place.command(*argv, env=env))
        except ToolError as error:
            assert error.as_fault().code == code  # noqa: PT017 - bubblewrap says the last by itself
        else:
            assert place.walls == "bubblewrap"
            assert code == "not_started"
            assert came.ended.code != 0
        assert (await came_of(commands, place.command("echo", "on"))).said == "on\n"


async def test_words_that_are_not_text_come_as_they_are(place: Place):
    came = await place.run("sh", "-c", 'printf %s "$1" | od -An -tx1', "sh", os.fsdecode(b"\xff\xfe"))
    assert came.said.split() == ["ff", "fe"]


async def test_a_workspace_that_vanished_is_told(place: Place):
    async with opened(place.commands()) as commands:
        place.top.rmdir()
        with pytest.raises(ToolError) as caught:
            await commands.start(place.command("true"))
        assert caught.value.as_fault().code == "workspace_gone"


@pytest.mark.parametrize("bad", ["/", "/usr", "/etc", "/proc/self", "relative"])
async def test_the_system_is_no_workspace(place: Place, bad: str):
    async with opened(place.commands()) as commands:
        with pytest.raises(ToolError) as caught:
            await commands.start(Command(argv=("true",), workspace=bad, unsafe_host=place.walls == "host"))
        assert caught.value.as_fault().code == "bad_workspace"


@pytest.mark.parametrize("bad", ["..", "/", "a/../..", "link", "no/such"])
async def test_it_begins_inside_its_workspace(place: Place, bad: str):
    (place.top / "link").symlink_to("/usr")
    async with opened(place.commands()) as commands:
        with pytest.raises(ToolError) as caught:
            await commands.start(place.command("true", cwd=bad))
        assert caught.value.as_fault().code in {"outside_workspace", "not_found"}


async def test_a_workspace_can_be_read_only_or_not_there(place: Place):
    if place.walls == "host":
        pytest.skip("without walls it is the machine's")
    (place.top / "file").write_text("text\n")
    (place.top / "file").chmod(0o666)
    script = "cat file; echo more > file; echo more > fresh; ls"
    came = await place.run("sh", "-c", script, access=Access.READ)
    assert came.said.startswith("text\n")
    assert (place.top / "file").read_text() == "text\n"
    assert not (place.top / "fresh").exists()
    came = await place.run("sh", "-c", script, access=Access.NONE)
    assert "text" not in came.said
    assert sorted(path.name for path in place.top.iterdir()) == ["file"]


async def test_hidden_paths_cannot_be_read(place: Place):
    if place.walls == "host":
        pytest.skip("without walls nothing is hidden")
    for path in ("secrets/key", "sub/.env", ".env", "sub/plain", "plain"):
        (place.top / path).parent.mkdir(exist_ok=True, mode=0o777)
        (place.top / path).write_text(f"text of {path}\n")
    (place.top / "alias").symlink_to(".env")
    (place.top / "away").symlink_to("/etc/hostname")
    script = "exec 2>/dev/null; cat secrets/key .env sub/.env alias; cat plain sub/plain; mv .env moved; cat moved"
    hidden = ("secrets", ".env", "sub/.env", "away", "not/there")
    came = await place.run("sh", "-c", script, hidden=hidden)
    assert came.said == "text of plain\ntext of sub/plain\n"
    assert (place.top / "secrets/key").read_text() == "text of secrets/key\n"


async def test_more_folders_can_be_shown(place: Place):
    if place.walls == "host":
        pytest.skip("without walls everything is shown")
    with tempfile.TemporaryDirectory(prefix="toolcrib-shown-", dir="/var/tmp") as shown:
        Path(shown).chmod(0o777)
        Path(shown, "file").write_text("shown\n")
        script = f"exec 2>/dev/null; cat {shown}/file; echo x > {shown}/file; echo x > {shown}/fresh"
        assert (await place.run("sh", "-c", script)).said == ""
        assert (await place.run("sh", "-c", script, readable=(shown,))).said == "shown\n"
        assert Path(shown, "file").read_text() == "shown\n"
        assert [path.name for path in Path(shown).iterdir()] == ["file"]


async def test_nothing_of_ours_is_left_in_the_workspace_or_in_tmp(place: Place):
    before = _scratch()
    await place.run(
        "sh", "-c", "mkdir -p ${TMPDIR:-/tmp}/a/b; echo x > ${TMPDIR:-/tmp}/a/b/c; ln -s / ${TMPDIR:-/tmp}/a/root"
    )
    assert list(place.top.iterdir()) == []
    more = _scratch() - before  # what others have meanwhile goes away by itself
    assert place.walls == "host" or await until(lambda: not more & _scratch())


def _scratch() -> set[Path]:
    return {path for path in Path("/tmp").glob("toolcrib-[0-9a-f]*") if len(path.name) == 25}


async def test_handles_of_ours_stay_ours(place: Place):
    came = await place.run(
        "sh", "-c", "ls /proc/$$/fd 2>/dev/null || for i in 3 4 5 6 7 8 9; do (: >&$i) 2>/dev/null && echo $i; done; :"
    )
    assert set(came.said.split()) <= {"0", "1", "2", "10", "255"}


@pytest.mark.meets("sandbox:bomb:contained")
async def test_a_fork_bomb_is_contained(place: Place):
    limits = Limits(seconds=2, processes=64)
    came = await place.run("bash", "-c", "b() { b | b & }; b; sleep 30", limits=limits)
    assert came.ended.why in {"timeout", "exit", "signal"}
    assert await until(lambda: not _running("b() { b | b"))


@pytest.mark.meets("sandbox:bomb:contained")
async def test_two_gigabytes_are_not_given(place: Place):
    script = "x=$(head -c 2147483648 /dev/zero | tr '\\0' x); echo ${#x}"
    came = await place.run("bash", "-c", script, limits=Limits(seconds=60, memory=128 << 20))
    assert "2147483648" not in came.said


async def test_all_end_when_it_is_closed(place: Place):
    commands = place.commands()
    running = [await commands.start(place.command("sh", "-c", "setsid sleep 4321 & sleep 4321")) for _ in range(3)]
    await commands.close()
    for one in running:
        assert (await one.wait()).why == "stopped"
    assert await until(lambda: not _running("sleep\x004321"))


async def test_all_end_when_we_are_gone(place: Place):
    """The supervisor sees its wire close, as it does when this process is killed."""
    async with opened(place.commands()) as commands:
        running = await commands.start(place.command("sh", "-c", "setsid sleep 8765 & sleep 8765"))
        running.let_go()
        assert await until(lambda: not _running("sleep\x008765"))


async def test_many_at_once(place: Place):
    async with opened(place.commands()) as commands:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(came_of(commands, place.command("sh", "-c", f"echo {i}"))) for i in range(20)]
        assert [task.result().said for task in tasks] == [f"{i}\n" for i in range(20)]


async def test_a_keeper_that_was_ended_is_started_anew(place: Place):
    async with opened(place.commands()) as commands:
        assert (await came_of(commands, place.command("echo", "one"))).said == "one\n"
        keeper = commands._keeper
        assert keeper is not None
        assert keeper._process is not None
        keeper._process.kill()
        keeper._process.wait()
        assert (await came_of(commands, place.command("echo", "two"))).said == "two\n"


def _running(words: str) -> bool:
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words.encode() in line.read_bytes():
                return True
        except OSError:
            continue
    return False


async def test_without_any_walls_it_is_refused_at_once(workspace: Path):
    began = time.perf_counter()
    commands = LocalCommands(path="/no/such/folder", order=("bubblewrap", "docker"))
    with pytest.raises(ToolError) as caught:
        await commands.start(Command(argv=("true",), workspace=str(workspace)))
    assert time.perf_counter() - began < 0.1
    fault = caught.value.as_fault()
    assert fault.code == "no_sandbox"
    assert "apt install bubblewrap" in fault.hint
    await commands.close()
