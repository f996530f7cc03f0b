"""Secrets in lines of configuration and prose: `requirepass x`, netrc, pgpass, `the password is x`, name and value apart."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Row, View
from toolcrib.safety.scrub.found import FORM, NAMED, Found
from toolcrib.safety.scrub.names import NONE, PASSWORD, SECRET, promise
from toolcrib.safety.scrub.values import is_placeholder, is_random, is_secret

_SPACED = [
    "password",
    "passwd",
    "requirepass",
    "masterauth",
    "bindpw",
    "rootpw",
    "authtoken",
    "auth-user-pass",
    "psk",
    "secret",
    "passphrase",
    "pass",
    "pwd",
    "community",
    "access_key",
    "secret_key",
    "api_key",
    "token",
    "encrypted_password",
    "insecure-password",
    "key-string",
    "shared-secret",
    "pre-shared-key",
    "secret_access_key",
    "private_key",
    "auth_token",
    "wpa-psk",
    "auth_pass",
    "auth",
    "api-key",
    "auth-token",
    "access-token",
]
ROWS = (
    *(
        Row(
            word.encode(),
            rb"[ \t]{1,12}(?:(?:[0578]|ascii-text|hexadecimal|encrypted)[ \t]+)?[\"']?[^\s\"'=:<>(){}\[\],;.|][^\s\"'<>(){}\[\];|]{2}",
        )
        for word in _SPACED
    ),
    *(
        Row(
            word,
            rb"(?:[ \t]+for[ \t]+[^\s]{1,60}|[ \t]+\([^)\n]{1,30}\))?[ \t]*(?:[ \t](?:is|was|to|as)(?:[ \t](?:now|set[ \t]to|changed[ \t]to|reset[ \t]to))?[ \t]*:?|:|=)[ \t]*[\"'`*]{0,3}[^\s\"'`]{3}",
        )
        for word in (
            b"passwords",
            b"password",
            b"passphrase",
            b"passcode",
            b"passwd",
            b"secret",
            b"token",
            b"api key",
            b"access key",
            b"pin code",
            b"credentials",
        )
    ),
    Row(b"identified by", rb"[ \t]+(?:password[ \t]+)?[\"'][^\s\"']{3}"),
    Row(b"identified with", rb"[ \t]+[^\n]{1,60}?(?:by|as)[ \t]+[\"'][^\s\"']{3}"),
    Row(b"key", rb"[ \t]+(?:[0578][ \t]+)?[^\s\"'=:<>(){}\[\],;.|]{6}"),
    Row(b"]:", rb"[0-9]{2,5}[ \t]+[^\s:]+:[^\s]{4}"),
    *(
        Row(word, rb"[\"']?[ \t]*:[ \t]*\"[A-Za-z0-9_-]{40}")
        for word in (b'"d"', b'"p"', b'"q"', b'"dp"', b'"dq"', b'"qi"', b'"k"')
    ),
    Row(b"send", rb"[ \t]+(?:-- )?\"[^\"\n]{4,80}\\[rn]\""),
    Row(b":5432:", rb"[^:\s]+:[^:\s]+:[^\s]{3}"),
    Row(b":*:", rb"[^:\s]+:[^:\s]+:[^\s]{3}"),
    Row(b":543", rb"[0-9]:[^:\s]+:[^:\s]+:[^\s]{3}"),
    Row(b":643", rb"[0-9]:[^:\s]+:[^:\s]+:[^\s]{3}"),
    Row(b"mnemonic", rb"[\"']?[ \t]*[:=]?[ \t]*[\"']?(?:[a-z]{3,8}[ \t]){11}[a-z]"),
    Row(b"seed", rb"[\"']?[ \t]*[:=]?[ \t]*[\"']?(?:[a-z]{3,8}[ \t]){11}[a-z]"),
    Row(b"phrase", rb"[\"']?[ \t]*[:=]?[ \t]*[\"']?(?:[a-z]{3,8}[ \t]){11}[a-z]"),
)
_DIGIT = re.compile("[0-9]")
_SENTENCE = 160  # characters in which prose says a secret
_LEAD = re.compile(r"[ \t]*(?:[A-Za-z0-9_.@/:*-]+[ \t]+){0,8}")
_LOGIN = re.compile(r"(?im)^[ \t]*(?:account|default|poll)\b|\b(?:machine|login|user(?:name)?)\b")
_VALUE = re.compile(
    r"""[ \t]+(?:(?:[0578]|ascii-text|hexadecimal|encrypted)[ \t]+)?(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"']+?)(?=;?(?:\s|\Z|["'])))"""
)
_SAID = re.compile(
    r"""(?ix)\w*[\w ]{0,20}?(?:[ ]for[ ]\S{1,60}?|[ ]\([^)\n]{1,30}\))?[ \t]*(?:(?<=[ \t])(?:is|was|to|as)(?:[ ](?:now|set[ ]to|changed[ ]to|reset[ ]to))?[ \t]*:?|:|=)[ \t]*
    (?P<open>["'`*]{0,3})(?P<value>[^\s"'`<>]+)"""
)
_SQL = re.compile(r"""(?i)identified (?:by|with)[^\n]{0,60}?["']([^"'\n]+)["']""")
_PGPASS = re.compile(r"[^:\s]+:[^:\s]+:(\S+)")
_PHRASE = re.compile(r"(?:[a-z]{3,8}[ \t]){11}(?:[a-z]{3,8}[ \t]?){1,13}")


