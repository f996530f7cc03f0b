r"""Regular expressions of a search: one dialect, Rust's, for both engines.

RE2 differs from it in small things. `for_re2` writes them out: classes such as `\w` know all of Unicode, and in
a search by lines no class crosses a line end. `\n` also matches `\r\n`, in both engines.
"""

from collections.abc import Iterator

from toolcrib.core.errors import ToolFailed

PATTERN = 4000  # characters
_WORD = r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}"
_BLANK = r"\t\x0b\f \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_SPACE = _BLANK + r"\r\n"
_ACROSS = {"\n": r"\r?\n", r"\n": r"\r?\n", "$": r"(?:\r?$)", r"\S": f"[^{_SPACE}]"}
_DIGITS = {"u": 4, "U": 8}  # how many an escape of that name has, where it has no braces
_HEX = frozenset("0123456789abcdefABCDEF")
_CLASSES = {"w": _WORD, "d": r"\p{Nd}"}


def pieces(pattern: str) -> Iterator[tuple[str, bool]]:
    """The pattern in single characters and escapes, each with whether it stands inside brackets."""
    at = depth = 0
    while at < len(pattern):
        size = 1
        if pattern[at] == "\\":
            size = _escape(pattern, at)
        elif pattern[at] == "[":
            depth, size = _opened(pattern, at, depth)
        piece = pattern[at : at + size]
        yield piece, depth > 0
        if piece == "]" and depth:
            depth -= 1
        at += size


def _escape(pattern: str, at: int) -> int:
    r"""How long the escape is: `\x{41}`, `\u0041` and `\p{Greek}` are one piece."""
    name = pattern[at + 1 : at + 2]
    if name in {"x", "p", "P", "u", "U"} and pattern[at + 2 : at + 3] == "{":
        end = pattern.find("}", at)
        return end + 1 - at if end > 0 else 2
    digits = pattern[at + 2 : at + 2 + _DIGITS.get(name, 0)]
    return 2 + len(digits) if len(digits) == _DIGITS.get(name) and set(digits) <= _HEX else 2


def _opened(pattern: str, at: int, depth: int) -> tuple[int, int]:
    """A bracket opens: with its `^`, and with a `]` that stands first and so is a character."""
    if depth:
        end = pattern.find(":]", at)
        if pattern.startswith("[:", at) and end > 0:
            return depth, end + 2 - at
        return depth, 1
    size = 2 if pattern.startswith("[^", at) else 1
    return 1, size + (pattern.startswith("]", at + size))


def checked(pattern: str, *, multiline: bool) -> None:
    """Refuse what neither engine takes."""
    if not pattern:
        raise bad_pattern("it is empty", "Give a regular expression.")
    if len(pattern) > PATTERN:
        raise bad_pattern(f"it has more than {PATTERN} characters", "Use a shorter one.")
    if not multiline and any(piece in {"\n", "\\n", "\r", "\\r"} and not inside for piece, inside in pieces(pattern)):
        raise bad_pattern("it holds a line end", "Set multiline to match line ends.")


def bad_pattern(why: str, hint: str = "") -> ToolFailed:
    """The refusal of a pattern."""
    hint = hint or "Look-around and back-references do not exist here. Put a backslash before a literal ( [ { . * + ?"
    return ToolFailed(f"The pattern was refused: {why}.", code="bad_pattern", hint=hint)


def for_ripgrep(pattern: str) -> str:
    """The pattern for ripgrep: a line end matches both kinds."""
    return "".join(r"\r?\n" if piece in {"\n", "\\n"} and not inside else piece for piece, inside in pieces(pattern))


def for_re2(pattern: str, *, multiline: bool) -> str:
    """The pattern for RE2, meaning what it means to ripgrep."""
    write = across if multiline else within
    return "".join(write(piece, inside=inside) for piece, inside in pieces(pattern))


def spelled(pattern: str) -> str:
    """The pattern as it was given, but for the escapes by number that RE2 writes in another way."""
    return "".join(_spelled(piece) for piece, _ in pieces(pattern))


def _spelled(piece: str) -> str:
    numbered = piece.startswith((r"\u", r"\U")) and len(piece) > len(r"\u")
    return rf"\x{{{piece[2:].strip('{}')}}}" if numbered else piece


def _shared(piece: str, *, inside: bool) -> str:
    """What is written alike in both kinds of search; "" for what is not."""
    name = piece[1:2] if piece.startswith("\\") else ""
    if name in {"w", "d"}:
        return _CLASSES[name] if inside else f"[{_CLASSES[name]}]"
    if name == "D" and inside:
        return r"\P{Nd}"
    if name in _DIGITS:
        return _spelled(piece)
    return ""


def within(piece: str, *, inside: bool) -> str:
    """A piece for a search by lines: nothing may match a line end, of either kind."""
    if shared := _shared(piece, inside=inside):
        return shared
    if inside:
        return _BLANK if piece == r"\s" else piece.replace("^", r"^\r\n", 1) if piece.startswith("[^") else piece
    if piece == ".":
        return r"[^\r\n]"
    if piece == r"\s":
        return f"[{_BLANK}]"
    if piece in {r"\W", r"\D"}:
        return rf"[^\r\n{_CLASSES[piece[1].lower()]}]"
    return rf"[^\r\n{_BLANK}]" if piece == r"\S" else piece


def across(piece: str, *, inside: bool) -> str:
    """A piece for a search across lines."""
    if shared := _shared(piece, inside=inside):
        return shared
    if piece == r"\s":
        return _SPACE if inside else f"[{_SPACE}]"
    if inside:
        return piece
    if piece in {r"\W", r"\D"}:
        return f"[^{_CLASSES[piece[1].lower()]}]"
    return _ACROSS.get(piece, piece)
