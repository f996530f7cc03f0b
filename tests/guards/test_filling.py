"""{{secret:NAME}}: filled in for the tool and nobody else, where the secret allows it."""

from typing import Any

import pytest

from toolcrib import Crib, tool
from toolcrib.core.call import Outcome
from toolcrib.core.guard import Call, Verdict
from toolcrib.core.tool import Effect
from toolcrib.services.config.reading import read_config
from toolcrib.services.record.audit import Query
from toolcrib.services.vault.secrets import Wanted

VALUE = "correct horse/battery+staple"
ENCODED = "Y29ycmVjdCBob3JzZS9iYXR0ZXJ5K3N0YXBsZQ=="
QUOTED = "correct%20horse%2Fbattery%2Bstaple"
SEEN: list[Any] = []


@tool(effect=Effect.READ, expands_secrets=True)
async def send(url: str = "", headers: dict[str, str] | None = None, body: list[str] | None = None) -> str:
    """Take what it is given, and give it back."""
    SEEN.append((url, headers, body))
    return f"{url} {headers} {body}"


@tool(effect=Effect.READ, expands_secrets=True)
async def fail(text: str) -> str:
    """Say what it was given in an error."""
    raise ValueError(text)


@tool(effect=Effect.READ)
async def keep(text: str) -> str:
    """A tool that fills nothing in."""
    return text


class Watching:
    """A guard that remembers what it saw."""

    name = "watching"

    def __init__(self) -> None:
        self.saw: list[Any] = []

    def watches(self, tool: Any) -> bool:
        return True

    def check(self, call: Call) -> Verdict | None:
        self.saw.append(call)
        return None


async def crib(**wanted: Any) -> Crib:
    SEEN.clear()
    made = Crib([send, fail, keep], {"clerk": ["send", "fail", "keep"]})
    await made.vault.secrets.set("API", Wanted(value=VALUE, **wanted))
    return made


async def called(made: Crib, **arguments: Any) -> Outcome:
    return await made.call("send", arguments, agent="clerk")


async def record(made: Crib) -> Any:
    return (await made.store.audit.entries(Query(limit=1))).entries[0]


@pytest.mark.meets("secret:placeholder:filled", "secret:placeholder:filters", "secret:known:scrubbed-encoded")
async def test_the_tool_gets_the_value_and_nobody_else_does() -> None:
    made = await crib()
    guard, before, after = Watching(), [], []
    made = Crib([send], {"clerk": ["send"]}, guards=[guard])
    await made.vault.secrets.set("API", Wanted(value=VALUE))
    made.before.append(before.append)
    made.after.append(lambda call, value: after.append(call) or value)
    headers = {"X-Key": "Bearer {{secret:API}}", "X-Basic": "{{secret:API|base64}}"}
    outcome = await called(
        made, url="https://x.org/?k={{secret:API|urlencode}}", headers=headers, body=["{{secret: API }}"]
    )
    assert outcome.ok
    sent = {"X-Key": f"Bearer {VALUE}", "X-Basic": ENCODED}
    assert [(f"https://x.org/?k={QUOTED}", sent, [VALUE])] == SEEN
    for shown in (repr((guard.saw, before, after)), outcome.text, repr(outcome), repr(await record(made))):
        for form in (VALUE, ENCODED, QUOTED):
            assert form not in shown
    assert "{{secret:API|base64}}" in (await record(made)).arguments
    assert outcome.text.count("[REDACTED:secret-API") == 4


async def test_a_tool_that_fills_nothing_in_takes_the_text_as_it_is() -> None:
    made = await crib()
    assert (
        await made.call("keep", {"text": "{{secret:API}} {{secret:"}, agent="clerk")
    ).text == "{{secret:API}} {{secret:"


@pytest.mark.meets("secret:placeholder:filters")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{{secret:NONE}}", "there is no secret named 'NONE'"),
        ("{{secret:APi}}", "Did you mean API?"),
        ("{{secret:}}", "names no secret"),
        ("{{secret:API|hex}}", "there is no filter 'hex'"),
        ("{{secret:API", "not closed"),
        ("{{secret:{{secret:API}}}}", "not closed, or holds braces"),
        ("{{secret:API}} {{secret:NONE|base64}}", "there is no secret named 'NONE'"),
    ],
)
async def test_what_cannot_be_filled_in_is_refused_and_nothing_is_called(text: str, says: str) -> None:
    made = await crib()
    outcome = await called(made, body=[text])
    assert (outcome.status.value, outcome.error.code if outcome.error else "") == ("refused", "denied")
    assert says in outcome.text
    assert SEEN == []


