"""Tokens of an authorization server at the gateway."""

import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.machine.webserver import Asked, answer, serving
from tests.mcp.test_endpoint import HELLO, at, message
from toolcrib.faces.mcp.door import Rules
from toolcrib.machine.tokens import IssuedTokens
from toolcrib.services.people.keys import ApiKeys
from toolcrib.services.people.persons import Persons
from toolcrib.services.people.principal import Role
from toolcrib.services.people.tokens import Tokens
from toolcrib.services.people.values import Person
from toolcrib.stores.inprocess.people import MemoryPeople

OWN = "https://crib.example.org"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Issuer:
    """An authorization server, as far as its keys go."""

    def __init__(self) -> None:
        self.url = ""

    def says(self, asked: Asked) -> bytes:
        if asked.target == "/.well-known/oauth-authorization-server":
            return answer(json.dumps({"issuer": self.url, "jwks_uri": f"{self.url}/keys"}))
        if asked.target == "/keys":
            public = json.loads(RSAAlgorithm.to_jwk(KEY.public_key()))
            return answer(json.dumps({"keys": [{"kty": "none"}, {**public, "kid": "one"}]}))
        return answer("no", "404 Not Found")

    def token(self, key: Any = KEY, kid: str = "one", **claims: Any) -> str:
        told = {"iss": self.url, "sub": "ada-at-login", "aud": OWN, "exp": time.time() + 60, "scope": "mcp", **claims}
        return jwt.encode(
            {name: value for name, value in told.items() if value is not None}, key, "RS256", {"kid": kid}
        )


async def door(issuer: Issuer) -> tuple[Rules, IssuedTokens]:
    rows = MemoryPeople()
    persons = Persons(rows)
    await persons.add(Person(id="", name="Ada", role=Role.OPERATOR, subject="ada-at-login"))
    issued = IssuedTokens(issuer.url)
    tokens = Tokens(ApiKeys(rows, persons), persons, issued.verify, OWN)
    return Rules(knows=lambda _: True, tokens=tokens, url=OWN, servers=(issuer.url,)), issued


@pytest.mark.meets("gateway:oauth:resource")
async def test_a_token_of_the_issuer_lets_in_and_any_other_does_not():
    issuer = Issuer()
    async with serving(issuer.says) as server:
        issuer.url = server.url("").rstrip("/")
        rules, issued = await door(issuer)
        async with at(rules=rules) as client:
            good: list[dict[str, Any]] = [{}, {"aud": [f"{OWN}/mcp/a", "x"]}, {"aud": f"{OWN}/mcp"}]
            for claims in good:
                said = f"Bearer {issuer.token(**claims)}"
                assert (await client.post(message("initialize", HELLO), authorization=said)).status_code == 200, claims
            wrong: list[dict[str, Any]] = [
                {"exp": time.time() - 3600}, {"iss": "https://evil.example.org"}, {"aud": "https://other.example.org"},
                {"sub": "nobody"}, {"scope": "openid"}, {"key": OTHER}, {"kid": "two"}, {"exp": None}, {"aud": None},
            ]  # fmt: skip
            for claims in wrong:
                said = f"Bearer {issuer.token(**claims)}"
                refused = await client.post(message("initialize", HELLO), authorization=said)
                assert refused.status_code == 401, claims
                assert 'error="invalid_token"' in refused.headers["www-authenticate"]
            other = await client.post(
                message("initialize", HELLO), authorization=f"Bearer {issuer.token(aud=f'{OWN}/mcp/b')}"
            )
            assert other.status_code == 403
            none = jwt.encode({"iss": issuer.url, "sub": "ada-at-login", "aud": OWN}, "", "none", {"kid": "one"})
            assert (await client.post(message("ping"), authorization=f"Bearer {none}")).status_code == 401
        await issued.close()


async def test_an_issuer_that_is_away_lets_nobody_in():
    issuer = Issuer()
    issuer.url = "http://127.0.0.1:9"
    rules, issued = await door(issuer)
    async with at(rules=rules) as client:
        said = f"Bearer {issuer.token()}"
        assert (await client.post(message("initialize", HELLO), authorization=said)).status_code == 401
    await issued.close()
