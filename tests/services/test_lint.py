"""What looks wrong in a configuration that is not an error."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.test_resolver import made
from tests.core.workbench import resolver_of
from toolcrib.core.policy import AgentRules, Grants, KitTool, Policy, Toolbox
from toolcrib.core.registry import Names, Reserved
from toolcrib.core.tool import Effect, Traits
from toolcrib.services.advice.lint import Finding, lint

SHOW = replace(made("show"), traits=Traits(effect=Effect.READ, reveals=True))
TOOLS = [*(made(f"t{i:02d}") for i in range(25)), made("wipe", effect=Effect.DESTROY), made("base"), SHOW]


def found(rules: dict[str, Any] | None = None, **grants: Any) -> dict[str, list[Finding]]:
    agent = AgentRules(name="ada", **(rules or {}))
    names = Names(reserved={"fly": Reserved("fly", "Fly.", "air")})
    by_id: dict[str, list[Finding]] = {}
    resolver = resolver_of(TOOLS, {"ada": agent}, names=names, **{"floor": ("base",), **grants})
    for finding in lint(resolver, many=20, heavy=400):
        by_id.setdefault(finding.id, []).append(finding)
    return by_id


def box(name: str, *tools: str, **more: Any) -> dict[str, Toolbox]:
    return {name: Toolbox(name=name, tools=tools, **more)}


def test_a_sound_configuration_has_no_findings() -> None:
    boxes = box("b", "t01", "t02")
    assert found({"toolboxes": ("B",), "deny": ("t01",)}, toolboxes=boxes, policy=Policy(hard_deny=("wipe",))) == {}


@pytest.mark.meets("lint:rules:shadowed")
def test_an_allow_that_a_hard_deny_stands_behind_is_reported() -> None:
    policy = Policy(hard_deny=("wipe",), also_allow=("wipe",))
    told = found({"also_allow": ("wipe",), "allow": ("wipe", "base")}, policy=policy)
    assert {finding.where for finding in told["L2"]} == {
        "policy.also_allow",
        "agents.ada.also_allow",
        "agents.ada.allow",
    }
    assert all("hard-denied" in finding.what and finding.mend for finding in told["L2"])


@pytest.mark.meets("lint:rules:shadowed")
def test_a_deny_that_another_list_makes_needless_is_reported() -> None:
    assert found({"deny": ("base",)}, policy=Policy(deny=("base",)))["L3"]
    assert found({"deny": ("wipe",)})["L10"]
    assert "L10" not in found({"deny": ("wipe",), "tools": (KitTool("wipe"),)})


@pytest.mark.meets("lint:rules:shadowed")
def test_an_allow_that_nothing_grants_or_that_another_list_leaves_out_is_reported() -> None:
    assert found({"allow": ("wipe", "base")})["L10"][0].what.startswith("Nothing grants wipe")
    [finding] = found({"tools": (KitTool("t01"),), "allow": ("t01", "base")}, policy=Policy(allow=("base",)))["L11"]
    assert (finding.where, "t01" in finding.what) == ("agents.ada.allow", True)


@pytest.mark.meets("lint:rules:shadowed")
def test_a_deny_that_is_restored_again_is_reported() -> None:
    [finding] = found({"deny": ("base",), "also_allow": ("BASE",)})["L12"]
    assert "hard_deny" in finding.mend


def test_a_name_that_is_not_built_yet_is_reported_as_without_effect() -> None:
    [finding] = found({"deny": ("fly",)})["L1"]
    assert finding.where == "agents.ada.deny"
    assert "not in this version" in finding.what


@pytest.mark.meets("lint:toolbox:unused")
def test_a_box_that_nobody_uses_or_that_grants_nothing_is_reported() -> None:
    told = found(toolboxes=box("b", "fly"))
    assert (told["L4"][0].where, told["L5"][0].where) == ("toolboxes.b", "toolboxes.b")
    assert "L4" not in found(toolboxes=box("b", "t01", builtin=True))


@pytest.mark.meets("lint:agent:too-much")
def test_an_agent_with_too_many_tools_or_too_dear_ones_is_reported() -> None:
    boxes = box("b", "t*")
    told = found({"toolboxes": ("b",)}, toolboxes=boxes)
    assert "26 tools" in told["L8"][0].what
    assert told["L9"][0].where == "agents.ada"
    limited = found({"toolboxes": ("b",), "tool_limit": 3}, toolboxes=boxes)
    assert "L9" not in limited


@pytest.mark.meets("lint:toolbox:risky-in-broad")
def test_a_tool_that_destroys_in_a_broad_box_is_reported_and_in_a_small_one_not() -> None:
    assert "wipe" in found({"toolboxes": ("b",)}, toolboxes=box("b", "t*", "wipe"))["L6"][0].what
    assert "L6" not in found({"toolboxes": ("b",)}, toolboxes=box("b", "t01", "wipe"))


@pytest.mark.meets("lint:toolbox:risky-in-broad")
def test_a_tool_that_reads_secrets_counts_as_one_that_destroys() -> None:
    told = found({"toolboxes": ("b",)}, toolboxes=box("b", "t*", "show"))
    assert "holds show." in told["L6"][0].what


@pytest.mark.meets("lint:toolbox:risky-in-broad")
def test_who_holds_such_a_tool_through_a_broad_box_of_ours_is_told() -> None:
    wide = box("all", "*", builtin=True)
    [finding] = found({"toolboxes": ("all",)}, toolboxes=wide)["L6"]
    assert (finding.where, "show, wipe" in finding.what) == ("agents.ada.toolboxes", True)
    assert "L6" not in found({"toolboxes": ("all",), "deny": ("wipe", "show")}, toolboxes=wide)


def test_a_toolbox_that_does_not_exist_is_reported() -> None:
    assert "'gone'" in found({"toolboxes": ("gone",)})["L7"][0].what


@pytest.mark.meets("lint:names:unknown")
@pytest.mark.parametrize("rules", [{"deny": ("bse",)}, {"allow": ("bse",)}, {"tools": (KitTool("bse"),)}])
def test_an_unknown_name_is_reported_with_the_nearest(rules: dict[str, Any]) -> None:
    told = found(rules)
    assert any("base" in finding.what + finding.mend for findings in told.values() for finding in findings)


def test_no_agents_no_boxes_no_findings() -> None:
    assert not list(lint(resolver_of(TOOLS, {"ada": AgentRules(name="ada")}, floor=())))
    assert Grants().agents == {}
