"""The vault with the web tools: what goes over the wire, and what does not."""

import json

import pytest

from tests.machine.webserver import Asked, Server, answer, redirect, serving
from toolcrib import Crib
from toolcrib.services.config.reading import read_config
from toolcrib.services.vault.secrets import Wanted

VALUE = "correct horse/battery+staple"
QUOTED = "correct%20horse%2Fbattery%2Bstaple"


async def crib(*servers: Server, hosts: tuple[str, ...] = ()) -> Crib:
    network = {"allow_private": [f"127.0.0.1:{server.port}" for server in servers]}
    text = json.dumps({"agents": {"ada": {"toolboxes": ["all"]}}, "network": network, "flow": {"mode": "off"}})
    made = Crib(config=read_config(text, env={}), native=True)
    await made.vault.secrets.set("TOKEN", Wanted(value=VALUE, hosts=hosts))
    return made


def echo(asked: Asked) -> bytes:
    """An answer that tells all that it was sent."""
    return answer(f"{asked.target} {asked.headers} {asked.body.decode()}")


@pytest.mark.meets("secret:placeholder:filled", "secret:known:scrubbed-encoded")
async def test_a_request_carries_the_secret_and_a_service_that_echoes_it_tells_the_agent_nothing() -> None:
    async with serving(echo) as server, await crib(server, hosts=("127.0.0.1",)) as mine:
        arguments = {
            "url": server.url("/{{secret:TOKEN|urlencode}}?k={{secret:TOKEN|urlencode}}"),
            "method": "POST",
            "headers": {"X-Key": "{{secret:TOKEN}}", "Authorization": "Basic {{secret:TOKEN|base64}}"},
            "body": '{"password": "{{secret:TOKEN}}"}',
        }
        outcome = await mine.call("http_request", arguments, agent="ada")
        (asked,) = server.asked
        assert asked.target == f"/{QUOTED}?k={QUOTED}"
        assert asked.body == f'{{"password": "{VALUE}"}}'.encode()
        assert outcome.ok
        for form in (VALUE, QUOTED, "Y29ycmVjdCBob3JzZS9iYXR0ZXJ5K3N0YXBsZQ"):
            assert form not in repr(outcome)
        assert "Status 200." in outcome.text


async def test_a_redirect_to_another_host_carries_no_secret_along() -> None:
    async with serving(echo) as other:
        async with serving(redirect(other.url("/taken"))) as server, await crib(server, other) as mine:
            headers = {"X-Key": "{{secret:TOKEN}}", "Authorization": "Bearer {{secret:TOKEN}}"}
            await mine.call("http_request", {"url": server.url(), "headers": headers}, agent="ada")
            body = {"url": server.url(), "method": "PUT", "body": "{{secret:TOKEN}}"}
            await mine.call("http_request", body, agent="ada")
        assert [VALUE in repr(asked) for asked in server.asked] == [True, True]
        assert [VALUE in repr(asked) for asked in other.asked] == [False]


async def test_a_secret_that_no_header_may_hold_is_refused_without_being_shown() -> None:
    async with serving(echo) as server, await crib(server) as mine:
        await mine.vault.secrets.set("KEY", Wanted(value="first-long-line\nsecond-long-line"))
        outcome = await mine.call(
            "http_request", {"url": server.url(), "headers": {"X-Key": "{{secret:KEY}}"}}, agent="ada"
        )
        assert (outcome.error.code if outcome.error else "") == "bad_header"
        assert "long-line" not in repr(outcome)
        assert server.asked == []
