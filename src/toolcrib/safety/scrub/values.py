"""Whether a value beside a promising name is a secret, or a placeholder, a reference, a path, a type, a hash or an id."""

import re
from functools import lru_cache

from toolcrib.safety.scrub.letters import is_wordlike
from toolcrib.safety.scrub.names import PASSWORD, SECRET, WEAK, parts

LONGEST = 2048
_KNOWN = 256  # answers that are kept: text that repeats itself must not cost more than other text
_LOOKED = 96  # characters in which an example says that it is one
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HASH_SIZES = {32, 40, 56, 64, 96, 128}
# What no secret begins with: references to elsewhere, templates, digests, ciphertext, and our own mark.
_REFERENCE = re.compile(
    r"""(?ix)
    \$\{ | \$\( | \{\{ | \{% | <[^<>]*>?$ | %\(?\w*\)?[sd]?$ | \#\{ | %\{ | %\w+%$ | \$[A-Za-z_]\w*$ | \$\{?env
    | \[?REDACTED | \*+$ | process\.env | os\.environ | os\.getenv | env[.\[(:] | secrets?\.[a-z_] | vars?\.[a-z_] | var\.
    | !\w+[ ]?[\w.]* $ | vault[:.] | ssm:/ | arn:aws | file:/ | file\( | op:// | awssm: | gcpsm: | secretsmanager
    | sha\d+[-:] | md5: | sha-\d+ | SHA256: | h1: | ENC[\[(] | \$ANSIBLE_VAULT | !vault
    | \w+://[^\s]*$ | data:\w+/ | -----BEGIN[ ](?:CERT|PUBLIC|RSA[ ]PUB) | ssh-(?:rsa|ed25519|dss)[ ] | ecdsa-sha2
    | \#[0-9a-fA-F]{3,8}(?![0-9A-Za-z]) | resolve:ssm | \{resolve: | @Microsoft\.KeyVault | projects/[\w-]+/secrets/
    """
)
_CODE = re.compile(
    r"""(?x)
    [A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*)+[;,]?$      # a.b.c, A::b
    | [\w.$:>-]+\(.*                                                    # call(...)
    | [A-Za-z_$][\w$.]*\[.*                                            # item[...]
    | (?:new|await|async|lambda|not|return|function|typeof|yield)\b.*
    | .*\$\{.* | .*\{\{.* | .*<[A-Za-z][\w -]*>.* | .*%[sd]\b.* | \\[wdsSWDbxu.].* | \^.*\$$ | \(\?.*
    | .*\[\^?\\?[\w]-[\w].* | .*\{\d+,?\d*\}.* | \[\^.*
    | [&*][A-Za-z_]\w*$ | \{\w*\}.*
    """
)
_PATH = re.compile(
    r"(?:[\w.@+-]+/)+[\w.@+-]+\.[A-Za-z0-9]{1,5}"
    r"|(?:~|\.{1,2}|[A-Za-z]:\\{0,2}|\$\w+)?[/\\](?:[\w.@+ -]+[/\\])*[\w.@+*-]*"
    r"|[\w.-]+\.(?:pem|key|crt|cer|json|ya?ml|toml|txt|ini|cfg|conf|pub|p12|pfx|jks|env|py|js|ts|go|rs|java|rb|php|sh|sql"
    r"|html?|css|md|log|xml|csv|png|jpe?g|svg|gz|zip|exe|dll|so|local|com|org|net|io|dev)"
)
_PLAIN = re.compile(
    r"[vV^~<>=]*[0-9]+(?:\.[0-9x*]+)+(?:[-+.][\w.]+)?"  # versions and addresses
    r"|[-+]?[0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?:[a-zA-Z%]{1,3})?"  # numbers and sizes
    r"|[0-9]{2,4}[-/][0-9]{1,2}[-/][0-9]{1,4}(?:[T ].*)?"  # dates
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # mail
    r"|(?:[0-9A-Fa-f]{2}[: ]){3,}[0-9A-Fa-f]{2}:?"  # fingerprints
    r"|[\w-]+\.(?:[\w-]+\.)+[a-z]{2,6}(?::[0-9]+)?"  # hosts
)
_EXAMPLE = re.compile(
    r"""(?x)
    (?:change[_-]?me | your[_\W -] | [_\W-]your | ^your | example | placeholder | replace[_-]?(?:me|this|with) | dummy | insert[_-]
    | redacted | xxxx | \*\*\* | \.\.\. | …| todo | fixme | fake[_-]?(?:key|token|secret|pass)
    | <\w | \bn/?a\b | not[_-]?(?:set|used|needed|real) | my[_-]?(?:secret|password|token|api|key|pass|auth|super)
    | enter[_-]? | (?:test|some|sample|dev|demo)[_-]?(?:password|secret|token|key|pass|api|auth)
    | (?:secret|password|token|api[_-]?key|key)[_-]?(?:here|goes|value|string|name))
    """
)
_STOP = frozenset(
    [
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "unset",
        "empty",
        "default",
        "string",
        "str",
        "int",
        "integer",
        "number",
        "bool",
        "boolean",
        "object",
        "any",
        "bytes",
        "optional",
        "required",
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "key",
        "apikey",
        "auth",
        "bearer",
        "basic",
        "digest",
        "negotiate",
        "ntlm",
        "test",
        "tests",
        "testing",
        "foo",
        "bar",
        "baz",
        "foobar",
        "qux",
        "hidden",
        "masked",
        "secure",
        "sensitive",
        "private",
        "public",
        "changeit",
        "changeme",
        "example",
        "unknown",
        "enabled",
        "disabled",
        "on",
        "off",
        "yes",
        "no",
        "self",
        "this",
        "cls",
        "var",
        "let",
        "const",
        "function",
        "return",
        "static",
        "void",
        "auto",
        "input",
        "text",
        "value",
        "values",
        "name",
        "user",
        "username",
        "login",
        "admin",
        "root",
        "guest",
        "postgres",
        "mysql",
        "mongo",
        "redis",
        "rabbitmq",
        "minio",
        "oauth",
        "oauth2",
        "jwt",
        "apikeyauth",
        "httpbasic",
        "cookie",
        "header",
        "query",
        "file",
        "files",
        "env",
        "environ",
        "config",
        "local",
        "session",
        "sessions",
        "aws",
        "google",
        "github",
        "description",
        "write",
        "read",
        "readwrite",
        "writeonly",
        "readonly",
        "keyword",
        "prompt",
        "ask",
        "never",
        "always",
        "once",
        "only",
        "if",
        "not",
        "supported",
        "missing",
        "invalid",
        "valid",
        "expired",
        "wrong",
        "incorrect",
        "incomplete",
        "expected",
        "unexpected",
        "found",
        "provided",
        "given",
        "nonempty",
        "sometimes",
        "nullable",
        "confirmed",
        "email",
        "username",
        "current-password",
        "new-password",
        "off-site",
    ]
)
_POPULAR = frozenset(
    [
        "letmein",
        "qwerty",
        "qwertyuiop",
        "iloveyou",
        "sunshine",
        "princess",
        "football",
        "baseball",
        "superman",
        "dragon",
        "monkey",
        "shadow",
        "starwars",
        "trustno1",
        "passw0rd",
        "p@ssw0rd",
        "welcome",
        "asdfgh",
        "zxcvbn",
        "batman",
    ]
)
_WORDS = re.compile(r"[A-Za-z]+|[0-9]+")
_TURNS = re.compile(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")
_BOOTSTRAP = re.compile(
    r"[a-z0-9]{6}\.[a-z0-9]{16}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+"
)  # a token of Kubernetes, which reads like code
_LABEL = re.compile(r"(?:[a-z]+|v?[0-9]{1,4})(?:[-_./:](?:[a-z]+|v?[0-9]{1,4}))+")
# As people choose them: a word with three digits or with two digits and an odd sign. Algorithms look the same.
_HUMAN = re.compile(
    r"(?i)(?!(?:[a-z]*sha|aes|[rhep]s|hmac|md|base|utf|rsa|ed|cp|iso|http|tls|port|v|x|code|error|status|id|step|page|user|test"
    r"|key|token|secret|item|node|room|run|build|job|version|api)[-_]?[0-9])"
    r"(?:[a-z]{4,}[0-9]{3,8}|(?-i:(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z]))[a-z0-9]{8,}[!#$%^&*?]{1,3}|(?=.*[0-9]{2})[a-z0-9_]*[a-z]{4}[a-z0-9_]*[!@#$%^&*?][a-z0-9_!@#$%^&*?]*)"
)
_SHIFTED = re.compile(r"[!@#$%^&*]")
_ODD = re.compile(r"[^A-Za-z0-9_.\- /]")


@lru_cache(maxsize=_KNOWN)
def is_placeholder(value: str) -> bool:
    """Examples, masks and blanks: `xxxx`, `<your-token>`, `changeme`, `AKIA…EXAMPLE`."""
    value = value.lower()
    return len(set(value)) <= 2 or value in _STOP or _EXAMPLE.search(value[:_LOOKED]) is not None


@lru_cache(maxsize=_KNOWN)
def is_secret(value: str, level: int, *, quoted: bool, alone: bool = False) -> bool:
    """Whether the value is one, given what its name promises. `alone`: it is all that its line assigns."""
    value = value.strip(" ") if quoted else value
    size = len(value)
    if (
        size > LONGEST
        or size < _SHORTEST[level]
        or "\ufffd" in value
        or is_placeholder(value)
        or _REFERENCE.match(value)
        or (
            not quoted and value.isidentifier() and parts(value)[-1:] and parts(value)[-1] in _STOP
        )  # `x=webhook_secret`
    ):
        return False
    if _PATH.fullmatch(value) and not (level == PASSWORD and _ODD.search(value.lstrip("/\\~."))):
        return _is_base64(value, level)
    if _CODE.match(value) and not (_BOOTSTRAP.fullmatch(value) or (quoted and _is_no_code(value, level))):
        return False
    if _PLAIN.fullmatch(value):
        return value.isdigit() and ((level == PASSWORD and 6 <= size <= 20) or (level == SECRET and size > 15))
    if any(blank in value for blank in " \t\n"):
        return quoted and ((level == PASSWORD and _is_phrase(value)) or (level == SECRET and _is_noise(value)))
    return _is_odd(value, level, quoted=quoted, alone=alone)


_SHORTEST = {WEAK: 12, SECRET: 6, PASSWORD: 4}


def _is_base64(value: str, level: int) -> bool:
    """A value that could be a path: base64 has slashes too."""
    return level >= SECRET and len(value) >= 20 and "." not in value and "-" not in value and is_random(value)


def _is_no_code(value: str, level: int) -> bool:
    """Quoted, and odd in a way that code is not."""
    if value.count("(") != value.count(")") or _is_noise(value):
        return "{{" not in value and "${" not in value and level >= SECRET
    return level == PASSWORD and _looks_chosen(value)


def _looks_chosen(value: str) -> bool:
    """A password that looks like code: odd characters, but no balanced brackets after a name."""
    return not re.match(r"[\w.$]+[(\[{]|.*\$?\{\{?\w|.*%\(?\w+\)?s", value) and any(c.isdigit() for c in value)


def _is_phrase(value: str) -> bool:
    """Words with a digit or a mark inside them, few enough to be a pass phrase."""
    words = value.split()
    return len(words) <= 8 and sum(not word.strip("?!.,:;()'").isalpha() for word in words) * 2 >= len(words)


def _is_noise(value: str) -> bool:
    """A generated key may hold a blank: letters, digits and many marks, and no words."""
    marks = sum(not c.isalnum() for c in value)
    return (
        len(value) >= 20
        and marks >= 5
        and value.count(" ") <= 3
        and any(c.isdigit() for c in value)
        and is_random(value)
    )


def _is_odd(value: str, level: int, *, quoted: bool, alone: bool) -> bool:
    if _HEX.fullmatch(value) and (len(value) >= 16):
        return level >= SECRET and not value.isdigit()
    if _UUID.fullmatch(value):
        return level >= SECRET
    if level == PASSWORD:
        return _is_password(value, quoted=quoted, alone=alone)
    if level == SECRET:
        if is_random(value) and (len(value) >= 8 or ((quoted or alone) and _is_short_mix(value))):
            return True
        return (quoted or alone) and _HUMAN.fullmatch(value) is not None
    return len(value) >= 16 and is_random(value) and any(c.isdigit() for c in value) and not _is_label(value)


def _is_label(value: str) -> bool:
    """Words and small numbers between dashes: `ci-cache-v2-linux`."""
    return _LABEL.fullmatch(value) is not None and all(
        len(word) < 3 or re.search("[aeiouy]", word) for word in re.findall("[a-z]+", value)
    )


def _is_short_mix(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value) and is_random(value)


def _is_password(value: str, *, quoted: bool, alone: bool) -> bool:
    """People choose words: a digit or an odd character makes one, gibberish too; bare words may be code."""
    free = quoted or alone
    if free and (value.lower() in _POPULAR or (value.isalpha() and len(value) > 4 and not is_wordlike(value))):
        return True
    lowered = [word.lower() for word in parts(value)]
    if lowered and all(word in _STOP or (word.isdigit() and len(word) < 3) for word in lowered):
        return free and len(_SHIFTED.findall(value)) > 1 and value[-1] != ")"
    return is_random(value) or _is_chosen(value, lowered, free=free)


def _is_chosen(value: str, lowered: list[str], *, free: bool) -> bool:
    """Words with a digit or an odd character between them, or many words: correct-horse-battery-staple."""
    words = _WORDS.findall(value)
    has_digit = any(word.isdigit() for word in words)
    if _ODD.search(value):
        return free or has_digit
    if has_digit and any(word.isalpha() for word in words):
        return "_" not in value or free or any(len(word) > 1 for word in words if word.isdigit())
    return len(words) >= 4 and free and not any(word in _STOP for word in lowered)


@lru_cache(maxsize=_KNOWN)
def is_random(value: str) -> bool:
    """Whether it reads like no name that anybody would choose: gibberish letters, or digits strewn in."""
    turns = len(_TURNS.findall(value))
    if turns >= 3:
        return True
    words = parts(value)
    if len(value) >= 10 and value.isalnum() and value[0].isdigit() and len(words) >= 4 and not value.isupper():
        return True  # no name begins with a digit
    letters = [word for word in words if word.isalpha()]
    if not letters:
        return False
    odd = sum(len(word) for word in letters if not is_wordlike(word))
    total = sum(len(word) for word in letters)
    short = sum(len(word) <= 2 for word in words)
    if odd * 3 >= total and (total >= 8 or turns):
        return True
    if total >= 10 and len(words) >= 5 and total * 5 <= len(letters) * (13 if len(letters) < 6 else 16):
        return True  # the cases change too often
    return total >= 10 and short * 2 >= len(words) and len(words) >= 4
