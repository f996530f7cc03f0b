"""Programs whose output follows from their words and their input alone, so that `$(echo rm)` is seen as `rm`."""

import base64
import binascii
import codecs
import gzip
import re
import string
import zlib
from collections.abc import Callable, Sequence

from toolcrib.safety.shell.expansions import unescaped
from toolcrib.safety.shell.marks import HIDDEN, LOOSE, UNKNOWN, plain, taints, vague

Pure = Callable[[Sequence[str], str | None], str | None]
MOST = 20_000


def output(name: str, words: Sequence[str], stdin: str | None) -> str | None:
    """What the program prints, or None if that does not follow."""
    found = PROGRAMS.get(name)
    if found is None:
        return None
    made = found(words, stdin)
    if made is None or len(made) > MOST:
        return None
    return made


def _echo(words: Sequence[str], _stdin: str | None) -> str | None:
    at, escapes, end = 0, False, "\n"
    while at < len(words) and re.fullmatch(r"-[neE]+", words[at]):
        end = "" if "n" in words[at] else end
        escapes = "e" in words[at] or escapes
        at += 1
    text = " ".join(_texts(words[at:]))
    return (unescaped(text) if escapes else text) + end


def _texts(words: Sequence[str]) -> list[str]:
    """Words as text: patterns that found nothing stay as they are, and marks of unknown parts stay too."""
    return [word if vague(word) else plain(word) for word in words]


_DIRECTIVE = re.compile(r"%[-+ #0]*(\d*)(?:\.\d+)?([sbdiqcxXou%])")


def _printf(words: Sequence[str], _stdin: str | None) -> str | None:
    words = _texts(words)
    if words and words[0] == "--":
        words = words[1:]
    if not words or words[0] == "-v":
        return None
    form, rest = words[0], list(words[1:])
    out: list[str] = []
    for _ in range(64):
        before = len(rest)
        out.append(_DIRECTIVE.sub(lambda found: _filled(found, rest), unescaped(form)))
        if not rest or len(rest) == before:
            break
    return "".join(out)


def _filled(found: "re.Match[str]", rest: list[str]) -> str:
    kind = found.group(2)
    if kind == "%":
        return "%"
    word = rest.pop(0) if rest else ""
    if kind == "b":
        return unescaped(word)
    if kind == "c":
        return word[:1]
    if kind in "dixXou":
        return _number(word, kind)
    return word


def _number(word: str, kind: str) -> str:
    try:
        value = ord(word[1]) if word[:1] in {"'", '"'} and len(word) > 1 else int(word or "0", 0)
    except ValueError:
        return UNKNOWN
    return format(value, {"i": "d", "u": "d"}.get(kind, kind))


def _cat(words: Sequence[str], stdin: str | None) -> str | None:
    return stdin if all(word in {"-", "-u"} for word in words) else None


def _decoder(decode: Callable[[bytes], bytes], flags: frozenset[str]) -> Pure:
    def run(words: Sequence[str], stdin: str | None) -> str | None:
        if not any(word in flags for word in words):
            return None
        if stdin is None or any(not word.startswith("-") for word in words):
            return UNKNOWN + HIDDEN  # a file, whose text nobody has seen
        if vague(stdin):
            return UNKNOWN + HIDDEN + taints(stdin)
        try:
            return decode(re.sub(r"\s", "", stdin).encode()).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            return UNKNOWN + HIDDEN

    return run


def _base64(data: bytes) -> bytes:
    return base64.b64decode(data + b"=" * (-len(data) % 4))


def _hex(data: bytes) -> bytes:
    return bytes.fromhex(re.sub(rb"[^0-9a-fA-F]", b"", data).decode())


_DECODE = frozenset(("-d", "-D", "--decode", "-di", "-id", "--d", "--de", "--dec", "--deco", "--decod", "-dw0"))


def _unzip(_words: Sequence[str], stdin: str | None) -> str | None:
    """What was packed is not shown, so it counts as hidden."""
    if stdin is None:
        return UNKNOWN + HIDDEN
    data = stdin.encode("latin-1", "replace")
    try:
        return gzip.decompress(data).decode("utf-8", "replace") if len(data) < MOST else UNKNOWN + HIDDEN
    except (OSError, EOFError, zlib.error):
        return UNKNOWN + HIDDEN + taints(stdin)


def _packed(words: Sequence[str], stdin: str | None) -> str | None:
    """`gzip -dc`: the same."""
    return _unzip(words, stdin) if any(re.match(r"-\w*d|--decompress|--uncompress", word) for word in words) else None


def _known_input(run: Callable[[Sequence[str], str], str | None]) -> Pure:
    def checked(words: Sequence[str], stdin: str | None) -> str | None:
        if stdin is None:
            return None
        if vague(stdin) or any(vague(word) for word in words):
            return UNKNOWN + taints(stdin)
        return run([plain(word) for word in words], stdin)

    return checked


def _rev(words: Sequence[str], stdin: str) -> str | None:
    return "\n".join(line[::-1] for line in stdin.split("\n")) if not words else None


def _tac(words: Sequence[str], stdin: str) -> str | None:
    return "\n".join(reversed(stdin.rstrip("\n").split("\n"))) + "\n" if not words else None


_CLASSES = {
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase,
    "digit": string.digits,
    "space": " \t\n\r\f\v",
    "alpha": string.ascii_uppercase + string.ascii_lowercase,
    "alnum": string.digits + string.ascii_uppercase + string.ascii_lowercase,
    "punct": string.punctuation,
}


