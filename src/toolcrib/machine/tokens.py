"""Checks tokens of an authorization server: its keys are fetched from where it says, and kept for a while."""

import time
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolError
from toolcrib.core.heavy import heavy
from toolcrib.machine.mcp.origin import Network, Origin
from toolcrib.safety.urls import BadUrl, read_url

KEPT, PAUSE = 600.0, 30.0  # seconds for which keys are believed; and between two looks for one that is not known
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
LEEWAY = 30
METADATA = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")


class IssuedTokens:
    """Tokens of one issuer."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._network = Network()
        self._keys: dict[str, Any] = {}
        self._looked = -KEPT

    async def verify(self, token: str) -> JsonObject | None:
        """The claims of a token that is signed by the issuer and holds now; None for any other."""
        jwt = heavy("jwt")
        try:
            kid = str(jwt.get_unverified_header(token).get("kid", ""))
            key = await self._key(kid)
            if key is None:
                return None
            wanted = {"require": ["exp", "iss", "sub", "aud"], "verify_aud": False}
            return jwt.decode(
                token, key=key, algorithms=list(ALGORITHMS), issuer=self._issuer, leeway=LEEWAY, options=wanted
            )
        except (jwt.PyJWTError, ToolError, ValueError):
            return None

    async def _key(self, kid: str) -> Any:  # noqa: ANN401 - a public key
        age = time.monotonic() - self._looked
        if age > KEPT or (kid not in self._keys and age > PAUSE):
            self._looked = time.monotonic()
            self._keys = await self._fetched()
        return self._keys.get(kid)

    async def _fetched(self) -> dict[str, Any]:
        """The issuer's keys by their ids. Raises a ToolError if it cannot be asked."""
        for place in METADATA:
            found = await self._get(_below(self._issuer, place))
            if isinstance(where := found.get("jwks_uri"), str):
                listed = (await self._get(where)).get("keys")
                keys = cast("list[Mapping[str, Any]]", listed) if isinstance(listed, list) else []
                return dict(_read(keys))
        return {}

    async def _get(self, url: str) -> JsonObject:
        try:
            place = read_url(url)
        except BadUrl:
            return {}
        origin = Origin(place, self._network)
        try:
            reply = await origin.ask("GET", place.target, b"accept: application/json\r\n")
        finally:
            await origin.close()
        if reply.status != 200:
            return {}
        try:
            return msgspec.json.decode(reply.body, type=dict[str, Any])
        except msgspec.DecodeError:
            return {}

    async def close(self) -> None:
        """Wait for no look-up that is still under way."""
        self._network.close()


def _read(keys: list[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Those keys that can be read and are for signatures."""
    jwt, read = heavy("jwt"), list[tuple[str, Any]]()
    for one in keys:
        try:
            read.append((str(one.get("kid", "")), jwt.PyJWK.from_dict(dict(one)).key))
        except (jwt.PyJWTError, ValueError):
            continue
    return read


def _below(issuer: str, place: str) -> str:
    """Where an issuer's metadata are: between host and path, or after it for the older kind."""
    if place.endswith("openid-configuration"):
        return issuer.rstrip("/") + place
    scheme, _, rest = issuer.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host}{place}{slash}{path}".rstrip("/")