@pytest.mark.meets("secret:placeholder:filled")
@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.org/x?k={{secret:API|urlencode}}",
        "https://deep.below.example.net/{{secret:API|urlencode}}",
        "HTTPS://API.EXAMPLE.ORG./x#{{secret:API|base64}}",
    ],
)
async def test_a_secret_goes_to_its_hosts(url: str) -> None:
    made = await crib(hosts=("api.example.org", "*.below.example.net"))
    outcome = await called(made, url=url)
    assert outcome.ok, outcome.text


@pytest.mark.meets("secret:placeholder:filled")
@pytest.mark.parametrize(
    "url",
    [
        "https://evil.org/{{secret:API|urlencode}}",
        "https://api.example.org.evil.org/{{secret:API|urlencode}}",
        "https://api.example.org@evil.org/{{secret:API|urlencode}}",
        "https://evil.org\\@api.example.org/{{secret:API|urlencode}}",
        "https://evilexample.net/{{secret:API|urlencode}}",
        "https://{{secret:API|urlencode}}.api.example.org/",
        "https:{{secret:API}}",
        "{{secret:API}}",
        "",
    ],
)
async def test_a_secret_goes_to_no_other_host(url: str) -> None:
    made = await crib(hosts=("api.example.org", "*.example.net"))
    outcome = await called(made, url=url, body=["{{secret:API}}"])
    assert (outcome.ok, outcome.status.value) == (False, "refused")
    assert SEEN == []
    assert VALUE not in outcome.text


@pytest.mark.meets("secret:placeholder:filled")
async def test_a_secret_is_filled_in_for_its_tools_only() -> None:
    made = await crib(tools=("fail",))
    outcome = await called(made, body=["{{secret:API}}"])
    assert "is not for this tool" in outcome.text
    assert "It is for: fail." in outcome.text
    assert SEEN == []


async def test_an_error_that_tells_its_arguments_tells_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    made = await crib()
    outcome = await made.call("fail", {"text": "{{secret:API}} {{secret:API|base64}}"}, agent="clerk")
    assert not outcome.ok
    for form in (VALUE, ENCODED):
        assert form not in repr(outcome)
        assert form not in caplog.text


async def test_what_comes_out_of_a_secret_is_not_filled_in_again() -> None:
    made = await crib()
    await made.vault.secrets.set("OUTER", Wanted(value="{{secret:API}}"))
    await called(made, body=["{{secret:OUTER}}"])
    assert SEEN == [("", None, ["{{secret:API}}"])]


async def test_a_team_is_filled_in_from_its_own_vault() -> None:
    made = await crib()
    await made.vault.secrets.set("API", Wanted(value="the-red-password"), team="red")
    await made.call("send", {"body": ["{{secret:API}}"]}, agent="clerk", team="red")
    outcome = await made.call("send", {"body": ["{{secret:API}}"]}, agent="clerk", team="blue")
    assert SEEN == [("", None, ["the-red-password"])]
    assert "no secret named 'API'" in outcome.text


@pytest.mark.meets("secret:known:scrubbed-encoded")
async def test_what_the_vault_holds_is_scrubbed_from_every_result_though_nobody_read_it() -> None:
    made = await crib()
    again = Crib([keep], {"clerk": ["keep"]}, store=made.store, vault_key=made._vault_key or made.vault.book._master)
    for form in (VALUE, ENCODED, QUOTED, VALUE.encode().hex()):
        told = await again.call("keep", {"text": f"it is {form} here"}, agent="clerk")
        assert form not in told.text
        assert form not in repr(await record(again))


async def native(reveal: str, **more: Any) -> Crib:
    config = read_config(f"agents: {{clerk: [all]}}\nvault: {{reveal: {reveal}}}", env={})
    made = Crib(config=config, native=True, **more)
    await made.vault.secrets.set("API", Wanted(value=VALUE))
    return made


@pytest.mark.meets("secret:get:setting")
async def test_whether_an_agent_is_given_the_value_is_a_setting() -> None:
    always = await (await native("always")).call("get_secret", {"key": "API"}, agent="clerk")
    assert always.text == VALUE
    never = await (await native("never")).call("get_secret", {"key": "API"}, agent="clerk")
    assert never.ok
    assert "{{secret:API}}" in never.text
    assert VALUE not in repr(never)
    asked = await native("ask")
    assert (await asked.call("get_secret", {"key": "API"}, agent="clerk")).error.code == "approval_required"  # type: ignore[union-attr]
    agreed = await native("ask", approve=lambda call, verdicts: True)
    assert (await agreed.call("get_secret", {"key": "API"}, agent="clerk")).text == VALUE