def _set(text: str) -> str:
    text = re.sub(r"\[:(\w+):\]", lambda m: _CLASSES.get(m.group(1), ""), unescaped(text))

    def spread(found: "re.Match[str]") -> str:
        return "".join(chr(n) for n in range(ord(found.group(1)), ord(found.group(2)) + 1))

    return re.sub(r"(.)-(.)", spread, text, flags=re.DOTALL)


def _tr(words: Sequence[str], stdin: str) -> str | None:
    flags = [word for word in words if re.fullmatch(r"-[cCds]+", word)]
    sets = [_set(word) for word in words if word not in flags]
    letters = "".join(flags)
    if not sets:
        return None
    others = "c" in letters.lower()
    if "d" in letters:
        return "".join(sign for sign in stdin if (sign in sets[0]) == others)
    if others or len(sets) < 2 or not sets[1]:
        return None
    to = sets[1] + sets[1][-1] * (len(sets[0]) - len(sets[1]))
    made = stdin.translate({ord(a): b for a, b in zip(reversed(sets[0]), reversed(to[: len(sets[0])]), strict=False)})
    return made if "s" not in letters else None


def _cut(words: Sequence[str], stdin: str) -> str | None:
    given = " ".join(words)
    found = re.fullmatch(r"(?:-d ?(?P<by>\S| ) )?-(?P<kind>[cfb]) ?(?P<what>[\d,\-]+)(?: -d ?(?P<by2>\S))?", given)
    if found is None:
        return None
    by = found["by"] or found["by2"] or "\t"
    picks = [part.partition("-") for part in found["what"].split(",")]
    out: list[str] = []
    for line in stdin.rstrip("\n").split("\n"):
        items: Sequence[str] = line.split(by) if found["kind"] == "f" else line
        taken: list[str] = []
        for low, dash, high in picks:
            taken += items[int(low or 1) - 1 : (int(high or len(items)) if dash else int(low))]
        out.append((by if found["kind"] == "f" else "").join(taken))
    return "\n".join(out) + "\n"


def _ends(*, first: bool) -> Callable[[Sequence[str], str], str | None]:
    def run(words: Sequence[str], stdin: str) -> str | None:
        found = re.fullmatch(r"(?:-(?P<kind>[nc]) ?(?P<n>\d+)|-(?P<m>\d+))?", " ".join(words))
        if found is None:
            return None
        count = int(found["n"] or found["m"] or 10)
        if found["kind"] == "c":
            return stdin[:count] if first else stdin[-count:]
        lines = stdin.splitlines(keepends=True)
        return "".join(lines[:count] if first else lines[-count:])

    return run


def _sed(words: Sequence[str], stdin: str) -> str | None:
    words = [word for word in words if word not in {"-e", "-E", "-r"}]
    found = re.fullmatch(r"s(.)((?:(?!\1).)*)\1((?:(?!\1).)*)\1(g?)", words[0]) if len(words) == 1 else None
    if found is None or re.search(r"[\\.*\[^$&+?(){}|]", found[2] + found[3]):
        return None
    return "\n".join(line.replace(found[2], found[3], -1 if found[4] else 1) for line in stdin.split("\n"))


def _rot(words: Sequence[str], stdin: str) -> str | None:
    return codecs.encode(stdin, "rot13") if not words else None


def _fold(_words: Sequence[str], _stdin: str) -> str | None:
    return UNKNOWN


def _seq(words: Sequence[str], _stdin: str | None) -> str | None:
    if not words or not all(re.fullmatch(r"\d{1,4}", word) for word in words):
        return None
    first = int(words[0]) if len(words) > 1 else 1
    return "".join(f"{n}\n" for n in range(first, int(words[-1]) + 1))


def _base_name(words: Sequence[str], _stdin: str | None) -> str | None:
    if len(words) != 1:
        return None
    word = words[0]
    return word if vague(word) else plain(word).rstrip("/").rpartition("/")[2] + "\n"


def _openssl(words: Sequence[str], stdin: str | None) -> str | None:
    if not any(word in {"base64", "-base64", "-a"} for word in words) or "-d" not in words:
        return UNKNOWN + HIDDEN if "-d" in words else None
    return _decoder(_base64, _DECODE)(["-d"], stdin)


def _xxd(words: Sequence[str], stdin: str | None) -> str | None:
    if not any(word.startswith("-") and "r" in word for word in words):
        return None
    return _decoder(_hex, frozenset(("-r",)))(["-r", *(word for word in words if not word.startswith("-"))], stdin)


def _pass(_words: Sequence[str], stdin: str | None) -> str | None:
    return stdin


def _whole(words: Sequence[str], _stdin: str | None) -> str | None:
    return "y\n" if not words else " ".join(_texts(words)).replace(LOOSE, UNKNOWN) + "\n"


PROGRAMS: dict[str, Pure] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tee": _pass,
    "base64": _decoder(_base64, _DECODE),
    "base32": _decoder(base64.b32decode, _DECODE),
    "openssl": _openssl,
    "xxd": _xxd,
    **dict.fromkeys(("gzip", "bzip2", "xz", "zstd", "lz4"), _packed),
    "gunzip": _unzip,
    "zcat": _unzip,
    "rev": _known_input(_rev),
    "tac": _known_input(_tac),
    "tr": _known_input(_tr),
    "cut": _known_input(_cut),
    "head": _known_input(_ends(first=True)),
    "tail": _known_input(_ends(first=False)),
    "sed": _known_input(_sed),
    "rot13": _known_input(_rot),
    "seq": _seq,
    "basename": _base_name,
    "yes": _whole,
}
for _name in ("sort", "uniq", "fold", "paste", "column", "awk", "perl"):
    PROGRAMS[_name] = _known_input(_fold)
