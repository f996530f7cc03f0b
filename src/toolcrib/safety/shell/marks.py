"""Words whose text is not, or not wholly, known: characters that no command may hold stand for what is missing."""

import re

UNKNOWN = "\ufdd0"  # any text, quoted: one word at most
LOOSE = "\ufdd1"  # any text, not quoted: any number of words
NET = "\ufdd2"  # text that came from the network
SECRET = "\ufdd3"  # noqa: S105 - a mark: text that holds a credential
HIDDEN = "\ufdd4"  # text that was decoded from something unknown
STAR, ONE, SET = "\ufdd5", "\ufdd6", "\ufdd7"  # * ? [ that the shell will expand
SPLIT = "\ufdd8"  # the end of a word, from an unquoted value
OPEN, COMMA, CLOSE = "\ufdd9", "\ufdda", "\ufddb"  # { , } that the shell will expand
NOTHING = "\ufddc"  # a quoted empty text: it makes a word even though nothing is in it

FIRST, LAST = "\ufdd0", "\ufdef"
TAINTS = (NET, SECRET, HIDDEN)
_GLOB = str.maketrans({STAR: "*", ONE: "?", SET: "[", OPEN: "{", COMMA: ",", CLOSE: "}", NOTHING: None, SPLIT: " "})
_DROP = str.maketrans(dict.fromkeys((UNKNOWN, LOOSE, NET, SECRET, HIDDEN)))
_SHOW = str.maketrans({UNKNOWN: "…", LOOSE: "…", NET: None, SECRET: None, HIDDEN: None})
_MARKED = re.compile("[\ufdd0-\ufdd4]")
_GLOBBED = re.compile("[\ufdd5-\ufdd7]")
_FOREIGN = re.compile("[\ufdd0-\ufdef\x00\ud800-\udfff]")
# Signs that turn the reading direction, or take no room.
UNSEEN = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\u00a0"


def foreign(text: str) -> bool:
    """Whether a text holds a character that only this package may use, a NUL, or half a character."""
    return _FOREIGN.search(text) is not None


def vague(word: str) -> bool:
    """Whether a part of the word is not known."""
    return _MARKED.search(word) is not None


def globbed(word: str) -> bool:
    """Whether the shell would look for files of this pattern."""
    return _GLOBBED.search(word) is not None


def plain(word: str) -> str:
    """The word with what is missing taken as nothing."""
    return word.translate(_GLOB).translate(_DROP)


def shown(word: str) -> str:
    """The word as a person may read it."""
    return word.translate(_GLOB).translate(_SHOW)


def taints(text: str) -> str:
    """What is known of where a text came from."""
    return "".join(mark for mark in TAINTS if mark in text)


def blurred(text: str) -> str:
    """An unknown text that came from where `text` came from."""
    return UNKNOWN + taints(text)


def as_expression(pattern: str) -> "re.Pattern[str]":
    """A glob with active characters as an expression for one part of a path. Unknown parts match anything."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign in {STAR, UNKNOWN, LOOSE, OPEN, COMMA, CLOSE}:
            out.append("[^/]*")
        elif sign == ONE:
            out.append("[^/]")
        elif sign == SET:
            end = pattern.find("]", at + 2)
            out.append("[^/]")
            at = end if end > 0 else at
        elif sign not in TAINTS:
            out.append(re.escape(sign))
        at += 1
    return re.compile("".join(out))
