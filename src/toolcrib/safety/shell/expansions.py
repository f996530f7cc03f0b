"""What a shell makes of `${x:-y}`, `{a,b}`, `$'..'` and `$((..))` when the parts are known."""

import ast
import re
from collections.abc import Callable

from toolcrib.safety.shell.marks import (
    CLOSE,
    COMMA,
    NOTHING,
    OPEN,
    SET,
    SPLIT,
    STAR,
    UNKNOWN,
    as_expression,
    plain,
    vague,
)

MOST_WORDS = 256
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|0?[0-7]{1,3}|c.|.)", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}


def _escaped(found: "re.Match[str]") -> str:
    body = found.group(1)
    if body in _NAMED:
        return _NAMED[body]
    if body[0] in "xuU" and len(body) > 1:
        number = int(body[1:], 16)
    elif body[0] in "01234567":
        number = int(body, 8)
    elif body[0] == "c" and len(body) > 1:
        number = ord(body[1]) & 31
    else:
        return body
    return chr(number) if 0 < number < 0x11_0000 and not 0xD800 <= number < 0xE000 else ""


def unescaped(text: str) -> str:
    r"""The inside of `$'..'`, of `echo -e` and of a `printf` format."""
    return _ESCAPE.sub(_escaped, text)


def braces(word: str) -> list[str]:
    """`a{b,c}` as `ab` and `ac`, `{1..3}` as three words. What is no expansion becomes plain text again."""
    if OPEN not in word:
        return [word.replace(COMMA, ",").replace(CLOSE, "}")]
    found = _first_group(word)
    if found is None:
        return [word.replace(OPEN, "{").replace(COMMA, ",").replace(CLOSE, "}")]
    begin, end, parts = found
    out: list[str] = []
    for part in parts:
        out += braces(word[:begin] + part + word[end:])
        if len(out) > MOST_WORDS:
            return [UNKNOWN]
    return out


def _first_group(word: str) -> tuple[int, int, list[str]] | None:
    begin = word.find(OPEN)
    while begin >= 0:
        parts, end = _parts(word, begin)
        if end and (len(parts) > 1 or (parts := _sequence(parts[0]))):
            return begin, end, parts
        begin = word.find(OPEN, begin + 1)
    return None


def _parts(word: str, begin: int) -> tuple[list[str], int]:
    depth, parts, last = 0, [""], begin + 1
    for at in range(begin, len(word)):
        sign = word[at]
        if sign == OPEN:
            depth += 1
        elif sign == CLOSE:
            depth -= 1
            if not depth:
                parts[-1] = word[last:at]
                return parts, at + 1
        elif sign == COMMA and depth == 1:
            parts[-1] = word[last:at]
            parts.append("")
            last = at + 1
    return parts, 0


def _sequence(text: str) -> list[str]:
    ends = text.split("..")
    if len(ends) not in {2, 3}:
        return []
    if all(re.fullmatch(r"-?\d{1,9}", end) for end in ends):
        first, last = int(ends[0]), int(ends[1])
        step = abs(int(ends[2])) if len(ends) == 3 else 1
        numbers = range(first, last + 1, step or 1) if first <= last else range(first, last - 1, -(step or 1))
        width = max(len(ends[0]), len(ends[1])) if re.match(r"-?0\d", ends[0]) else 0
        return [str(n).zfill(width) for n in numbers[:MOST_WORDS]] if len(numbers) <= MOST_WORDS else [UNKNOWN]
    if len(ends[0]) == len(ends[1]) == 1:
        first, last = ord(ends[0]), ord(ends[1])
        step = 1 if first <= last else -1
        return [chr(n) for n in range(first, last + step, step)][:MOST_WORDS]
    return []


_SET_CLOSED = re.compile(SET + r"[^/]+\]")


def closed(text: str) -> str:
    """A text in which `[` is a pattern only where `]` follows."""
    return text if SET not in text or _SET_CLOSED.search(text) else text.replace(SET, "[")


def words_of(text: str) -> list[str]:
    """The words of one evaluated word: braces first, then the splits of unquoted values."""
    text = closed(text)
    if OPEN not in text and SPLIT not in text and NOTHING not in text and COMMA not in text and CLOSE not in text:
        return [text] if text else []
    out: list[str] = []
    for word in braces(text):
        if SPLIT in word:
            out += [part.replace(NOTHING, "") for part in word.split(SPLIT) if part]
        elif word:
            out.append(word.replace(NOTHING, ""))
    return out