def read(view: View, start: int, end: int) -> Iterator[Found]:
    """The secret that its line gives away."""
    text = view.text
    lead = view.data[start : start + 12].lower()
    if lead.startswith(b":"):
        yield from _pgpass(text, start)
    elif lead.startswith(_PLACED):
        yield from _placed(text, start)
    elif lead.startswith(b"identified"):
        yield from _sql(text, start)
    elif lead.startswith((b"mnemonic", b"phrase", b"seed")):
        yield from _mnemonic(text, start, end)
    else:
        yield from _spaced(text, start)


_PLACED = (b'"', b"]:", b"key", b"send")
_PLACES = (
    # a web key: only what is private of it, and only in a key
    ('"', re.compile(r'"\w{1,2}"[ \t]*:[ \t]*"([\w-]{40,1024})"'), re.compile('"kty"'), 2000),
    ("]:", re.compile(r"\]:\d{2,5}[ \t]+[^\s:]+:([^\s]{4,})"), re.compile(r"(?m)^\[[\w.-]+\Z"), 100),
    # network gear: `key 7 0822455D0A16`, `crypto isakmp key ... address`
    (
        "key",
        re.compile(r"(?i)key[ \t]+(?:[0578][ \t]+)?([^\s;]{6,})(?=[ \t]*(?:$|\n|\r|;|address))"),
        re.compile(r"(?im)(?:tacacs|radius|isakmp|ikev2|ntp|ospf|iwconfig|wlan|bgp|snmp|psk|wep)[^\n]*\Z|key-\Z"),
        100,
    ),
    ("send", re.compile(r'(?i)send[ \t]+(?:-- )?"([^"\n]{4,80})\\[rn]"'), re.compile(r"(?i)assw(?:or)?d"), 160),
)


def _placed(text: str, start: int) -> Iterator[Found]:
    """What is a secret only where something near says so."""
    for lead, form, near, reach in _PLACES:
        if not text[start : start + 4].lower().startswith(lead):
            continue
        found = form.match(text, start)
        told = near.search(text, max(0, start - reach), start if lead != '"' else start + reach)
        if found is not None and told is not None and not is_placeholder(found[1]) and found[1][0] not in "$<{%":
            yield Found(found.start(1), found.end(1), FORM, "password" if lead != '"' else "private-key")


def _word(text: str, start: int) -> int:
    end = start
    while end < len(text) and (text[end].isalnum() or text[end] in "_-"):
        end += 1
    return end


def _spaced(text: str, start: int) -> Iterator[Found]:
    """`password hunter2` at the end of a line of configuration; else what prose says."""
    end = _word(text, start)
    while start and (text[start - 1].isalnum() or text[start - 1] in "_-.:/$") and end - start < 60:
        start -= 1
    if "arn:" in text[max(0, start - 20) : end]:
        return
    if promise(text[start:end]) == NONE and text[start:end].lower() not in _SPACED:
        return
    line = text.rfind("\n", max(0, start - 200), start) + 1
    found = _VALUE.match(text, end)
    lead = _LEAD.match(text, line)
    if found is not None and lead is not None and lead.end() >= start:
        group = found.lastindex or 3
        value = found[group]
        rest = text[found.end() : found.end() + 24].split("\n", 1)[0].strip()
        rest = "" if rest.lower() in {"ro", "rw", ";"} else rest
        login = _LOGIN.search(text, line, start) or (
            _LOGIN.search(text, max(0, line - 120), line) and not text[line:start].strip()
        )
        prose = not text[line:start].strip() and rest
        if (not rest or login) and not prose and value.lower() not in {"is", "was", "for", "to"}:
            login = login or text[start:end].lower() == "community"
            level = PASSWORD if login or promise(text[start:end]) == PASSWORD else SECRET
            if is_secret(value, level, quoted=bool(login) or group < 3, alone=bool(login)) or (
                login and _is_word(value)
            ):
                yield Found(found.start(group), found.end(group), FORM, "password")
                return
    if text[start:end].lower() != "pass":  # a verb in prose
        yield from _said(text, start)


def _is_word(value: str) -> bool:
    return len(value) >= 6 and value.isalnum() and not is_placeholder(value)


def _said(text: str, start: int) -> Iterator[Found]:
    """`the password is hunter2`."""
    found = _SAID.match(text, start, min(len(text), start + _SENTENCE))
    if found is None:
        return
    value = found["value"].rstrip(".,;:!?*)")
    level = promise(text[start : start + 8].partition(" ")[0].rstrip(":=")) or SECRET
    odd = _DIGIT.search(value) is not None or is_random(value)
    if odd and is_secret(value, min(level, PASSWORD), quoted=bool(found["open"])):
        yield Found(found.start("value"), found.start("value") + len(value), NAMED, "password")


def _sql(text: str, start: int) -> Iterator[Found]:
    found = _SQL.match(text, start)
    if found is not None and not is_placeholder(found[1]) and not found[1].startswith(("$", "%", "{", ":")):
        yield Found(found.start(1), found.end(1), FORM, "password")


def _pgpass(text: str, start: int) -> Iterator[Found]:
    line = text.rfind("\n", max(0, start - 120), start) + 1
    host = text[line:start].strip()
    found = _PGPASS.match(text, text.find(":", start + 1) + 1)
    if found is not None and re.fullmatch(r"[\w.*-]+(?::[\d*]+)?", host) and not is_placeholder(found[1]):
        yield Found(found.start(1), found.end(1), FORM, "password")


def _mnemonic(text: str, start: int, end: int) -> Iterator[Found]:
    words = _PHRASE.search(text, start, end + 200)
    if words is not None:
        yield Found(words.start(), words.start() + len(words.group().rstrip()), NAMED, "mnemonic")
