"""Words of a text, cut down to stems, so that "listing files" finds `list_file`. English, after Porter's rules of 1980."""

import re
from functools import lru_cache

# Words that say nothing about what somebody is looking for.
_STOP = """
a about an and any are as at be been but by can could did do does for from had has have he help her his how i if in into
is it its like may me might must my need no not of on or our please shall she should so some such than that the their them
then there these they this those to tool tools up us use used using via want was we were what when where which who whom
whose why will with would you your
"""
STOP = frozenset(_STOP.split())
_RUN = re.compile(r"[^\W_]+")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VOWEL = re.compile(r"[aeiou]|(?<=[^aeiou])y")
_MEASURE = re.compile(r"(?:[aeiou]|(?<=[^aeiou])y)+(?:y(?<=^y)|[^aeiouy]|(?<=[aeiou])y)+")

_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful"),
    ("ousness", "ous"), ("biliti", "ble"), ("ation", "ate"), ("ousli", "ous"), ("entli", "ent"), ("alism", "al"),
    ("aliti", "al"), ("iviti", "ive"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("alli", "al"),
    ("ator", "ate"), ("bli", "ble"), ("eli", "e"), ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
)  # fmt: skip


def pieces(text: str) -> list[str]:
    """The words of a text in small letters; names are split at every sign, number and capital."""
    return [piece for run in _RUN.findall(text) for piece in _split(run)]


def every_stem(text: str) -> list[str]:
    """The stems of all words of a text, in order. Texts say the same words again and again, so each is worked out once."""
    known = _stems_of
    return [one for run in _RUN.findall(text) for one in known(run)]


def stems(text: str) -> list[str]:
    """The stems of the words that say something; of all words when none does."""
    found = pieces(text)
    return [stem(word) for word in found if word not in STOP] or [stem(word) for word in found]


@lru_cache(maxsize=50_000)
def _stems_of(run: str) -> tuple[str, ...]:
    return tuple(stem(piece) for piece in _split(run))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """One word without its endings."""
    if len(word) <= 2 or not word.isascii() or not word.isalpha():
        return word
    word = _past(_plural(word))
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    word = _swapped(_swapped(word, _STEP_2), _STEP_3)
    return _tidied(_shortened(word))


def _split(run: str) -> list[str]:
    """A run of letters and digits; capitals say where words meet only in plain letters."""
    return [piece.lower() for piece in _PIECE.findall(run)] if run.isascii() else [run.lower()]


def _measure(base: str) -> int:
    """How many times vowels are followed by consonants."""
    return len(_MEASURE.findall(base))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Without -eed, -ed and -ing."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    base = next((word[: -len(end)] for end in ("ed", "ing") if word.endswith(end)), "")
    if not base or not _VOWEL.search(base):
        return word
    if base.endswith(("at", "bl", "iz")) or (_measure(base) == 1 and _short(base)):
        return base + "e"
    return base[:-1] if _doubled(base) and base[-1] not in "lsz" else base


def _swapped(word: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for end, instead in pairs:
        if word.endswith(end):
            base = word[: -len(end)]
            return base + instead if _measure(base) else word
    return word


def _shortened(word: str) -> str:
    for end in _STEP_4:
        if word.endswith(end):
            base = word[: -len(end)]
            fits = _measure(base) > 1 and (end != "ion" or base.endswith(("s", "t")))
            return base if fits else word
    return word


def _tidied(word: str) -> str:
    """Without a last -e or a doubled -l that the length does not need."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _short(word[:-1])):
            return word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeiou"


def _short(word: str) -> bool:
    """Ends in consonant, vowel, consonant, the last one not w, x or y."""
    return bool(re.search(r"[^aeiou][aeiouy][^aeiouwxy]$", word))
