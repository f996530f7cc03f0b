"""The files family on a real workspace: what a model reads, and which paths are kept elsewhere."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.machine.test_search import make_pdf
from toolcrib.core.call import Caller, Result
from toolcrib.core.errors import ToolFailed
from toolcrib.machine.files.workspace import LocalWorkspaces
from toolcrib.services.content.files import BYTES_SEARCHED, NoRoutes
from toolcrib.services.content.marks import NoMarks
from toolcrib.tools.files.edit import edit_file, multi_edit
from toolcrib.tools.files.find import grep, list_directory
from toolcrib.tools.files.read import read_file
from toolcrib.tools.files.write import write_file

ME = Caller(agent="dev")


class Shelf:
    """Routes SOUL.md and what lies in memory/ to a dictionary."""

    def __init__(self, **texts: str) -> None:
        self.texts = {name.replace("__", "/") + ".md": text for name, text in texts.items()}

    def claims(self, caller: Caller, path: str) -> bool:
        return path == "SOUL.md" or path.startswith("memory/")

    async def read(self, caller: Caller, path: str) -> str | None:
        return self.texts.get(path)

    async def write(self, caller: Caller, path: str, content: str) -> None:
        self.texts[path] = content

    async def listing(self, caller: Caller, directory: str) -> Sequence[str]:
        prefix = "" if directory == "." else directory + "/"
        below = (path[len(prefix) :].partition("/") for path in self.texts if path.startswith(prefix))
        return sorted({f"{prefix}{name}{slash}" for name, slash, _ in below})


@pytest.fixture
def files(workspace: Path) -> LocalWorkspaces:
    return LocalWorkspaces(str(workspace), ripgrep="")


def shown(result: Result, name: str) -> object:
    part = result.structured
    return part[name] if isinstance(part, dict) else getattr(part, name)


@pytest.mark.meets("read-file:text:range")
async def test_a_file_is_read_in_parts_and_says_how_to_go_on(files: LocalWorkspaces, workspace: Path) -> None:
    (workspace / "a").write_text("".join(f"line {n}\n" for n in range(1, 5001)))
    first = await read_file(files, NoRoutes(), ME, path="a")
    assert first.text.startswith("line 1\nline 2\n")
    assert first.text.endswith("line 2000\n[lines 1 to 2000 of 5000; read on with offset=2001]")
    part = await read_file(files, NoRoutes(), ME, path="a", offset=10, limit=2)
    assert part.text == "line 10\nline 11\n[lines 10 to 11 of 5000; read on with offset=12]"
    last = await read_file(files, NoRoutes(), ME, path="a", offset=5000)
    assert last.text == "line 5000\n\n[lines 5000 to 5000 of 5000; this is the end]"
    with pytest.raises(ToolFailed, match="has 5000 lines; offset 5001 is past its end"):
        await read_file(files, NoRoutes(), ME, path="a", offset=5001)


async def test_long_lines_and_long_files_are_cut_visibly(files: LocalWorkspaces, workspace: Path) -> None:
    (workspace / "wide").write_text("x" * 5000 + "\nend\n")
    wide = await read_file(files, NoRoutes(), ME, path="wide")
    assert wide.text == "x" * 2000 + "… [this line has 5,000 characters and is cut here]\nend\n"
    assert shown(wide, "truncated")
    (workspace / "long").write_text(("y" * 999 + "\n") * 500)
    long = await read_file(files, NoRoutes(), ME, path="long")
    assert long.text.endswith("[lines 1 to 100 of 500; read on with offset=101]")


@pytest.mark.meets("read-file:utf16:decoded")
async def test_other_encodings_are_read_and_a_guess_is_said(files: LocalWorkspaces, workspace: Path) -> None:
    (workspace / "16").write_bytes("\ufeffé\r\nx".encode("utf-16-le"))
    (workspace / "latin").write_bytes(b"caf\xe9\n")
    (workspace / "empty").write_bytes(b"")
    sixteen = await read_file(files, NoRoutes(), ME, path="16")
    assert (sixteen.text, shown(sixteen, "encoding"), shown(sixteen, "line_ends")) == ("é\nx", "utf-16-le", "crlf")
    assert "read as Latin-1" in (await read_file(files, NoRoutes(), ME, path="latin")).text
    assert (await read_file(files, NoRoutes(), ME, path="empty")).text == "[the file is empty]"


@pytest.mark.meets("read-file:pdf:text")
async def test_a_pdf_is_read_with_its_pages_marked(files: LocalWorkspaces, workspace: Path) -> None:
    (workspace / "a.pdf").write_bytes(make_pdf("Hello", "World"))
    (workspace / "blank.pdf").write_bytes(make_pdf(""))
    result = await read_file(files, NoRoutes(), ME, path="a.pdf")
    assert result.text == "--- page 1 of 2 ---\nHello\n--- page 2 of 2 ---\nWorld\n"
    assert shown(result, "pages") == 2
    with pytest.raises(ToolFailed, match="has 1 pages and no text"):
        await read_file(files, NoRoutes(), ME, path="blank.pdf")


@pytest.mark.meets("edit-file:line-ends:kept")
async def test_an_edit_keeps_encoding_line_ends_and_mode(files: LocalWorkspaces, workspace: Path) -> None:
    file = workspace / "a"
    file.write_bytes("\ufeffone\r\ntwo\r\nthrée".encode("utf-16-be"))
    file.chmod(0o700)
    await edit_file(files, NoRoutes(), NoMarks(), ME, path="a", oldText="one\ntwo", newText="1\n2\n2½")
    assert file.read_bytes() == "\ufeff1\r\n2\r\n2½\r\nthrée".encode("utf-16-be")
    assert file.stat().st_mode & 0o777 == 0o700
    file.write_bytes(b"caf\xe9\n")
    with pytest.raises(ToolFailed, match="latin-1, which has no character"):
        await edit_file(files, NoRoutes(), NoMarks(), ME, path="a", oldText="caf", newText="5 €")
    assert file.read_bytes() == b"caf\xe9\n"


@pytest.mark.meets("multi-edit:all-or-nothing")
async def test_a_failed_edit_among_many_changes_nothing(files: LocalWorkspaces, workspace: Path) -> None:
    (workspace / "a").write_text("one two")
    with pytest.raises(ToolFailed) as caught:
        await multi_edit(
            files,
            NoRoutes(),
            NoMarks(),
            ME,
            path="a",
            edits=[{"oldText": "one", "newText": "1"}, {"oldText": "three", "newText": "3"}],
        )
    assert caught.value.data["failedEditIndex"] == 1
    assert (workspace / "a").read_text() == "one two"


@pytest.mark.meets("routing:context:root-only")
async def test_routed_paths_do_not_touch_the_disk(files: LocalWorkspaces, workspace: Path) -> None:
    shelf = Shelf(SOUL="kind", memory__one="first")
    (workspace / "SOUL.md").write_text("on disk")
    (workspace / "sub").mkdir()
    (workspace / "sub/SOUL.md").write_text("below")
    for path in ("SOUL.md", "./SOUL.md", "sub/../SOUL.md", f"{workspace}/SOUL.md"):
        assert (await read_file(files, shelf, ME, path=path)).text == "kind"
    assert (await read_file(files, shelf, ME, path="sub/SOUL.md")).text == "below"
    await edit_file(files, shelf, NoMarks(), ME, path="SOUL.md", oldText="kind", newText="stern")
    await multi_edit(files, shelf, NoMarks(), ME, path="SOUL.md", edits=[{"oldText": "s", "newText": "S"}])
    await write_file(files, shelf, NoMarks(), ME, path="memory/two.md", content="second")
    assert shelf.texts == {"SOUL.md": "Stern", "memory/one.md": "first", "memory/two.md": "second"}
    assert (workspace / "SOUL.md").read_text() == "on disk"
    assert (await list_directory(files, shelf, ME, path="memory")).text == "one.md\ntwo.md"
    assert (await list_directory(files, shelf, ME)).text == "SOUL.md\nmemory/\nsub/"
    deep = await list_directory(files, shelf, ME, recursive=True, pattern="*.md")
    assert deep.text == "SOUL.md\nmemory/one.md\nmemory/two.md\nsub/SOUL.md  5"
    for act in (
        read_file(files, shelf, ME, path="memory/none.md"),
        edit_file(files, shelf, NoMarks(), ME, path="memory/none.md", oldText="a", newText="b"),
    ):
        with pytest.raises(ToolFailed) as caught:
            await act
        assert caught.value.as_fault().code == "not_found"


@pytest.mark.meets("grep:options", "grep:limit:said")
async def test_found_lines_stand_under_their_file(files: LocalWorkspaces, workspace: Path) -> None:
    (workspace / "a").write_text("foo\n1\n2\n3\nfoo\n")
    (workspace / "b").write_text("x" * 1000 + "foo" + "x" * 1000)
    result = await grep(files, ME, pattern="foo", context_around=1, glob="a")
    assert result.text == "a\n1:foo\n2-1\n--\n4-3\n5:foo"
    assert (await grep(files, ME, pattern="foo", glob="a", line_numbers=False)).text == "a\nfoo\nfoo"
    wide = await grep(files, ME, pattern="foo", glob="b")
    assert wide.text == f"b\n1:…{'x' * 100}foo{'x' * 397}… [2,003 characters]"
    cut = await grep(files, ME, pattern="foo", max_results=1)
    assert cut.text == "a\n1:foo\n[only the first 1 are shown; narrow the search or raise max_results]"


async def test_a_search_says_which_files_it_did_not_look_into(files: LocalWorkspaces, workspace: Path) -> None:
    for number in range(12):
        (workspace / f"{number:02}").write_text("foo\n")
    (workspace / "big").touch()
    os.truncate(workspace / "big", BYTES_SEARCHED + 1)
    nothing = await grep(files, ME, pattern="bar")
    assert nothing.text == "[no match]\n[not searched, too large: big]"
    for number in range(12):
        os.link(workspace / f"{number:02}", workspace / f"{number:02}.copy")
    none = await grep(files, ME, pattern="foo")
    assert none.text.endswith("02.copy, 03, 03.copy, 04, 04.copy and 14 more]")
    assert len(shown(none, "passed_over")) == 25  # type: ignore[arg-type] - a list
