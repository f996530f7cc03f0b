"""Policy: what holds for every agent. It is written in toolcrib.yaml; here it can be read, with what lint makes of it."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.faces.web.frame import house, render
from toolcrib.faces.web.places import Page
from toolcrib.services.advice.lint import lint
from toolcrib.services.config.values import Config
from toolcrib.services.people.principal import Role, allows

PAGE = Page(title="Policy", icon="shield-check", path="/policy", group="Control", order=3, scope="settings")


@allows(Role.VIEWER, "settings")
async def index(request: Request) -> Response:
    """Everything that holds for all."""
    crib = house(request).crib
    await crib.refresh()
    grants, config = crib.resolver.grants, crib.config
    policy = grants.policy
    lists = [
        ("policy.deny", "Denied", policy.deny, "Taken from everybody."),
        ("policy.hard_deny", "Denied for good", policy.hard_deny, "Nothing gives it back."),
        ("policy.allow", "Only these", policy.allow, "Absent: no rule. Empty: nothing passes."),
        ("policy.also_allow", "Also allowed", policy.also_allow, "Given to everybody, beside their toolboxes."),
        ("policy.sub_agents", "Never for sub-agents", policy.sub_agents.excluded, "Whatever a toolbox says."),
        ("policy.sub_agents.deny", "Denied to sub-agents", policy.sub_agents.denied, ""),
        ("policy.sub_agents.leaf_deny", "Denied at the deepest level", policy.sub_agents.leaf, ""),
    ]
    return await render(
        request,
        "policy/policy.html",
        title="Policy",
        config=config,
        policy=policy,
        lists=lists,
        floor=grants.floor,
        guards=_guards(config),
        findings=list(lint(crib.resolver)),
        line=config.line,
    )


def _guards(config: Config) -> list[tuple[str, str, Any]]:
    """What the guards go by: the key, what it is, and its value."""
    limits, hours = config.limits, config.approvals.seconds / 3600
    return [
        ("confirm", "Effects that ask first", ", ".join(config.confirm) or "none"),
        ("flow.mode", "Private data and strangers' words in one session, and something would leave", config.flow.mode),
        ("shell.security", "Commands", f"{config.shell.security}, asks {config.shell.ask}"),
        ("sandbox.mode", "Walls around commands", f"{config.sandbox.mode}, files {config.sandbox.access}"),
        ("limits.rate", "Calls an hour and session", limits.rate or "no limit"),
        ("limits.at_once", "Calls of one step side by side", limits.at_once),
        ("approvals.mode", "When nobody sits there", f"{config.approvals.mode}; a request holds {hours:g} hours"),
        ("approvals.by", "Who may answer", ", ".join(config.approvals.by) or "every operator"),
        ("vault.reveal", "May an agent read a secret", config.vault.reveal),
        ("undo.days", "How long a call can be undone", f"{config.undo.days} days"),
        ("audit", "When a record is on the disk", config.audit or "grouped"),
    ]


ROUTES = [Route("/policy", index, methods=["GET"])]
