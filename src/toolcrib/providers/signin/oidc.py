"""OpenID Connect: the code flow with PKCE. The token is checked with joserfc, which Authlib brings."""

import time
from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.services.http import Http, Incoming, Outgoing
from toolcrib.services.people.elsewhere import Trip, Vouched

KNOWN = 600.0  # seconds for which what the provider says of itself is believed
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
LEEWAY = 60


class Oidc:
    """One provider, by the address of its issuer."""

    def __init__(self, http: Http, issuer: str, client_id: str, client_secret: str) -> None:
        heavy("joserfc.jwt", "oidc")
        self._http = http
        self._issuer = issuer.rstrip("/")
        self._client = client_id
        self._secret = client_secret
        self._said: dict[str, tuple[float, dict[str, Any]]] = {}

    async def address(self, trip: Trip) -> str:
        challenge = urlsafe_b64encode(sha256(trip.verifier.encode()).digest()).decode().rstrip("=")
        asked = {
            "response_type": "code",
            "client_id": self._client,
            "redirect_uri": trip.back,
            "scope": "openid profile email",
            "state": trip.state,
            "nonce": trip.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        at = await self._endpoint("authorization_endpoint")
        return f"{at}{'&' if '?' in at else '?'}{urlencode(asked)}"

    async def vouches(self, trip: Trip, code: str) -> Vouched:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": trip.back,
            "client_id": self._client,
            "code_verifier": trip.verifier,
        }
        headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")]
        if self._secret:
            pair = f"{quote(self._client, safe='')}:{quote(self._secret, safe='')}"
            headers.append(("Authorization", f"Basic {b64encode(pair.encode()).decode()}"))
        url = await self._endpoint("token_endpoint")
        came = await self._send(Outgoing(url=url, method="POST", headers=tuple(headers), body=urlencode(form).encode()))
        claims = await self._claims(str(_json(came).get("id_token", "")), trip.nonce)
        name = claims.get("name") or claims.get("preferred_username") or claims.get("email") or "somebody"
        return Vouched(subject=f"{self._issuer}|{claims['sub']}", name=str(name))

    async def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        """What the token says, when it is the provider's, for us, for this trip, and of now."""
        jwt, jose = heavy("joserfc.jwt", "oidc"), heavy("joserfc.errors", "oidc")
        keys = await self._document(await self._endpoint("jwks_uri"))
        try:
            found = jwt.decode(token, heavy("joserfc.jwk", "oidc").KeySet.import_key_set(keys), algorithms=ALGORITHMS)
            rules = jwt.JWTClaimsRegistry(
                leeway=LEEWAY,
                iss={"essential": True, "value": await self._named()},
                aud={"essential": True, "value": self._client},
                exp={"essential": True},
                sub={"essential": True},
                nonce={"essential": True, "value": nonce},
            )
            rules.validate(found.claims)
        except (jose.JoseError, ValueError, TypeError, KeyError) as error:
            raise _refused(f"The provider's token is not right ({type(error).__name__}).") from None
        claims: dict[str, Any] = found.claims
        return claims

    async def _named(self) -> str:
        """The issuer as it calls itself; a slash at the end may differ, and nothing else."""
        name = str((await self._document(f"{self._issuer}/.well-known/openid-configuration")).get("issuer", ""))
        if name.rstrip("/") != self._issuer:
            raise _refused(f"The provider calls itself {name[:200]!r}, and is configured as {self._issuer!r}.")
        return name

    async def _endpoint(self, name: str) -> str:
        await self._named()
        document = await self._document(f"{self._issuer}/.well-known/openid-configuration")
        found = document.get(name)
        if not isinstance(found, str):
            raise _refused(f"The provider does not say its {name}.")
        return found

    async def _document(self, url: str) -> dict[str, Any]:
        known = self._said.get(url)
        if known is not None and time.monotonic() - known[0] < KNOWN:
            return known[1]
        found = _json(await self._send(Outgoing(url=url, headers=(("Accept", "application/json"),))))
        self._said[url] = (time.monotonic(), found)
        return found

    async def _send(self, request: Outgoing) -> Incoming:
        """Ask the provider, also one that is not public: a person has named it."""
        parts = urlsplit(self._issuer)
        return await self._http.send(msgspec.structs.replace(request, private=(parts.netloc,), redirects=0))


def _json(came: Incoming) -> dict[str, Any]:
    if came.status != 200:
        raise _refused(f"The provider answered {came.status}.")
    try:
        return msgspec.json.decode(came.body, type=dict[str, Any])
    except msgspec.DecodeError:
        raise _refused("The provider's answer cannot be read.") from None


def _refused(what: str) -> ToolFailed:
    return ToolFailed(what, code="sign_in_refused", hint="Begin again; if it stays so, look at the OIDC settings.")
