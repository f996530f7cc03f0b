"""Secrets that their place gives away: URIs, key blocks, password files, `Bearer` and lines of configuration."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub import blocks
from toolcrib.safety.scrub.finder import Row, View
from toolcrib.safety.scrub.found import FORM, Found
from toolcrib.safety.scrub.named import is_pair
from toolcrib.safety.scrub.names import PASSWORD, SECRET, promise
from toolcrib.safety.scrub.values import is_placeholder, is_random, is_secret

# Calls and tuples that end with a secret, among strings.
CALLS = (
    *(b"auth" + equals + b"(" for equals in (b"=", b"", b" = ")),
    *(b"credentials" + equals + b"(" for equals in (b"=", b"", b" = ")),
    b"_connect(",
    b"login(",
    b"authenticate(",
    b"sign_in(",
    b"signin(",
    b"credential(",
    b"authentication(",
    b"getconnection(",
    b"new pdo(",
    b"jwt.sign(",
    b"jwt.verify(",
    b"jwt.encode(",
    b"jwt.decode(",
    b"createhmac(",
)
# Calls whose first argument is one.
KEYED = (b"bcrypt.hash(", b"hashpw(", b"aes.new(", b"secretkeyspec(", b"fernet(", b"hmac.new(", b"set_password(")
_W = rb"[^\s/?#\"'<>@:`]"
ROWS = (
    Row(b"://", _W + rb"{0,128}:[^\s\"'<>`]{1,256}?@[A-Za-z0-9_.\[{$%*-]", kind="uri"),
    Row(b"://", rb"[A-Za-z0-9_.~%=-]{16,256}@[A-Za-z0-9_.\[-]", kind="uri-user"),
    Row(b"%3a%2f%2f", rb"[^\s\"'<>`@]{0,256}?%40[A-Za-z0-9_.-]", kind="uri-quoted"),
    Row(b":thin:", rb"[^\s/\"'<>@:]{1,64}/[^\s\"'<>@]{1,128}@", kind="oracle"),
    Row(
        b":$",
        rb"(?:1|2[abxy]?|5|6|y|gy|7|apr1|sha1|scrypt|pbkdf2[a-z0-9-]{0,8})\$[^:\s\"',]{8,}",
        kind="crypt",
    ),
    Row(b":{sha}", rb"[A-Za-z0-9+/]{20,}={0,2}", kind="crypt"),
    Row(b":{ssha}", rb"[A-Za-z0-9+/]{20,}={0,2}", kind="crypt"),
    Row(b":{ssha512}", rb"[A-Za-z0-9+/]{20,}={0,2}", kind="crypt"),
    Row(b"{aq", rb"[A-Za-z0-9+/]{20,}={0,2}\}", kind="jenkins"),
    Row(b"bearer", rb"[ \t]{1,4}[A-Za-z0-9_.~+/=-]{12,}", kind="bearer"),
    Row(b"basic", rb"[ \t]{1,4}[A-Za-z0-9+/]{8,}={0,2}", kind="basic"),
    *(
        Row(word, rb"[ \t]*(?:[\"'][^\"'\n]{1,80}[\"']|[A-Za-z0-9_.$]+|\{[^{}\n]*\})[ \t]*,[ \t]*[\"']")
        for word in CALLS
    ),
    *(Row(word, rb"[ \t]*[brf]?[\"'][^\s\"']{6}") for word in KEYED),
    Row(b"<auth-user-pass>", rb"\s*[^\s<]+[ \t]*\r?\n[^\s<]{3,}"),
    *(Row(word, rb"[A-Za-z0-9+/]{16,}={0,2}", kind="ldap") for word in (b"{ssha}", b"{sha}", b"{smd5}", b"{md5}")),
    *(Row(word, rb"[^\s\"',;}]{16,}", kind="ldap") for word in (b"{ssha256}", b"{ssha512}", b"{sha512}", b"{crypt}")),
    Row(b":$argon2", rb"[a-z]{0,2}\$[^:\s\"']{20,}", kind="crypt"),
    Row(b":\\/\\/", _W + rb"*:[^\s\"'<>`@]*@[A-Za-z0-9_.\[-]", kind="uri-escaped"),
    Row(b"</", rb"[A-Za-z0-9_:.\-]*(?:passw|passphrase|pwd|secret|token|api-?_?key)[A-Za-z0-9_.\-]*>", kind="element"),
    Row(b"@tcp("),
    Row(b"private-lines:", rb"[ \t]{0,4}[0-9]{1,3}\r?\n", kind="putty"),
    Row(b"begin ", rb"[A-Z0-9 ]{0,40}(?:PRIVATE KEY|Static key)[A-Za-z0-9 ]{0,12}-{4,5}", kind="block"),
)
_URI = re.compile(
    r"://([^\s/?#\"'<>@:`]{0,128}):([^\s\"'<>`@]{1,256}(?:@[^\s\"'<>`@/]{0,128})*)@(?=[A-Za-z0-9_.\[{$%*-])"
)
_TEMPLATE = re.compile(
    r"\$\{|\{\{?[\w.-]*\}|\$\w+$|%[sdv]$|<[^>]*>|%\(\w+\)s|\*{3,}|\[?REDACTED|\$\(|x{3,}$", re.IGNORECASE
)
_DOC = frozenset(
    [
        "password",
        "pass",
        "passwd",
        "pwd",
        "your_password",
        "yourpassword",
        "your-password",
        "changeme",
        "p@ssword",
        "dbpassword",
    ]
)


_LEADS = tuple(row.literal for row in ROWS)


def knows(lead: bytes) -> bool:
    """Whether a match that begins so is one of this table."""
    return lead.startswith(_LEADS)


def read(view: View, start: int, end: int) -> Iterator[Found]:
    """The secret that stands where one is kept."""
    lead = view.data[start : start + 16].lower()
    for literal, reader in _READERS.items():
        if lead.startswith(literal):
            yield from reader(view.text, start, end)
            return


def _uri(text: str, start: int, end: int) -> Iterator[Found]:
    found = _URI.match(text, start)
    if found is None:
        token = text[start + 3 : end - 2]
        if "@" not in token and not is_placeholder(token) and is_random(token):
            yield Found(start + 3, end - 2, FORM, "uri")
        return
    user, password = found[1], found[2]
    if (
        len(password) < 3
        or (user, password) in {("scott", "tiger"), ("guest", "guest")}
        or _TEMPLATE.search(password)
        or (password.split("/")[0].isdigit() and "/" in password)
    ):
        return
    if "/" in password and not _odd_slash(password):
        return
    if password.lower() in _DOC and user.lower() in {"", "user", "username", "usr", "myuser", "your_username", "login"}:
        return
    yield Found(found.start(2), found.end(2), FORM, "uri")
    if len(user) >= 20 and is_random(user) and "." not in user:
        yield Found(found.start(1), found.end(1), FORM, "uri")


def _odd_slash(password: str) -> bool:
    """A slash may be in a password; after a host and port it begins the path."""
    return not re.match(r"\d{1,5}/", password)


def _uri_quoted(text: str, start: int, end: int) -> Iterator[Found]:
    """`postgres%3A%2F%2Fuser%3Apassword%40host`."""
    found = re.match(r"(?i)%3a%2f%2f([^%]{0,64})%3a(.{1,200}?)%40[A-Za-z0-9_.-]*$", text[start:end])
    if found is not None:
        yield Found(start + found.start(2), start + found.end(2), FORM, "uri")


def _oracle(text: str, start: int, end: int) -> Iterator[Found]:
    slash = text.find("/", start, end)
    yield Found(slash + 1, end - 1, FORM, "uri")


def _crypt(_: str, start: int, end: int) -> Iterator[Found]:
    """A password's hash in passwd, shadow or htpasswd: it can be guessed off line."""
    yield Found(start + 1, end, FORM, "hash")


