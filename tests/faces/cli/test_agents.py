"""agents: made, changed and deleted from the command line, and able to work in between."""

import pytest

from tests.faces.cli.conftest import Run


@pytest.mark.meets("cli:agents")
def test_an_agent_made_here_works_and_goes_again(run: Run):
    made = run("agents", "create", "reader", "--toolbox", "scout", "--description", "Reads", "--json").json
    assert (made["name"], made["origin"], made["revision"]) == ("reader", "store", 1)
    assert run("call", "read_file", '{"path": "README.md"}', "--agent", "reader").out == "Welcome.\n"
    assert "does not hold write_file" in run("explain", "reader", "write_file").out
    assert {one["name"] for one in run("agents", "--json").json} >= {"reader", "helper", "scout"}
    changed = run("agents", "update", "reader", "--toolbox", "all", "--json").json
    assert changed["definition"] == {"toolboxes": ["all"], "description": "Reads"}
    assert run("call", "write_file", '{"path": "b.txt", "content": "x"}', "--agent", "reader").code == 0
    assert run("agents", "delete", "reader").code == 0
    assert "no agent" in run("agents", "show", "reader").err


def test_a_definition_is_yaml_and_is_checked_like_a_file(run: Run):
    assert run("agents", "create", "a", "{toolboxes: [scout], deny: [grep]}").code == 0
    assert run("agents", "create", "b", "-", stdin="tools: [grep]\n").code == 0
    for wrong in ("{toolboxes: [scuot]}", "{tols: []}", "[scout]", "{unclosed: ["):
        refused = run("agents", "create", "c", wrong)
        assert refused.code == 1
        assert "Traceback" not in refused.err
    assert "Did you mean scout?" in run("agents", "create", "c", "{toolboxes: [scuot]}").err
    assert run("agents", "update", "a").code == 2


def test_an_agent_of_the_configuration_is_not_changed_here(run: Run):
    refused = run("agents", "update", "helper", "--toolbox", "all")
    assert (refused.code, "toolcrib.yaml" in refused.err) == (1, True)
