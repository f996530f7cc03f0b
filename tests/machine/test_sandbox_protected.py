"""What a program may not change in its workspace: hooks, start-up files and settings of tools."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.machine.programs import Place, needs, opened, until, users, workspace_of
from toolcrib.core.errors import ToolError
from toolcrib.machine.sandbox import places
from toolcrib.machine.sandbox.keeper.ghosts import Ghosts, is_ghost
from toolcrib.services.commands import Access

SCRIPT = """
exec 2>/dev/null
for path in {paths}; do
  echo evil > "$path" && echo "wrote $path"
  test -e "$path" && rm -rf "$path" && ! test -e "$path" && echo "removed $path"
  mv "$path" away && ! test -e "$path" && echo "moved $path"
  rm -rf away
  mkdir -p "$path" && echo evil > "$path/in" && echo "wrote $path/in"
  ln -sf /tmp/evil "$path" && test -L "$path" && echo "linked $path"
  chmod 777 "$path" && echo evil > "$path" && echo "opened $path"
done
mv .git elsewhere && echo "moved .git"
rm -rf .git; test -d .git || echo "removed .git"
"""
ALL = ".git/hooks .git/config .bashrc .profile .zshrc .vscode .idea .claude .cursor .mcp.json .envrc .gitmodules toolcrib.yaml"


@pytest.fixture(params=users())
async def place(request: pytest.FixtureRequest) -> Any:
    await needs("bubblewrap", request.param)
    with tempfile.TemporaryDirectory(prefix="toolcrib-test-") as folder:
        Path(folder).chmod(0o711)
        with workspace_of(request.param, Path(folder)) as top:
            yield Place("bubblewrap", request.param, top)


def own(place: Place) -> None:
    """All of the workspace belongs to who works in it."""
    if place.user.user >= 0:
        for path in place.top.rglob("*"):
            os.chown(path, *place.user, follow_symlinks=False)


@pytest.mark.meets("sandbox:workspace:protected")
async def test_what_is_there_cannot_be_changed_moved_or_replaced(place: Place):
    (place.top / ".git/hooks").mkdir(parents=True)
    for name in (
        ".git/config",
        ".git/HEAD",
        ".git/hooks/pre-commit",
        ".bashrc",
        ".mcp.json",
        "toolcrib.yaml",
        ".zlogin",
    ):
        (place.top / name).write_text("good")
    for name in (".vscode/settings.json", ".claude/settings.json"):
        (place.top / name).parent.mkdir()
        (place.top / name).write_text("good")
    own(place)
    before = {path: path.read_bytes() for path in place.top.rglob("*") if path.is_file()}
    came = await place.run(
        "sh", "-c", SCRIPT.format(paths=ALL + " .zlogin .git/hooks/pre-commit .claude/settings.json")
    )
    assert came.said == ""
    after = {path: path.read_bytes() for path in place.top.rglob("*") if path.is_file()}
    assert after == {path: text for path, text in before.items() if path.name != "HEAD"}  # the rest of .git is its own


@pytest.mark.meets("sandbox:workspace:protected")
async def test_what_is_missing_cannot_be_made_and_leaves_no_trace(place: Place):
    came = await place.run(
        "sh", "-c", SCRIPT.format(paths=ALL) + "echo fine > ordinary; mkdir sub && echo x > sub/.bashrc"
    )
    assert came.said == ""
    assert sorted(str(path.relative_to(place.top)) for path in place.top.rglob("*")) == [
        "ordinary",
        "sub",
        "sub/.bashrc",
    ]


async def test_git_can_commit_in_a_repository(place: Place):
    if not Path("/usr/bin/git").exists():
        pytest.skip("there is no git here")
    script = "git init -q sub && cd sub && git -c user.name=a -c user.email=b commit -q --allow-empty -m one && git log --format=%s"
    assert (await place.run("sh", "-c", script)).said == "one\n"
    (place.top / "sub/.git").rename(place.top / ".git")
    (place.top / ".gitmodules").unlink(missing_ok=True)
    script = (
        "git -c user.name=a -c user.email=b commit -q --allow-empty -m two && git log --format=%s; git config a.b c"
    )
    said = (await place.run("sh", "-c", script)).said
    assert said.startswith("two\none\n")
    assert "could not write config" in said or "Device or resource busy" in said


@pytest.mark.parametrize("name", [".git", ".bashrc", ".vscode", ".git/hooks"])
async def test_a_link_at_a_protected_name_is_refused(place: Place, name: str):
    (place.top / "elsewhere").mkdir()
    if "/" in name:
        (place.top / ".git").mkdir()
    (place.top / name).symlink_to(place.top / "elsewhere")
    async with opened(place.commands()) as commands:
        with pytest.raises(ToolError) as caught:
            await commands.start(place.command("true"))
        assert caught.value.as_fault().code == "protected_link"
        running = await commands.start(place.command("true", access=Access.READ))
        assert (await running.wait()).code == 0


async def test_covers_stay_until_the_last_program_has_ended(place: Place):
    async with opened(place.commands()) as commands:
        long = await commands.start(place.command("sh", "-c", "read x; echo evil > .bashrc", stdin=True))
        short = await commands.start(place.command("true"))
        assert (await short.wait()).code == 0
        assert is_ghost((place.top / ".bashrc").lstat())
        await long.write(b"\n")
        said = b""
        while piece := await long.read():
            said += piece
        assert b"Read-only" in said
        await long.wait()
        assert list(place.top.iterdir()) == []


async def test_covers_that_a_crash_left_are_cleared_by_the_next_program(place: Place):
    names = list(places.covers(str(place.top)).ghosts)
    async with opened(place.commands()) as commands:
        running = await commands.start(place.command("sleep", "60"))
        supervisor = int(Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(supervisor, 9)
        assert (await running.wait()).why == "signal"
        assert len(list(place.top.iterdir())) == len(names)
        assert await until(lambda: not Path(f"/proc/{running.pid}").exists())
        assert places.covers(str(place.top)).ghosts == tuple(names)
        assert (await (await commands.start(place.command("true"))).wait()).code == 0
        assert list(place.top.iterdir()) == []


def test_a_cover_that_somebody_wrote_into_is_left(workspace: Path):
    ghosts = Ghosts()
    names = [(str(workspace / ".bashrc"), False), (str(workspace / ".vscode"), True)]
    ghosts.put(str(workspace), names)
    (workspace / ".bashrc").chmod(0o644)
    (workspace / ".bashrc").write_text("by a person")
    (workspace / ".vscode").chmod(0o755)
    (workspace / ".vscode/settings.json").write_text("{}")
    ghosts.take_away(names)
    assert (workspace / ".bashrc").read_text() == "by a person"
    assert (workspace / ".vscode/settings.json").exists()


def test_in_a_home_every_start_up_file_is_covered(workspace: Path, monkeypatch: pytest.MonkeyPatch):
    here = {Path(path).name for path, _ in places.covers(str(workspace)).ghosts}
    assert {".bashrc", ".git", "toolcrib.yaml"} <= here
    assert ".zlogin" not in here
    monkeypatch.setattr(places, "_homes", lambda: frozenset({str(workspace)}))
    assert ".zlogin" in {Path(path).name for path, _ in places.covers(str(workspace)).ghosts}