_Value = str | None
_DEFAULTS = re.compile(r"(:?)([-=+?])(.*)", re.DOTALL)
_SLICE = re.compile(r":\s*(-?\d+)\s*(?::\s*(-?\d+)\s*)?")
_CASES: dict[str, Callable[[str], str]] = {
    "^^": str.upper,
    ",,": str.lower,
    "^": lambda text: text[:1].upper() + text[1:],
    ",": lambda text: text[:1].lower() + text[1:],
    "@U": str.upper,
    "@L": str.lower,
    "@u": lambda text: text[:1].upper() + text[1:],
    "@E": unescaped,
    "@Q": lambda text: "'" + text.replace("'", "'\\''") + "'",
    "~~": str.swapcase,
}


def parameter(value: _Value, rest: str, *, sure: bool) -> str:
    """`${name<rest>}`. A value of None is a variable that nothing is known of."""
    if not rest:
        return UNKNOWN if value is None else value
    if (found := _DEFAULTS.fullmatch(rest)) and not (found.group(1) and _SLICE.fullmatch(rest)):
        return _default(value, found.group(2), found.group(3))
    if value is None:
        return UNKNOWN
    made = _changed(value, rest)
    return made if made is not None and sure and not vague(rest) else (made or "") + UNKNOWN


def _default(value: _Value, sign: str, word: str) -> str:
    if value is None:
        return "" if sign == "?" else word + UNKNOWN
    if sign == "+":
        return word if value else ""
    return value or ("" if sign == "?" else word)


def _changed(value: str, rest: str) -> str | None:
    if rest in _CASES:
        return _CASES[rest](value)
    if found := _SLICE.fullmatch(rest):
        first, length = int(found.group(1)), found.group(2)
        part = value[first:] if first >= -len(value) else ""
        return part if length is None else part[: int(length)]
    if len(value) > 2000 or rest.count(STAR) + rest.count("*") > 3:
        return None
    if rest[0] in "#%":
        return _trimmed(value, rest)
    return _replaced(value, rest) if rest[0] == "/" else None


def _pattern(text: str) -> "re.Pattern[str]":
    """A pattern in an expansion: `*`, `?` and `[` act there, `/` is a letter like others."""
    out: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "[" and (end := text.find("]", at + 2)) > 0:
            inner = text[at + 1 : end].replace("\\", "\\\\")
            out.append("[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]")
            at = end
        elif text[at] == "\\" and at + 1 < len(text):
            at += 1
            out.append(re.escape(text[at]))
        else:
            out.append({"*": ".*", "?": "."}.get(text[at]) or re.escape(text[at]))
        at += 1
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error:
        return as_expression(text)


def _trimmed(value: str, rest: str) -> str | None:
    twice = rest[:2] in {"##", "%%"}
    pattern = _pattern(plain(rest[2 if twice else 1 :]))
    cuts = range(len(value) + 1)
    if rest[0] == "#":
        hits = [cut for cut in cuts if pattern.fullmatch(value[:cut])]
        return value[(hits[-1] if twice else hits[0]) :] if hits else value
    hits = [cut for cut in cuts if pattern.fullmatch(value[cut:])]
    return value[: (hits[0] if twice else hits[-1])] if hits else value


def _replaced(value: str, rest: str) -> str | None:
    every = rest[:2] == "//"
    body = rest[2 if every else 1 :]
    anchor = body[:1] if body[:1] in {"#", "%"} and not every else ""
    found = re.match(r"((?:\\.|[^/\\])*)(?:/(.*))?$", body[len(anchor) :], re.DOTALL)
    if found is None:
        return None
    pattern = _pattern(plain(found.group(1)))
    source = {"": pattern.pattern, "#": r"\A" + pattern.pattern, "%": pattern.pattern + r"\Z"}[anchor]
    to = plain(found.group(2) or "")
    return re.sub(source, lambda _: to, value, count=0 if every else 1, flags=re.DOTALL)


_SUMS: dict[type, Callable[[int, int], int]] = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.FloorDiv: int.__floordiv__,
    ast.Mod: int.__mod__,
    ast.BitXor: int.__xor__,
    ast.BitAnd: int.__and__,
    ast.BitOr: int.__or__,
}


def _sum(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_sum(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _SUMS:
        return _SUMS[type(node.op)](_sum(node.left), _sum(node.right))
    raise ValueError


def arithmetic(text: str) -> str:
    """A sum of numbers, or unknown."""
    tidy = re.sub(r"\b(\d+)#([0-9a-zA-Z]+)", lambda m: _number(m.group(2), int(m.group(1))), text.strip())
    if not re.fullmatch(r"[\d\s+\-*/%()^&|x]{1,100}", tidy) or "**" in tidy:
        return UNKNOWN
    tidy = re.sub(r"\b0([0-7]+)\b", r"0o\1", tidy)
    try:
        return str(_sum(ast.parse(tidy.replace("/", "//"), mode="eval").body))
    except (ValueError, SyntaxError, ZeroDivisionError, RecursionError, OverflowError):
        return UNKNOWN


def _number(digits: str, radix: int) -> str:
    try:
        return str(int(digits, radix))
    except ValueError:
        return UNKNOWN
