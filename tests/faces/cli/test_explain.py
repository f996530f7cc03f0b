"""explain: the answer for every tool, for programs and for people."""

import pytest

from tests.faces.cli.conftest import Run


@pytest.mark.meets("cli:explain:json")
def test_explain_lists_every_tool_with_the_step_that_decided(run: Run):
    told = {one["tool"]: one for one in run("explain", "scout", "--json").json}
    every = {one["name"] for one in run("tools", "--json").json}
    assert told.keys() == every
    assert all(list(one) == ["tool", "issued", "shown", "step", "reason"] for one in told.values())
    assert told["read_file"]["issued"]
    assert told["read_file"]["reason"] == "toolbox scout"
    assert not told["write_file"]["issued"]
    assert told["write_file"]["step"] == "grant"


@pytest.mark.meets("cli:explain:json")
def test_explain_of_one_tool_is_one_object(run: Run):
    told = run("explain", "scout", "create_toolbox", "--json").json
    assert (told["tool"], told["issued"]) == ("create_toolbox", False)
    assert "configurator" in told["change"]


def test_explain_for_people_says_what_to_change(run: Run):
    told = run("explain", "scout", "create_toolbox").out
    assert told.startswith("scout does not hold create_toolbox.\n")
    assert "Add one of these toolboxes to the agent: all, configurator." in told


def test_explain_of_all_groups_by_the_step_that_decided(run: Run):
    lines = run("explain", "scout").out.splitlines()
    assert lines[0].startswith("scout holds ")
    assert "not held, decided by the step grant" in lines


def test_explain_sees_a_sub_agent(run: Run):
    main, sub = (run("explain", "helper", "--json", *more).json for more in ((), ("--sub-agent",)))
    assert sub == run("explain", "helper", "--json", "--depth", "1").json
    assert main != sub


def test_explain_sees_what_a_person_granted(run: Run, known: dict[str, str]):
    assert run("explain", "asker", "list_toolboxes", "--json").json["reason"] == "a temporary grant"


def test_a_name_that_is_no_tool_fails_with_the_nearest(run: Run):
    told = run("explain", "scout", "raed_file")
    assert told.code == 1
    assert "did you mean read_file" in told.out
