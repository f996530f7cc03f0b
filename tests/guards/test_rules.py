"""Rules that people wrote, by tool and by argument: the first that fits decides."""

from typing import Any

import pytest

from tests.core.workbench import Bench, code, resolver_of
from toolcrib.core.call import Caller
from toolcrib.core.registry import Names, Registry
from toolcrib.core.tool import Tool, as_tool, tool
from toolcrib.guards.rules import Rules
from toolcrib.safety.paths import clean
from toolcrib.services.config.values import CallRule


@tool(aliases=("bash",), inline=True)
def run_shell(command: str, host: str = "sandbox", sudo: bool = False) -> str:
    """Run it."""
    return f"{command}{host}{sudo}"


@tool(inline=True)
def read_file(path: str) -> str:
    """Read it."""
    return path


NAMES = Names(groups={"fs": ("read_file",)})
REGISTRY = Registry(map(as_tool, (run_shell, read_file)), NAMES)


def means(rule: CallRule, one: Tool) -> bool:
    return bool(REGISTRY.mask((rule.tool,)) & REGISTRY.bits((one,)))


def relative(_caller: Caller, path: str) -> str:
    return clean(path, ("/work",))


def rule(name: str, action: str, where: dict[str, str] | None = None, why: str = "") -> CallRule:
    return CallRule(name="rules[0]", tool=name, action=action, where=where or {}, why=why)


async def answered(rules: list[CallRule], name: str, **arguments: Any) -> Any:
    resolver = resolver_of((run_shell, read_file), names=NAMES)
    return await Bench(resolver=resolver, guards=[Rules(rules, means, relative)]).call(name, arguments)


@pytest.mark.meets("guard:verdict:allow-ask-deny")
@pytest.mark.parametrize("name", ["run_shell", "bash", "BASH", "run_*", "*"])
async def test_a_rule_means_a_tool_by_any_of_its_names(name: str) -> None:
    assert code(await answered([rule(name, "deny")], "run_shell", command="ls")) == "denied"
    assert code(await answered([rule(name, "deny")], "bash", command="ls")) == "denied"


async def test_the_first_rule_that_fits_decides() -> None:
    rules = [
        rule("bash", "allow", {"command": "git *"}),
        rule("bash", "deny", {"command": "git push*"}),
        rule("bash", "ask", {"command": "rm *"}, why="it deletes"),
        rule("group:fs", "deny", {"path": "*.env"}),
    ]
    assert code(await answered(rules, "bash", command="git push")) == ""
    assert code(await answered(rules, "bash", command="ls")) == ""
    asked = await answered(rules, "bash", command="rm a")
    assert code(asked) == "approval_required"
    assert "it deletes" in asked.text
    denied = await answered(rules, "read_file", path="x/.env")
    assert code(denied) == "denied"
    assert "path like *.env" in denied.text
    assert code(await answered(rules, "read_file", path="a.txt")) == ""


async def test_every_pattern_of_a_rule_has_to_fit() -> None:
    rules = [rule("bash", "deny", {"command": "rm*", "host": "prod*"})]
    assert code(await answered(rules, "bash", command="rm a", host="prod1")) == "denied"
    assert code(await answered(rules, "bash", command="rm a", host="dev")) == ""
    assert code(await answered(rules, "bash", command="ls", host="prod1")) == ""


def test_tools_that_no_rule_means_are_not_watched() -> None:
    rules = Rules([rule("bash", "deny")], means, relative)
    assert rules.watches(as_tool(run_shell))
    assert not rules.watches(as_tool(read_file))


async def test_an_argument_left_to_its_default_is_judged_by_that_default() -> None:
    rules = [rule("bash", "deny", {"host": "sandbox"})]
    assert code(await answered(rules, "bash", command="ls", host="sandbox")) == "denied"
    assert code(await answered(rules, "bash", command="ls")) == "denied"


async def test_a_pattern_is_compared_with_a_value_as_json_writes_it() -> None:
    assert code(await answered([rule("bash", "deny", {"sudo": "true"})], "bash", command="ls", sudo=True)) == "denied"


SPELLINGS = ["keys/a", "./keys/a", "keys//a", "notes/../keys/a", "/work/keys/a", "//work/./keys/a", "keys/x/../a"]


@pytest.mark.parametrize("path", SPELLINGS)
async def test_a_path_is_denied_however_it_is_spelled(path: str) -> None:
    for action, refused in (("deny", "denied"), ("ask", "approval_required")):
        rules = [rule("read_file", action, {"path": "keys/?"})]
        assert code(await answered(rules, "read_file", path=path)) == refused
        assert (
            code(await answered([rule("read_file", action, {"path": "/work/keys/a"})], "read_file", path="x/b")) == ""
        )


@pytest.mark.parametrize("path", SPELLINGS[3:])
async def test_a_rule_that_allows_does_not_let_a_path_climb_out(path: str) -> None:
    rules = [rule("read_file", "allow", {"path": "notes/*"}), rule("read_file", "deny", {"path": "keys/*"})]
    assert code(await answered(rules, "read_file", path=path)) == "denied"
    assert code(await answered(rules, "read_file", path="notes/keys/a")) == ""


@pytest.mark.parametrize(
    "url", ["https://evil.example/a", "HTTPS://EVIL.example:443/b/../a", "https://evil.example./a"]
)
async def test_an_address_is_denied_however_it_is_spelled(url: str) -> None:
    rules = [rule("read_file", "deny", {"path": "https://evil.example/*"})]
    assert code(await answered(rules, "read_file", path=url)) == "denied"


@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "http://[", "a\nb/../c", "a/" * 3000, "\0/x"])
async def test_what_is_no_path_or_address_is_judged_as_it_stands(path: str) -> None:
    assert (
        code(await answered([rule("read_file", "deny", {"path": path[:1] + "*"})], "read_file", path=path)) == "denied"
    )
    assert code(await answered([rule("read_file", "deny", {"path": "keys/*"})], "read_file", path=path)) == ""


async def test_a_rule_about_an_argument_that_a_tool_lacks_is_not_about_that_tool() -> None:
    rules = [rule("*", "deny", {"command": "*"})]
    assert code(await answered(rules, "read_file", path="a")) == ""
    assert code(await answered(rules, "bash", command="ls")) == "denied"