@pytest.mark.meets("secret:get:setting")
async def test_with_never_entries_hide_their_secret_fields_and_attachments_stay_shut() -> None:
    made = await native("never")
    entry = {"key": "bank", "entry_type": "credential", "value": {"username": "anna", "password": VALUE}}
    assert (await made.call("create_vault_entry", entry, agent="clerk")).ok
    shown = await made.call("get_vault_entry", {"key": "bank"}, agent="clerk")
    assert "username: anna\npassword: (hidden)" in shown.text
    assert VALUE not in repr(shown)
    shut = await made.call("get_vault_attachment", {"key": "bank", "name": "x"}, agent="clerk")
    assert (shut.error.code if shut.error else "") == "not_revealed"


@pytest.mark.meets("vault:get:feeds-scrubber")
async def test_a_revealed_value_stands_in_no_record_and_no_journal() -> None:
    made = await native("always")
    outcome = await made.call("get_secret", {"key": "API"}, agent="clerk", key="once")
    assert outcome.text == VALUE
    assert VALUE not in repr(await record(made))
    assert VALUE not in repr(vars(made.store.journal))
    assert (await made.call("get_secret", {"key": "API"}, agent="clerk", key="once")).text == VALUE


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("create_secret", {"key": "{odd}", "value": VALUE}),
        ("create_secret", {"value": VALUE}),
        ("update_secret", {"key": "NONE", "value": VALUE}),
        ("create_vault_entry", {"key": "x", "entry_type": "none", "value": {"pin": VALUE}}),
        ("create_secret", f'{{"key": "X", "value": "{VALUE}"'),
        ("create_secret", {"key": "X", "value": VALUE * 2000}),
    ],
)
async def test_a_secret_that_was_not_stored_stands_in_no_record_either(name: str, arguments: Any) -> None:
    for rules in ("[all]", "{toolboxes: [all], deny: [create_secret, update_secret, create_vault_entry]}"):
        config = read_config(f"agents: {{clerk: {rules}}}", env={})
        made = Crib(config=config, native=True)
        outcome = await made.call(name, arguments, agent="clerk")
        assert not outcome.ok
        assert VALUE not in repr(outcome)
        assert VALUE not in repr(await record(made))


@pytest.mark.meets("vault:prompt:never-to-model")
async def test_what_a_person_enters_goes_to_the_vault_and_to_nobody_else() -> None:
    asked: list[Any] = []
    config = read_config("agents: {clerk: [all]}", env={})
    made = Crib(config=config, native=True, ask_secret=lambda one: asked.append(one) or VALUE)
    outcome = await made.call(
        "prompt_secret", {"key": "MAIL", "label": "Mail password", "description": "To send mail"}, agent="clerk"
    )
    assert outcome.text == "The person entered MAIL; it is in the vault. Use it as {{secret:MAIL}}."
    assert VALUE not in repr(outcome)
    assert VALUE not in repr(await record(made))
    assert (asked[0].label, asked[0].caller.agent) == ("Mail password", "clerk")
    assert (await made.vault.secrets.get("MAIL")).value == VALUE
    assert (await made.call("delete_secret", {"key": "MAIL"}, agent="clerk")).error.code == "secret_protected"  # type: ignore[union-attr]


async def test_a_person_who_enters_nothing_stores_nothing() -> None:
    async def nothing(_asked: Any) -> str | None:
        return None

    made = Crib(config=read_config("agents: {clerk: [all]}", env={}), native=True, ask_secret=nothing)
    outcome = await made.call("prompt_secret", {"key": "MAIL", "label": "Mail password"}, agent="clerk")
    assert (outcome.error.code if outcome.error else "") == "secret_not_given"
    assert await made.vault.secrets.search() == []


@pytest.mark.meets("vault:tools:class")
def test_setting_a_secret_is_an_org_operation_and_setting_a_value_is_not() -> None:
    from toolcrib.sources.native import native_tools

    lanes = {one.name: one.traits.lane.value for one in native_tools() if one.domain == "vault"}
    assert {name for name, lane in lanes.items() if lane == "org"} == {
        "create_secret", "update_secret", "create_vault_entry",
    }  # fmt: skip
