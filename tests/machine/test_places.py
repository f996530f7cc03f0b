"""Where commands run, and which files they would start."""

import os
from pathlib import Path

import pytest

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.machine.places import LocalPlaces
from toolcrib.services.places import Place

ADA = Caller(agent="ada")


@pytest.fixture
def places(workspace: Path) -> LocalPlaces:
    return LocalPlaces(lambda _: (str(workspace), (".toolcrib",)))


def test_a_workspace_that_is_a_link_is_told_by_where_it_leads(tmp_path: Path, workspace: Path):
    (tmp_path / "link").symlink_to(workspace)
    place = LocalPlaces(lambda _: (str(tmp_path / "link"), ("a",))).of(ADA)
    assert place == Place(str(workspace), ("a",))


@pytest.mark.parametrize("cwd", ["..", "/", "/etc", "sub/../..", "out", "../workspace-2"])
def test_no_folder_outside_is_taken(places: LocalPlaces, workspace: Path, cwd: str):
    (workspace.parent / "workspace-2").mkdir()
    (workspace / "out").symlink_to("/etc")
    with pytest.raises(ToolFailed, match="outside the workspace"):
        places.folder(places.of(ADA), cwd)


@pytest.mark.parametrize("cwd", ["gone", "file", ".toolcrib", ".toolcrib/x"])
def test_only_folders_that_are_there_and_open_are_taken(places: LocalPlaces, workspace: Path, cwd: str):
    (workspace / ".toolcrib" / "x").mkdir(parents=True)
    (workspace / "file").write_text("")
    with pytest.raises(ToolFailed, match="There is no folder"):
        places.folder(places.of(ADA), cwd)


def test_a_workspace_that_vanished_is_said_so(places: LocalPlaces, workspace: Path):
    place = places.of(ADA)
    workspace.rmdir()
    with pytest.raises(ToolFailed) as told:
        places.folder(place, ".")
    assert told.value.as_fault().code == "workspace_missing"


def test_folders_of_the_workspace_are_taken_by_any_of_their_names(places: LocalPlaces, workspace: Path):
    (workspace / "sub").mkdir()
    for cwd in ("sub", "sub/", "./sub", "sub/../sub", str(workspace / "sub")):
        assert places.folder(places.of(ADA), cwd) == str(workspace / "sub")
    assert places.folder(places.of(ADA), ".") == str(workspace)


@pytest.mark.meets("approval:bound:executable")
def test_a_file_that_we_could_change_is_told_by_its_content(places: LocalPlaces, workspace: Path):
    script = workspace / "s.sh"
    script.write_text("one")
    argv = [["bash", "s.sh", "--flag", "gone"], ["./s.sh"]]
    first = places.identities(argv, str(workspace), "/usr/bin:/bin")
    assert set(first) == {"program bash", "file s.sh", "program ./s.sh"}
    before = script.stat()
    script.write_text("two")
    os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))
    second = places.identities(argv, str(workspace), "/usr/bin:/bin")
    assert second["program bash"] == first["program bash"]
    assert second["file s.sh"] != first["file s.sh"]


def test_another_program_that_comes_first_on_the_path_is_another_program(places: LocalPlaces, workspace: Path):
    own = workspace / "bin"
    own.mkdir()
    (own / "bash").write_text("#!/bin/sh\n")
    (own / "bash").chmod(0o755)
    plain = places.identities([["bash"]], str(workspace), "/usr/bin:/bin")
    assert places.identities([["bash"]], str(workspace), f"{own}:/usr/bin:/bin") != plain
    assert places.identities([["bash"]], str(workspace), "bin:/usr/bin:/bin") == plain, (
        "a relative entry counts for nothing"
    )


def test_odd_names_are_no_files(places: LocalPlaces, workspace: Path):
    os.mkfifo(workspace / "fifo")
    (workspace / "loop").symlink_to("loop")
    odd = ["bash", "fifo", "loop", "a\0b", "x" * 5000, "/dev/null", "."]
    assert set(places.identities([odd], str(workspace), "/usr/bin:/bin")) == {"program bash"}
