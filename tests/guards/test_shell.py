"""The table of security and ask, and that the guard refuses before a person is asked for nothing."""

import pytest

from toolcrib.guards.shell import decision
from toolcrib.safety.shell import ShellRule, judge
from toolcrib.services.config.values import AgentShell, ShellRules

KNOWN, UNKNOWN, FLOOR = judge("ls"), judge("frobnicate"), judge("rm -rf /")
RULED = judge("ls", rules=(ShellRule("ls", "ask"),))


@pytest.mark.meets("shell:mode:security")
@pytest.mark.parametrize(
    ("security", "ask", "known", "unknown"),
    [
        ("deny", "off", "deny", "deny"),
        ("deny", "on-miss", "deny", "deny"),
        ("deny", "always", "deny", "deny"),
        ("allowlist", "off", "allow", "deny"),
        ("allowlist", "on-miss", "allow", "ask"),
        ("allowlist", "always", "ask", "ask"),
        ("full", "off", "allow", "allow"),
        ("full", "on-miss", "allow", "ask"),
        ("full", "always", "ask", "ask"),
    ],
)
def test_security_and_ask_decide_together(security: str, ask: str, known: str, unknown: str):
    assert decision(security, ask, KNOWN) == known
    assert decision(security, ask, UNKNOWN) == unknown
    assert decision(security, ask, FLOOR) == "deny", "the deny floor stands under all of it"


def test_a_rule_that_asks_is_heard_where_everything_may_run():
    assert RULED.ruled
    assert decision("full", "off", RULED) == "ask"
    assert decision("full", "off", judge("frobnicate; ls", rules=(ShellRule("ls", "ask"),))) == "ask"


def test_an_agents_own_words_go_before_those_for_all():
    rules = ShellRules(security="full", ask="off", agents={"ada": AgentShell(ask="always")})
    assert rules.of("ada") == ("full", "always")
    assert rules.of("bob") == ("full", "off")
