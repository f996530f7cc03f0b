"""Signing in elsewhere, against a small provider on loopback that signs real tokens."""

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from joserfc import jwk, jwt

from tests.faces.conftest import PASSWORD
from tests.machine.webserver import Asked, Server, answer, serving
from toolcrib.app.house import House, open_house
from toolcrib.faces.serving.composition import Composition

KEY = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
CLIENT, SECRET = "toolcrib-client", "a-client-secret-42"


class Provider:
    """What the fake says; a test changes it to lie."""

    def __init__(self) -> None:
        self.issuer = ""
        self.key = KEY
        self.claims: dict[str, Any] = {}
        self.challenge = self.nonce = ""
        self.seen: list[dict[str, list[str]]] = []

    def __call__(self, asked: Asked) -> bytes:
        path = urlsplit(asked.target).path
        if path == "/.well-known/openid-configuration":
            named = {name: f"{self.issuer}/{name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
            return answer(json.dumps({"issuer": self.issuer, **named}), Content_Type="application/json")
        if path == "/jwks_uri":
            return answer(json.dumps({"keys": [KEY.as_dict(private=False)]}), Content_Type="application/json")
        form = parse_qs(asked.body.decode())
        self.seen.append(form)
        told = sha256(form["code_verifier"][0].encode()).digest()
        if (
            urlsafe_b64encode(told).decode().rstrip("=") != self.challenge
            or "Authorization" not in str(asked.headers).title()
        ):
            return answer("{}", "400 Bad Request")
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": CLIENT, "sub": "42", "name": "Grace Hopper", "nonce": self.nonce,
            "iat": now, "exp": now + 300, **self.claims,
        }  # fmt: skip
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        return answer(json.dumps({"id_token": token, "access_token": "x"}), Content_Type="application/json")


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    made = Provider()
    async with serving(made) as server:
        assert isinstance(server, Server)
        made.issuer = server.url("").rstrip("/")
        yield made


@pytest.fixture
async def house(home: Path, workspace: Path, provider: Provider) -> AsyncIterator[House]:
    env = {
        "TOOLCRIB_OIDC_ISSUER": provider.issuer,
        "TOOLCRIB_OIDC_CLIENT_ID": CLIENT,
        "TOOLCRIB_OIDC_CLIENT_SECRET": SECRET,
        "TOOLCRIB_OIDC_ROLE": "operator",
    }
    async with await open_house(home=str(home), workspace=str(workspace), env=env) as opened:
        opened.reached("http://127.0.0.1:8765")
        await opened.people.signin.begin(opened.people.signin.first_run(), "Ada", PASSWORD)
        yield opened


def browser(house: House) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=Composition(house).app)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765")


async def there(client: httpx2.AsyncClient, provider: Provider, then: str = "/agents") -> dict[str, str]:
    """Go to the provider, which agrees; what the browser brings back."""
    told = await client.get("/oidc/login", params={"next": then})
    assert told.status_code == 303, told.text
    query = {name: values[0] for name, values in parse_qs(urlsplit(told.headers["location"]).query).items()}
    assert (query["client_id"], query["redirect_uri"]) == (CLIENT, "http://127.0.0.1:8765/oidc/callback")
    provider.challenge, provider.nonce = query["code_challenge"], query["nonce"]
    return {"state": query["state"], "code": "the-code"}


@pytest.mark.meets("auth:oidc:extra")
async def test_whoever_the_provider_vouches_for_comes_in_and_is_the_same_person_next_time(
    house: House, provider: Provider
) -> None:
    ids = set()
    for _ in range(2):
        async with browser(house) as client:
            back = await client.get("/oidc/callback", params=await there(client, provider))
            assert (back.status_code, back.headers["location"]) == (303, "/agents"), back.text
            me = (await client.get("/api/v1/session")).json()
            assert (me["name"], me["role"], me["via"]) == ("Grace Hopper", "operator", "oidc")
            ids.add(me["id"])
    assert len(ids) == 1


async def test_nobody_is_sent_on_to_another_site(house: House, provider: Provider) -> None:
    async with browser(house) as client:
        for then in ("https://evil.example/", "//evil.example", "/\\evil.example"):
            back = await client.get("/oidc/callback", params=await there(client, provider, then))
            assert back.headers["location"] == "/"


@pytest.mark.parametrize(
    "lie",
    [
        {"aud": "somebody else"},
        {"iss": "https://evil.example"},
        {"nonce": "another"},
        {"exp": 1000},
        {"sub": None},
    ],
)
async def test_a_token_that_is_not_for_this_sign_in_is_refused(
    house: House, provider: Provider, lie: dict[str, Any]
) -> None:
    provider.claims = lie
    async with browser(house) as client:
        back = await client.get("/oidc/callback", params=await there(client, provider))
        assert (back.status_code, back.json()["code"]) == (403, "sign_in_refused")
        assert (await client.get("/api/v1/session")).status_code == 401


async def test_a_token_that_somebody_else_signed_is_refused(house: House, provider: Provider) -> None:
    provider.key = OTHER
    async with browser(house) as client:
        back = await client.get("/oidc/callback", params=await there(client, provider))
        assert back.json()["code"] == "sign_in_refused"


async def test_a_way_back_that_this_browser_did_not_begin_is_refused(house: House, provider: Provider) -> None:
    async with browser(house) as mine, browser(house) as other:
        query = await there(mine, provider)
        assert (await other.get("/oidc/callback", params=query)).json()["code"] == "sign_in_refused"
        assert (await mine.get("/oidc/callback", params={"state": query["state"], "error": "no"})).status_code == 403
        assert (await mine.get("/oidc/callback")).status_code == 403


async def test_a_closed_person_stays_out(house: House, provider: Provider) -> None:
    async with browser(house) as client:
        await client.get("/oidc/callback", params=await there(client, provider))
        person = (await client.get("/api/v1/session")).json()["id"]
        await house.people.persons.change(person, closed=True)
        assert (await client.get("/oidc/callback", params=await there(client, provider))).status_code == 401
        assert (await client.get("/api/v1/session")).status_code == 401


async def test_without_a_provider_there_is_no_such_way(home: Path, workspace: Path) -> None:
    async with await open_house(home=str(home), workspace=str(workspace), env={}) as plain, browser(plain) as client:
        assert (await client.get("/oidc/login")).status_code == 404
