"""What a search finds, on both engines; and walks, listings and PDFs."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from toolcrib.core.call import Caller
from toolcrib.core.errors import TimedOut, ToolError, ToolFailed
from toolcrib.machine.files import pdf
from toolcrib.machine.files.root import Root
from toolcrib.machine.files.search import search
from toolcrib.machine.files.workspace import LocalWorkspace, LocalWorkspaces
from toolcrib.machine.halt import Halt
from toolcrib.services.content.files import BYTES_SEARCHED, Hits, Kind, Mode, Query

RIPGREP = shutil.which("rg")
ENGINES = [
    pytest.param(None, id="own"),
    pytest.param(RIPGREP, id="ripgrep", marks=pytest.mark.skipif(RIPGREP is None, reason="ripgrep is not on the PATH")),
]
engines = pytest.mark.parametrize("program", ENGINES)


@pytest.fixture(params=[True, False], ids=["openat2", "walk"])
def root(request: pytest.FixtureRequest, workspace: Path) -> Root:
    return Root(str(workspace), (".toolcrib", "private"), kernel=request.param)


def plant(workspace: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = workspace / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def found(root: Root, program: str | None, pattern: str = "foo", **options: object) -> list[str]:
    query = Query(pattern=pattern, **options)  # type: ignore[arg-type] - the options of a test
    return told(search(root, query, Halt(30), program), query)


def told(hits: Hits, query: Query) -> list[str]:
    if query.mode is not Mode.CONTENT:
        return [f"{file.path}:{file.count}" for file in hits.files]
    return [f"{f.path}:{x.number}{':' if x.match else '-'}{x.text}" for f in hits.files for x in f.lines]


@engines
@pytest.mark.meets("grep:files:chosen")
def test_ignored_hidden_and_binary_files_are_passed_over(root: Root, workspace: Path, program: str | None) -> None:
    plant(
        workspace,
        **{
            ".gitignore": "*.log\nout/\n",
            "a.txt": "foo\n",
            "a.log": "foo\n",
            "out/a.txt": "foo\n",
            ".env": "foo\n",
            ".git/config": "foo\n",
            "b.bin": b"foo\n\0",
            "late.bin": b"foo\n" + b"x\n" * 100_000 + b"\0",
            "sub/.ignore": "c.txt\n",
            "sub/c.txt": "foo\n",
            "sub/.gitignore": "!kept.log\n",
            "sub/kept.log": "foo\n",
            "private/key": "foo\n",
            ".toolcrib/key": "foo\n",
        },
    )
    (workspace / "link.txt").symlink_to("a.txt")
    (workspace / "twin-a.dat").write_text("foo\n")
    os.link(workspace / "twin-a.dat", workspace / "twin-b.dat")
    names = {"mode": Mode.FILES}
    assert found(root, program, **names) == ["a.txt:1", "sub/kept.log:1"]
    assert found(root, program, hidden=True, **names) == [".env:1", "a.txt:1", "sub/kept.log:1"]
    everything = found(root, program, hidden=True, no_ignore=True, **names)
    assert everything == [".env:1", "a.log:1", "a.txt:1", "out/a.txt:1", "sub/c.txt:1", "sub/kept.log:1"]
    assert found(root, program, glob="*.log", **names) == ["a.log:1", "sub/kept.log:1"]
    assert found(root, program, path="sub", **names) == ["sub/kept.log:1"]
    assert found(root, program, path="a.log", **names) == ["a.log:1"]


@engines
@pytest.mark.meets("grep:files:chosen")
def test_other_encodings_and_line_ends_are_searched(root: Root, workspace: Path, program: str | None) -> None:
    plant(
        workspace,
        **{
            "16.txt": "\ufeffnaïve foo\r\nx\r\n".encode("utf-16-le"),
            "8.txt": "\ufefffoo\n".encode(),
            "dos.txt": "foo\r\nfoo bar\r\n",
            "latin.txt": "caf\xe9 foo\n".encode("latin-1"),
        },
    )
    assert found(root, program, "foo$") == [
        "16.txt:1:naïve foo",
        "8.txt:1:foo",
        "dos.txt:1:foo",
        "latin.txt:1:caf� foo",
    ]


@engines
@pytest.mark.meets("grep:options", "grep:modes:three")
def test_modes_and_options_do_what_they_say(root: Root, workspace: Path, program: str | None) -> None:
    plant(workspace, **{"a.txt": "one\nFoo\ntwo\nthree\nfoo\nfour\n", "b.txt": "foo\nbar\r\nbaz\n"})
    assert found(root, program, mode=Mode.COUNT) == ["a.txt:1", "b.txt:1"]
    assert found(root, program, mode=Mode.COUNT, ignore_case=True) == ["a.txt:2", "b.txt:1"]
    assert found(root, program, path="a.txt", before=1) == ["a.txt:4-three", "a.txt:5:foo"]
    assert found(root, program, path="a.txt", after=1) == ["a.txt:5:foo", "a.txt:6-four"]
    assert found(root, program, r"bar\nbaz", multiline=True) == ["b.txt:2:bar", "b.txt:3:baz"]
    assert found(root, program, "two.*four", multiline=True, mode=Mode.COUNT) == ["a.txt:4"]
    assert found(root, program, "nothing") == []


@engines
@pytest.mark.meets("grep:limit:said")
def test_what_is_over_the_limit_is_cut_and_said(root: Root, workspace: Path, program: str | None) -> None:
    plant(workspace, **{f"{n}.txt": "foo\n" * 5 for n in range(5)})
    for mode, limit, shown, cut in (
        (Mode.CONTENT, 7, 7, True),
        (Mode.CONTENT, 25, 25, False),
        (Mode.FILES, 3, 3, True),
        (Mode.COUNT, 5, 5, False),
    ):
        query = Query(pattern="foo", mode=mode, limit=limit)
        hits = search(root, query, Halt(30), program)
        assert (len(told(hits, query)), hits.cut) == (shown, cut)


@engines
@pytest.mark.meets("grep:pattern:bad")
@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "(?=x)", r"(a)\1", "*a", r"\p{Nope}", "a\\"])
def test_a_pattern_that_means_nothing_is_refused(
    root: Root, workspace: Path, program: str | None, pattern: str
) -> None:
    plant(workspace, a="foo\n")
    with pytest.raises(ToolFailed) as caught:
        found(root, program, pattern)
    assert caught.value.as_fault().code == "bad_pattern"


@engines
def test_a_pattern_or_name_that_looks_like_an_option_is_none(root: Root, workspace: Path, program: str | None) -> None:
    plant(workspace, **{"-rf": "--help\n", "--pre/x": "--help\n"})
    assert found(root, program, "--help", mode=Mode.FILES) == ["--pre/x:1", "-rf:1"]
    assert found(root, program, "--help", path="--pre", mode=Mode.FILES) == ["--pre/x:1"]
    assert found(root, program, "-e", mode=Mode.FILES) == []


@engines
def test_a_search_does_not_leave_the_workspace(
    root: Root, workspace: Path, program: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(workspace.parent, **{".gitignore": "*\n", "beside.txt": "foo\n", "config": "--no-ignore\n--hidden\n"})
    plant(workspace, **{"a.txt": "foo\n", ".hidden": "foo\n"})
    (workspace / "out").symlink_to(workspace.parent)
    (workspace / "denied").symlink_to("private")
    plant(workspace, private__key="foo\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(workspace.parent / "config"))
    assert found(root, program, mode=Mode.FILES) == ["a.txt:1"]
    for path, code in (
        ("..", "path_outside_workspace"),
        ("out", "path_outside_workspace"),
        ("out/beside.txt", "path_outside_workspace"),
        ("/etc", "path_outside_workspace"),
        ("private", "access_denied"),
        ("denied", "access_denied"),
        ("nope", "not_found"),
    ):
        with pytest.raises(ToolFailed) as caught:
            found(root, program, path=path)
        assert caught.value.as_fault().code == code


@engines
def test_a_search_ends_when_its_time_is_up(root: Root, workspace: Path, program: str | None) -> None:
    plant(workspace, a="foo\n")
    with pytest.raises(TimedOut):
        search(root, Query(pattern="foo"), Halt(0), program)


@engines
async def test_a_search_that_is_cancelled_stops(workspace: Path, program: str | None) -> None:
    plant(workspace, **{f"{n}": "a" * 500 + "\n" for n in range(200)})
    space = LocalWorkspace(Root(str(workspace)), program)
    task = asyncio.ensure_future(space.search(Query(pattern="(a?){100}b")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@engines
def test_files_that_a_search_passes_over_are_named(root: Root, workspace: Path, program: str | None) -> None:
    plant(workspace, **{"a.txt": "bar\n", "once.txt": "foo\n", ".gitignore": "ignored.log\n", "sub/long.log": ""})
    for name in ("sub/long.log", "ignored.log"):
        with (workspace / name).open("wb") as file:
            file.write(b"foo\n")
            file.truncate(BYTES_SEARCHED + 1)
    os.link(workspace / "once.txt", workspace / "twice.txt")
    hits = search(root, Query(pattern="foo"), Halt(30), program)
    assert hits == Hits((), large=("sub/long.log",), linked=("once.txt", "twice.txt"))
    cut = search(root, Query(pattern="bar|ignored", hidden=True, limit=1), Halt(30), program)
    assert cut.cut
    assert cut.large == cut.linked == ()


@pytest.mark.meets("grep:files:chosen")
def test_a_named_file_that_cannot_be_searched_is_said_so(root: Root, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    with (workspace / "huge").open("wb") as file:
        file.truncate(60 << 20)
    plant(workspace, twin="foo\n")
    os.link(workspace / "twin", workspace / "other")
    for path, code in (("pipe", "not_a_file"), ("huge", "too_large"), ("twin", "access_denied")):
        with pytest.raises(ToolFailed) as caught:
            found(root, None, path=path)
        assert caught.value.as_fault().code == code


@pytest.mark.meets("list-directory:depth", "list-directory:pattern", "path:deny:hidden")
async def test_a_listing_shows_names_in_order_and_hides_what_is_denied(root: Root, workspace: Path) -> None:
    plant(
        workspace,
        **{
            "b/c/d/e.txt": "12345",
            "a.txt": "1",
            "a/x.py": "",
            ".toolcrib/key": "",
            "private/key": "",
            "node_modules/m/index.js": "",
            ".git/config": "",
        },
    )
    (workspace / "link").symlink_to("a.txt")
    space = LocalWorkspace(root, None)
    flat = await space.listing(".")
    assert [(e.path, e.kind, e.size) for e in flat.entries] == [
        ("a", Kind.DIRECTORY, 0),
        ("a.txt", Kind.FILE, 1),
        ("b", Kind.DIRECTORY, 0),
        ("link", Kind.LINK, 0),
    ]
    assert flat.skipped == (".git", "node_modules")
    deep = await space.listing("b", depth=2)
    assert [entry.path for entry in deep.entries] == ["b/c", "b/c/d"]
    assert [e.path for e in (await space.listing(".", depth=10, pattern="*.txt")).entries] == ["a.txt", "b/c/d/e.txt"]
    assert [e.path for e in (await space.listing("node_modules")).entries] == ["node_modules/m"]
    assert (await space.listing(".", limit=2)).cut
    for path, code in (("a.txt", "not_a_directory"), ("nope", "not_found"), ("private", "access_denied")):
        with pytest.raises(ToolFailed) as caught:
            await space.listing(path)
        assert caught.value.as_fault().code == code


@pytest.mark.meets("glob:finds", "path:deny:hidden")
async def test_a_glob_finds_files_by_path(root: Root, workspace: Path) -> None:
    plant(
        workspace,
        **{
            "src/a.py": "",
            "src/deep/b.py": "",
            "private/c.py": "",
            "node_modules/d.py": "",
            ".github/e.py": "",
            "f.txt": "",
        },
    )
    space = LocalWorkspace(root, None)

    async def paths(pattern: str, path: str = ".") -> list[str]:
        return [entry.path for entry in (await space.find(pattern, path)).entries]

    assert await paths("*.py") == [".github/e.py", "src/a.py", "src/deep/b.py"]
    assert await paths("src/*.py") == ["src/a.py"]
    assert await paths("*.py", "src") == ["src/a.py", "src/deep/b.py"]
    assert await paths("deep/*", "src") == ["src/deep/b.py"]
    assert await paths("node_modules/**") == ["node_modules/d.py"]
    assert await paths("private/*") == []
    assert (await space.find("*", limit=1)).cut


def test_a_name_that_is_not_utf_8_does_not_stop_a_walk(root: Root, workspace: Path) -> None:
    (workspace / "\udcff\udcfe.py").write_bytes(b"foo\n")
    assert found(root, None, glob="*.py", mode=Mode.FILES) == ["\udcff\udcfe.py:1"]


def make_pdf(*pages: str) -> bytes:
    """A small PDF with a line of text on each page."""
    count = len(pages)
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(count))
    parts = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {count} >>"]
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for number, words in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({words}) Tj ET"
        content = 4 + 2 * number
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R /Resources {font} >>"
        parts += [page, f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"]
    out, places = "%PDF-1.4\n", list[int]()
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{part}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    total, start = len(parts) + 1, len(out)
    out += f"xref\n0 {total}\n0000000000 65535 f \n{table}trailer\n<< /Size {total} /Root 1 0 R >>\nstartxref\n"
    return f"{out}{start}\n%%EOF\n".encode()


@pytest.mark.meets("read-file:pdf:text")
def test_the_text_of_a_pdf_comes_page_by_page() -> None:
    assert [page.strip() for page in pdf.pages("a.pdf", make_pdf("Hello", "World"))] == ["Hello", "World"]


@pytest.mark.parametrize("data", [b"%PDF-1.4\nrubbish", b"%PDF-", make_pdf("x")[:200]])
def test_a_damaged_pdf_is_refused(data: bytes) -> None:
    with pytest.raises(ToolFailed, match=r"a\.pdf: no text could be taken") as caught:
        pdf.pages("a.pdf", data)
    assert caught.value.as_fault().code == "unreadable_pdf"


def test_a_pdf_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(ToolFailed, match="took more than"):
        pdf.pages("a.pdf", make_pdf("x"), seconds=0.001)


async def test_workspaces_use_ripgrep_only_if_it_is_there(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(workspace, a="foo\n")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent / "nowhere"))
    hits = await LocalWorkspaces(str(workspace)).of(Caller(agent="dev")).search(Query(pattern="foo"))
    assert [file.path for file in hits.files] == ["a"]
    broken = LocalWorkspaces(str(workspace), ripgrep=str(workspace / "a")).of(Caller(agent="dev"))
    with pytest.raises(ToolError):
        await broken.search(Query(pattern="foo"))


def test_a_pdf_worker_that_dies_or_babbles_is_no_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for script, words in (("raise SystemExit(3)", "too much time or memory"), ("print('x')", "damaged")):
        worker = tmp_path / "worker.py"
        worker.write_text(script)
        monkeypatch.setattr(pdf, "_WORKER", str(worker))
        with pytest.raises(ToolFailed, match=words):
            pdf.pages("a.pdf", b"")


async def test_many_workspaces_are_not_all_kept(workspace: Path) -> None:
    spaces = LocalWorkspaces(ripgrep="")
    for number in range(1100):
        spaces.of(Caller(agent="dev", workspace=f"/nowhere/{number}"))
    plant(workspace, a="x")
    space = spaces.of(Caller(agent="dev", workspace=str(workspace)))
    assert spaces.of(Caller(agent="dev", workspace=str(workspace))) is space
    assert (await space.remove("a")).data == b"x"


def test_ripgrep_that_fails_is_a_coded_error(root: Root, workspace: Path) -> None:
    plant(workspace, a="foo\n")
    fake = workspace.parent / "rg"
    fake.write_text("#!/bin/sh\necho 'rg: out of luck' >&2\nexit 2\n")
    fake.chmod(0o755)
    with pytest.raises(ToolFailed, match="ripgrep failed: rg: out of luck"):
        found(root, str(fake))
    fake.write_text("#!/bin/sh\nexit 2\n")
    assert found(root, str(fake)) == []