def _ldap(_: str, start: int, end: int) -> Iterator[Found]:
    """`{SSHA}...` of a directory."""
    yield Found(start, end, FORM, "hash")


def _element(text: str, _: int, end: int) -> Iterator[Found]:
    """`<Password Type="x">hunter2</Password>`: the closing tag says what it is, whatever the opening one has."""
    close = text.rfind("</", 0, end)
    named = _ELEMENT.match(text, close)
    opened = text.rfind(">", max(0, close - 400), close)
    if named is None or opened < 0 or text.rfind("<" + named[1], max(0, opened - 400), opened) < 0:
        return
    value = text[opened + 1 : close].strip()
    level = promise(named[1].rpartition(":")[2])
    if value and level and is_secret(value, level, quoted=True):
        start = text.index(value, opened)
        yield Found(start, start + len(value), FORM, "password" if level == PASSWORD else "secret")


def _uri_escaped(text: str, start: int, _: int) -> Iterator[Found]:
    r"""`https:\/\/bob:hunter2@host`, as JSON may write it."""
    found = _ESCAPED.match(text, start)
    if found is not None and not _TEMPLATE.search(found[1]):
        yield Found(found.start(1), found.end(1), FORM, "uri")


def _jenkins(_: str, start: int, end: int) -> Iterator[Found]:
    yield Found(start, end, FORM, "secret")


