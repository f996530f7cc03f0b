"""Fills secrets in, last of all.

    every guard ► a person agrees ► hooks ► **filled in** ► the tool

Only the tool gets the value: no guard, no hook, no record and no approval does.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from toolcrib.core.errors import Denied
from toolcrib.core.guard import Call
from toolcrib.core.registry import near
from toolcrib.safety.reach import Domains
from toolcrib.safety.urls import BadUrl, read_url
from toolcrib.services.vault.placeholders import filled, named_in, texts
from toolcrib.services.vault.secrets import Secrets
from toolcrib.services.vault.values import Secret

COMMAND = "command"


class Filling:
    """Fills secrets in, if the secret allows this tool and where it sends to. A name that is not there refuses."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    async def __call__(self, call: Call) -> Call:
        names = {named.name for text in texts(call.arguments) for named in named_in(text)}
        if not names:
            return call
        found: dict[str, Secret] = {}
        for name in sorted(names):
            secret = await self._secrets.find(name, team=call.caller.team)
            if secret is None:
                raise await self._unknown(call, name)
            found[name] = secret
        values = {name: secret.value or "" for name, secret in found.items()}
        arguments = {name: one if _is_code(call, name) else filled(one, values) for name, one in call.arguments.items()}
        hosts = _hosts(arguments)
        for secret in found.values():
            _allowed(call, secret, hosts)
        return replace(call, arguments=arguments)

    async def _unknown(self, call: Call, name: str) -> Denied:
        known = [one.key for one in await self._secrets.search(team=call.caller.team)]
        close = near(name, known)
        hint = f"Did you mean {' or '.join(close)}?" if close else "search_secrets shows the names that there are."
        return _refused(call, f"there is no secret named {name!r}", hint)


def _is_code(call: Call, name: str) -> bool:
    """A command gets its secrets in variables, from whoever starts it: a value is never read as a part of it."""
    return call.tool.traits.runs_code and name == COMMAND


def _hosts(arguments: Any) -> list[str] | None:  # noqa: ANN401 - checked arguments
    """The hosts that a call names as where it goes to; None when one of them cannot be read."""
    hosts: list[str] = []
    for name in ("url", "urls"):
        given = arguments.get(name)
        for text in [given] if isinstance(given, str) else given or ():
            try:
                hosts.append(read_url(text).host)
            except BadUrl:
                return None
    return hosts


def _allowed(call: Call, secret: Secret, hosts: Sequence[str] | None) -> None:
    tools, tool = secret.allowed_tools, call.tool
    if tools and not {tool.name, *tool.aliases} & set(tools):
        raise _refused(call, f"the secret {secret.key!r} is not for this tool", f"It is for: {', '.join(tools)}.")
    if not secret.allowed_hosts:
        return
    named = ", ".join(secret.allowed_hosts)
    if not hosts:
        why = f"the secret {secret.key!r} is for certain hosts only, and this call names none that can be read"
        raise _refused(call, why, f"It is for: {named}.")
    try:
        domains = Domains(secret.allowed_hosts)
    except BadUrl as error:
        raise _refused(call, f"a host of the secret {secret.key!r} means nothing: {error}", "Set it again.") from None
    if wrong := next((host for host in hosts if host not in domains), None):
        raise _refused(call, f"the secret {secret.key!r} is not for {wrong}", f"It is for: {named}.")


def _refused(call: Call, why: str, hint: str) -> Denied:
    return Denied(f"{call.tool.name} was not called: {why}.", hint=hint)
