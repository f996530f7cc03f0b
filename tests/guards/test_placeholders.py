"""Placeholders of secrets that cannot be read are refused where they would be filled in."""

from tests.core.test_resolver import made
from tests.guards.calls import call
from toolcrib.guards.placeholders import Placeholders

HTTP = made("http_request", expands_secrets=True)


def test_only_tools_that_fill_secrets_in_are_watched() -> None:
    assert Placeholders().watches(HTTP)
    assert not Placeholders().watches(made("write_file"))


def test_a_wrong_placeholder_is_refused_and_anything_else_passes() -> None:
    guard = Placeholders()
    denied = guard.check(call(HTTP, arguments={"header": "Bearer {{secret:TOKEN|base32}}"}))
    assert denied is not None
    assert denied.action == "deny"
    assert denied.hint
    assert guard.check(call(HTTP, arguments={"header": "{{name}} secret {{secret:TOKEN|base64}}"})) is None


def test_a_placeholder_written_with_escapes_is_refused_too() -> None:
    raw = b'{"header": "\\u007b\\u007bsecret:TOKEN"}'
    assert Placeholders().check(call(HTTP, raw=raw, arguments={"header": ["{{secret:TOKEN"]})) is not None
