"""Commands: what starts them, where they run, and what their tools may do to information."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from toolcrib.core.heavy import heavy
from toolcrib.core.shape import Scrub
from toolcrib.core.tool import Flow, Tool
from toolcrib.services.config.values import Config

if TYPE_CHECKING:
    from toolcrib.services.shell import Shell
    from toolcrib.services.vault.secrets import Secrets


def shell_of(config: Config, workspaces: Any, secrets: "Secrets", scrub: Scrub) -> "Shell":  # noqa: ANN401 - LocalWorkspaces
    """What the tools that run commands work on."""
    shell = heavy("toolcrib.services.shell")
    return shell.Shell(
        heavy("toolcrib.machine.sandbox.commands").LocalCommands(docker_image=config.sandbox.image),
        heavy("toolcrib.machine.places").LocalPlaces(workspaces.place),
        config.sandbox,
        shell.variables(os.environ, config.shell.env),
        secrets=secrets,
        scrub=scrub,
        processes=heavy("toolcrib.services.processes").Processes(config.shell.background),
    )


def reaching(tools: Iterable[Tool], config: Config) -> list[Tool]:
    """The tools as they are here: where commands have the network, they can send and let strangers' text in."""
    sandbox = config.sandbox
    every = (sandbox, *map(sandbox.of, sandbox.agents))
    if not any(one.network or one.unsafe_host for one in every):
        return list(tools)
    return [_sending(tool) if tool.traits.runs_code else tool for tool in tools]


def _sending(tool: Tool) -> Tool:
    flow = tool.traits.flow | {Flow.SENDS, Flow.UNTRUSTED}
    return replace(tool, traits=replace(tool.traits, flow=flow))
