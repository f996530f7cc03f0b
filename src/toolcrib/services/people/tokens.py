"""Tokens of an authorization server, beside the keys that are made here.

A token is of one of the people here: its `sub` is their subject at the sign-in provider. It is for this server
(`aud` is its address, or the address of one agent below it) and holds the scope `mcp`.
"""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from toolcrib.core.call import JsonObject
from toolcrib.services.people.keys import ApiKeys
from toolcrib.services.people.persons import Persons
from toolcrib.services.people.principal import Principal
from toolcrib.services.people.values import KEY_PREFIX, SCOPES

Verify = Callable[[str], Awaitable[JsonObject | None]]  # the claims of a good token, or None
SCOPE = "mcp"
PLACE = "/mcp/"


class Tokens:
    """Knows keys and tokens alike."""

    def __init__(self, keys: ApiKeys, persons: Persons, verify: Verify, url: str) -> None:
        """`url` is how clients reach this server."""
        self._keys = keys
        self._persons = persons
        self._verify = verify
        self._url = url.rstrip("/")

    async def principal(self, key: str) -> Principal | None:
        """Whose key or token this is, or None."""
        if key.startswith(f"{KEY_PREFIX}_"):
            return await self._keys.principal(key)
        claims = await self._verify(key)
        if claims is None:
            return None
        scopes = frozenset(str(claims.get("scope", "")).split()) & frozenset(SCOPES)
        agents = self._agents(claims.get("aud"))
        person = await self._persons.of_subject(str(claims.get("sub", "")))
        if SCOPE not in scopes or agents == frozenset() or person is None or person.closed:
            return None
        return Principal(id=person.id, name=person.name, role=person.role, via="oidc", scopes=scopes, agents=agents)

    def _agents(self, audience: Any) -> frozenset[str] | None:  # noqa: ANN401 - a claim
        """The agents that a token is for; none for one that is for somebody else, None for all."""
        named = cast("list[object]", audience) if isinstance(audience, list) else [audience]
        said = [one.rstrip("/") for one in named if isinstance(one, str)]
        if self._url in said or f"{self._url}/mcp" in said:
            return None
        start = self._url + PLACE
        return frozenset(one.removeprefix(start).partition("/")[0] for one in said if one.startswith(start))