def _bearer(text: str, start: int, end: int) -> Iterator[Found]:
    value = text[start + 6 : end].lstrip(" \t")
    stripped = value.rstrip(".")
    end -= len(value) - len(stripped)
    if is_secret(stripped, SECRET, quoted=True) or (len(stripped) > 30 and is_random(stripped)):
        yield Found(end - len(stripped), end, FORM, "authorization")


def _basic(text: str, start: int, end: int) -> Iterator[Found]:
    value = text[start + 5 : end].lstrip(" \t")
    if is_pair(value):
        yield Found(end - len(value), end, FORM, "authorization")


def _arguments(text: str, start: int, end: int) -> Iterator[Found]:
    """`auth=("bob", "hunter2")`: the last of the strings."""
    found = _ARGUMENTS.match(text, text.index("(", start), end + 200)
    if found is not None and is_secret(found[1], PASSWORD, quoted=True):
        yield Found(found.start(1), found.end(1), FORM, "password")


def _first(text: str, start: int, end: int) -> Iterator[Found]:
    """`AES.new(b"hunter2hunter2!!")`: the string that the call begins with."""
    found = _STRING.match(text, text.index("(", start), end + 200)
    if found is not None and is_secret(found[1], PASSWORD, quoted=True):
        yield Found(found.start(1), found.end(1), FORM, "secret")


def _inline(text: str, start: int, end: int) -> Iterator[Found]:
    """The second line of `<auth-user-pass>`."""
    yield Found(max(text.rfind(blank, start, end) for blank in "\n\t ") + 1, end, FORM, "password")


def _go_dsn(text: str, start: int, _: int) -> Iterator[Found]:
    """`root:hunter2@tcp(127.0.0.1:3306)/db`."""
    found = _USER.search(text, max(0, start - 120), start)
    if found is not None and not _TEMPLATE.search(found[1]) and not is_placeholder(found[1]):
        yield Found(found.start(1), found.end(1), FORM, "uri")


_ARGUMENTS = re.compile(r"""\(\s*(?:(?:["'][^"'\n]*["']|[\w.$]+|\{[^{}\n]*\})\s*,\s*){1,2}["']([^"'\n]{4,})["']""")
_STRING = re.compile(r"""\(\s*[brfBRF]?["']([^"'\n]{6,})["']""")
_ELEMENT = re.compile(r"</([\w:.\-]+)>")
_ESCAPED = re.compile(r":\\/\\/[^\s/:@]*:([^\s\"'@]{3,256})@")
_USER = re.compile(r"[\w.-]{1,64}:([^\s:\"'`]{3,64})\Z")
_READERS = {
    b"://": _uri,
    b"%3a%2f%2f": _uri_quoted,
    b":thin:": _oracle,
    b":$": _crypt,
    b":{sha}": _crypt,
    b":{ssha}": _crypt,
    b":{ssha512}": _crypt,
    b"{aq": _jenkins,
    b"bearer": _bearer,
    b"basic": _basic,
    **dict.fromkeys(CALLS, _arguments),
    **dict.fromkeys(KEYED, _first),
    b"<auth-user-pass": _inline,
    **dict.fromkeys((b"{ssha", b"{sha", b"{smd5", b"{md5", b"{crypt"), _ldap),
    b":\\/\\/": _uri_escaped,
    b"</": _element,
    b"@tcp(": _go_dsn,
    b"private-lines:": blocks.read_putty,
    b"begin ": blocks.read,
}
