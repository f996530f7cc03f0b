"""tools, search and toolboxes: what there is."""

from pathlib import Path

import pytest

from tests.faces.cli.conftest import Run

FACTS = {
    "name", "aliases", "source", "domain", "availability", "flags", "operation_class", "groups", "toolboxes",
    "description", "schema", "prompt_tokens",
}  # fmt: skip


@pytest.mark.meets("cli:tools:json")
def test_tools_lists_each_tool_with_every_fact(run: Run):
    told = {one["name"]: one for one in run("tools", "--json").json}
    assert all(one.keys() >= FACTS for one in told.values())
    read = told["read_file"]
    assert read["flags"] == {"read_only": True, "concurrency_safe": True, "destructive": False}
    assert {"scout", "all", "notes"} <= set(read["toolboxes"])
    assert "group:files" in read["groups"]
    assert read["operation_class"] == "daily"
    assert read["schema"]["properties"]["path"]
    assert read["prompt_tokens"] > 20
    assert told["delete_toolbox"]["flags"]["destructive"]


def test_tools_can_be_narrowed_by_domain_source_and_agent(run: Run):
    assert {one["domain"] for one in run("tools", "--domain", "files", "--json").json} == {"files"}
    assert run("tools", "--source", "mcp", "--json").json == []
    held = [one["name"] for one in run("tools", "--agent", "scout", "--json").json]
    assert "read_file" in held
    assert "write_file" not in held


def test_tools_with_words_lists_the_best_first(run: Run):
    assert run("tools", "write a whole file", "--json").json[0]["name"] == "write_file"


def test_tools_for_people_are_grouped_by_domain(run: Run):
    lines = run("tools").out.splitlines()
    assert lines.index("files") < next(i for i, line in enumerate(lines) if line.startswith("  read_file"))
    assert lines[-1].endswith(" tools")


def test_export_prints_what_a_model_is_sent(run: Run):
    told = run("tools", "export", "--agent", "scout", "--format", "anthropic").json
    assert {"name", "description", "input_schema"} == told[0].keys()
    assert run("tools", "--agent", "scout", "--format", "anthropic").json == told


@pytest.mark.meets("cli:search")
def test_search_finds_tools_by_words(run: Run):
    told = run("search", "read a pdf", "--limit", "2", "--json").json
    assert told["query"] == "read a pdf"
    assert told["tools"][0]["name"] == "read_file"
    assert len(told["tools"]) == 2
    assert run("search", "read a pdf").out.startswith("read_file")


@pytest.mark.meets("cli:search")
def test_search_of_an_agent_finds_what_it_holds(run: Run):
    told = run("search", "write a file", "--agent", "scout", "--json").json
    assert "write_file" not in [one["name"] for one in told["tools"]]


def test_a_search_that_finds_nothing_says_so(run: Run):
    assert "Nothing fits" in run("search", "xylophone").out


def test_toolboxes_says_what_each_grants_and_who_uses_it(run: Run):
    told = {one["name"]: one for one in run("toolboxes", "--json").json}
    assert told["scout"]["used_by"] == ["scout"]
    assert told["notes"]["origin"] == "configured"
    one = run("toolboxes", "notes", "--json").json
    assert one["granted"] == ["read_file", "write_file"]
    assert "grants 2 tools" in run("toolboxes", "notes").out
    assert run("toolboxes", "notse").err.endswith("Did you mean notes?\n")


def test_looking_leaves_no_trace_where_nothing_was(run: Run, place: Path):
    nowhere = place / "nowhere"
    for command in (
        ("tools",),
        ("search", "read"),
        ("lint",),
        ("toolboxes",),
        ("audit",),
        ("doctor",),
        ("config", "env"),
    ):
        assert run(*command, "--home", str(nowhere)).code == 0, command
    assert run("explain", "scout", "--home", str(nowhere)).code == 2
    assert not nowhere.exists()
    assert run("explain", "scout").code == 0
    assert [path.name for path in (place / "home").iterdir()] == ["toolcrib.yaml"]


def test_a_toolbox_that_an_agent_made_is_seen(run: Run):
    made = run("call", "create_toolbox", '{"name": "mine", "tools": ["grep"]}', "--agent", "helper")
    assert made.code == 0, made
    assert run("toolboxes", "mine", "--json").json["created_by"] == "helper"
