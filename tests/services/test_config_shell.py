"""`shell` and `sandbox` in toolcrib.yaml: what they give, what each agent has of its own, and what is refused."""

import pytest

from toolcrib.core.errors import BadConfig
from toolcrib.services.config.reading import read_config
from toolcrib.services.config.values import Sandbox, ShellRules

TEXT = """
agents: {ada: [all], bob: [all]}
shell:
  security: full
  ask: always
  env: [PATH, EDITOR]
  background: 2
  agents: {ada: {ask: on-miss}}
sandbox:
  mode: non-main
  access: ro
  scope: agent
  memory: 1024
  cpus: 0.5
  network: true
  seconds: 20
  host_seconds: 10
  image: debian
  agents:
    ada: {mode: all, network: false}
    bob: off
"""


@pytest.mark.meets("sandbox:config:modes")
def test_what_is_written_is_what_holds_for_each_agent():
    config = read_config(TEXT, env={})
    assert (config.shell.security, config.shell.ask, config.shell.env) == ("full", "always", ("PATH", "EDITOR"))
    assert (config.shell.of("ada"), config.shell.of("bob")) == (("full", "on-miss"), ("full", "always"))
    sandbox = config.sandbox
    assert (sandbox.mode, sandbox.access, sandbox.scope, sandbox.memory) == ("non-main", "ro", "agent", 1024)
    assert (sandbox.cpus, sandbox.network, sandbox.seconds, sandbox.host_seconds) == (0.5, True, 20, 10)
    assert (sandbox.of("ada").mode, sandbox.of("ada").network, sandbox.of("ada").memory) == ("all", False, 1024)
    assert sandbox.of("bob").mode == "off"
    assert sandbox.of("eve") is sandbox


@pytest.mark.meets("sandbox:time:limits", "sandbox:config:modes")
def test_nothing_written_is_walls_for_all_without_a_network():
    config = read_config("", env={})
    assert config.sandbox == Sandbox()
    assert config.shell == ShellRules()
    assert (config.sandbox.mode, config.sandbox.network, config.sandbox.unsafe_host) == ("all", False, False)
    assert (config.sandbox.host_seconds, config.sandbox.seconds) == (60, 300)
    assert (config.shell.security, config.shell.ask) == ("allowlist", "on-miss")


def test_a_bare_word_is_the_mode_and_a_bare_list_the_rules():
    assert read_config("sandbox: off", env={}).sandbox.mode == "off"
    assert read_config("shell: [{decision: deny, program: nmap}]", env={}).shell_rules[0].program == "nmap"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sandbox:\n  mode: never", "line 2, sandbox.mode: This must be all or non-main or off"),
        ("sandbox:\n  access: rwx", "line 2, sandbox.access: This must be rw or ro or none"),
        ("sandbox:\n  memory: 1", "line 2, sandbox.memory: This must be from 16 to 1,048,576, and it is 1."),
        ("sandbox:\n  cpus: many", "line 2, sandbox.cpus: This must be a number"),
        ("sandbox:\n  cpus: 0", "line 2, sandbox.cpus: This must be from 0.1 to 256, and it is 0."),
        ("sandbox:\n  cpus: true", "line 2, sandbox.cpus: This must be a number"),
        ("sandbox:\n  seconds: -1", "line 2, sandbox.seconds"),
        ("sandbox:\n  unsafe_host: perhaps", "line 2, sandbox.unsafe_host: This must be true or false"),
        ("sandbox:\n  netwrk: true", "line 2, sandbox.netwrk: 'netwrk' is no key that Toolcrib knows here."),
        ("sandbox:\n  agents:\n    ada: {image: x}", "line 3, sandbox.agents.ada.image"),
        ("shell:\n  security: open", "line 2, shell.security: This must be deny or allowlist or full"),
        ("shell:\n  ask: sometimes", "line 2, shell.ask: This must be off or on-miss or always"),
        ("shell:\n  env: [TOOLCRIB_VAULT_KEY]", "line 2, shell.env: TOOLCRIB_VAULT_KEY is Toolcrib's own"),
        ("shell:\n  background: 1000", "line 2, shell.background"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, said: str):
    with pytest.raises(BadConfig) as caught:
        read_config(text, env={})
    assert said in str(caught.value)
