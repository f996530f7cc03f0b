"""Every example in README.md and docs/ runs, every link leads somewhere, and what is public is documented.

A page is a story: its blocks run in order in one empty workspace with one empty home. A `yaml` block is the
toolcrib.yaml from there on. A comment before a block changes what is done with it:

    <!-- output -->             what the block before has printed; … stands for anything
    <!-- exits 3 -->            the exit code that is right
    <!-- file: name -->         a file of the workspace
    <!-- not run: why -->       listed below, with the reason
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest

import toolcrib
from dev import docs
from tests.contracts import conftest as contracts

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOLD = [page for page in PAGES if page.parent != docs.HERE]
NOT_RUN = {
    ("README.md", "they serve until they are stopped, or would run these examples again"),
    ("README.md", "it fetches a server from npm"),
    ("docs/how-to/add-to-the-house.md", "it writes into the checkout"),
    ("docs/how-to/add-to-the-house.md", "it is a part of a family"),
    ("docs/how-to/add-to-the-house.md", "it would run these examples again"),
    ("docs/how-to/postgresql.md", "it installs a package"),
    ("docs/how-to/run-the-server.md", "it runs until it is stopped"),
    ("docs/how-to/people-and-keys.md", "it speaks to a server"),
    ("docs/how-to/http-api.md", "it speaks to a server"),
    ("docs/how-to/containers.md", "no container engine in the tests"),
}
FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
NOTE = re.compile(r"<!-- (?P<words>[^\n]*?) -->\s*$")
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)(?P<to>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
SECONDS = 60
postgres = contracts.postgres


class Block(NamedTuple):
    """One fenced block with the comment before it."""

    kind: str
    text: str
    note: str

    def said(self, what: str) -> str | None:
        """What the comment says after a word, if that is the word."""
        return self.note.removeprefix(what).lstrip(": ") if self.note.startswith(what) else None


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    for fence in FENCE.finditer(text):
        note = NOTE.search(text, 0, fence.start())
        words = note["words"] if note and note.end() == fence.start() else ""
        body = re.sub(f"^{fence['indent']}", "", fence["text"], flags=re.MULTILINE)
        found.append(Block(fence["kind"], body, words))
    return found


class Story:
    """A page that is being run."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.folder = folder
        self.home, self.workspace, self.state = folder / "home", folder / "work", folder / "state"
        self.printed = ""
        for path in (self.home, self.workspace, folder / "bin"):
            path.mkdir()
        program = f'#!/bin/sh\nexec "{sys.executable}" -m toolcrib "$@"\n'
        for path in (folder / "bin" / "toolcrib", self.workspace / "toolcrib"):
            path.write_text(program, encoding="utf-8")
            path.chmod(0o755)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("TOOLCRIB_")}
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.env = {**kept, **more, "PATH": path, "HOME": str(folder), "TOOLCRIB_HOME": str(self.home)}

    def tell(self, block: Block) -> None:
        """Do what a block says."""
        if (name := block.said("file")) is not None:
            (self.workspace / name).write_text(block.text, encoding="utf-8")
        elif block.said("output") is not None:
            assert fits(self.printed, block.text), f"printed:\n{self.printed}\nthe page says:\n{block.text}"
        elif block.kind == "yaml":
            (self.home / "toolcrib.yaml").write_text(block.text, encoding="utf-8")
            self.run(["toolcrib", "config", "check"], 0)
        elif block.kind == "sh":
            script = f'if [ -f "{self.state}" ]; then . "{self.state}"; fi\nset -eu\n{block.text}\nexport -p > "{self.state}"'
            self.run(["sh", "-c", script], int(block.said("exits") or 0))
        elif block.kind == "python":
            self.run([sys.executable, "-W", "error", "-c", block.text], 0)
        else:
            assert block.kind == "text", f"a block of {block.kind} has to say what it is"

    def run(self, command: list[str], code: int) -> None:
        """Run a program in the workspace, and keep what it prints."""
        done = subprocess.run(
            command, cwd=self.workspace, env=self.env, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        self.printed = done.stdout
        assert done.returncode == code, f"{command[-1]}\nexits {done.returncode}\n{done.stdout}{done.stderr}"


def fits(printed: str, expected: str) -> bool:
    """Whether a text is the expected one, with … standing for anything."""
    pattern = ".*?".join(map(re.escape, expected.strip().split("…")))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


@pytest.mark.meets("docs:examples:run", "library:ten-lines")
@pytest.mark.parametrize("page", TOLD, ids=name_of)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path, request: pytest.FixtureRequest):
    told = [block for block in blocks(page) if block.said("not run") is None]
    more = {"DATABASE_URL": request.getfixturevalue("database_url")} if page.stem == "postgresql" else {}
    if told:
        story = Story(tmp_path, **more)
        for block in told:
            story.tell(block)


@pytest.mark.meets("docs:examples:run")
def test_what_does_not_run_says_why_and_is_known():
    assert {
        (name_of(page), why) for page in TOLD for block in blocks(page) if (why := block.said("not run"))
    } == NOT_RUN


def test_every_fence_is_read_as_a_block():
    for page in PAGES:
        fences = len(re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert fences == 2 * len(FENCE.findall(page.read_text(encoding="utf-8"))), name_of(page)


def test_the_program_of_the_readme_has_at_most_ten_lines():
    program = next(block.text for block in blocks(ROOT / "README.md") if block.kind == "python")
    assert len([line for line in program.splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path):
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        to = (page.parent / link["to"]).resolve() if link["to"] else page
        assert to.exists(), link["to"]
        if link["anchor"]:
            assert link["anchor"] in anchors(to), link.group()


def anchors(page: Path) -> set[str]:
    """What may follow the # of a link to a page."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}


def test_every_page_is_named_in_the_index():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link["to"]).resolve() for link in LINK.finditer(index.read_text(encoding="utf-8"))}
    assert sorted(name_of(page) for page in PAGES[1:] if page != index and page not in linked) == []


def test_every_decision_is_dated():
    for page in sorted((ROOT / "docs" / "why").glob("*.md")):
        assert re.fullmatch(r"\*\d{4}-\d\d-\d\d\*", page.read_text(encoding="utf-8").splitlines()[2]), name_of(page)


@pytest.mark.meets("docs:reference:current")
def test_the_reference_is_what_the_code_says():
    assert docs.write(only_check=True) == 0, "write it anew with: ./toolcrib dev docs"


def test_everything_public_is_documented():
    written = (docs.HERE / "library.md").read_text(encoding="utf-8")
    assert [name for name in toolcrib.__all__ if not name.startswith("_") and f"\n## {name}\n" not in written] == []


def test_every_code_that_a_case_expects_is_documented():
    written = (docs.HERE / "errors.md").read_text(encoding="utf-8")
    cases = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "cases").glob("*.yaml")))
    codes = set(re.findall(r"(?:failed|refused): (\w+)", cases))
    assert sorted(code for code in codes if f"`{code}`" not in written) == []


@pytest.fixture
def database_url(postgres: str) -> str:
    """An empty place in a PostgreSQL server."""
    schema = f"t{uuid4().hex[:12]}"
    contracts.Place("postgres", postgres).execute(f"CREATE SCHEMA {schema}")
    return f"{postgres}{'&' if '?' in postgres else '?'}options=-csearch_path%3D{schema}"
