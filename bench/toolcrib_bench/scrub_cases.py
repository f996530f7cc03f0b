"""Labelled texts for the scrubber, drawn from shapes and contexts: the files hold no token, each draw makes new ones."""

import base64
import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

DATA = Path(__file__).parents[1] / "data"
_ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "R": string.ascii_letters + string.digits,
    "H": "0123456789abcdef",
    "h": "0123456789abcdef",
    "U": string.ascii_uppercase + "234567",
    "L": string.ascii_lowercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "W": string.ascii_letters + string.digits + "-_",
    "V": string.ascii_letters + string.digits,
    "B": string.ascii_letters + string.digits + "+/",
    "D": string.digits,
    "M": string.ascii_letters + string.digits + "!@#%^*()-_=+",
}
_WORDS = [
    "correct",
    "horse",
    "battery",
    "summer",
    "dragon",
    "winter",
    "falcon",
    "orange",
    "copper",
    "meadow",
    "silver",
    "harbor",
    "violet",
]
_SEED_WORDS = [
    "abandon",
    "ability",
    "able",
    "about",
    "above",
    "absent",
    "absorb",
    "abstract",
    "absurd",
    "abuse",
    "access",
    "accident",
]
_SPOT = re.compile(r"<<(?:(b64b64|b64u|b64|hex|pct|u|x|ansi|zw|wrap):(.*?)>>|([A-Za-z])(\d*)>>)", re.DOTALL)
_INNER = re.compile(r"\[([A-Za-z])(\d*)\]")


class Case(NamedTuple):
    """A text, and the secret that must not be in it afterwards; "" where it must not change."""

    tier: str
    text: str
    secret: str


class Maker:
    """Makes secrets of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - labelled cases, no keys
        self._shapes = [msgspec.json.decode(line) for line in _lines("scrub_shapes.jsonl")]
        self.shape = 0

    def chars(self, alphabet: str, size: int) -> str:
        return "".join(self.random.choice(_ALPHABETS[alphabet]) for _ in range(size))

    def token(self) -> str:
        """The next provider's token."""
        _, begins, body = self._shapes[self.shape % len(self._shapes)]
        self.shape += 1
        return begins.replace("|", "") + "".join(self._part(part) for part in body.split())

    def _part(self, part: str) -> str:
        if part == "G":
            return self.uuid()
        found = re.fullmatch(r"([A-Za-z])(\d+)", part)
        return self.chars(found[1], int(found[2])) if found is not None and found[1] in _ALPHABETS else part

    def uuid(self) -> str:
        return "-".join(self.chars("H", size) for size in (8, 4, 4, 4, 12))

    def human(self) -> str:
        """A password as people choose them."""
        pick = self.random
        word = pick.choice(_WORDS)
        kinds: tuple[Callable[[], str], ...] = (
            lambda: word.capitalize() + str(pick.randrange(10, 9999)) + pick.choice("!@#?*"),
            lambda: word.replace("a", "4").replace("e", "3").replace("o", "0").replace("i", "1") + self.chars("D", 2),
            lambda: word + pick.choice("!@#*_") + pick.choice(_WORDS) + str(pick.randrange(10, 99)),
            lambda: self.chars("A", 10) + pick.choice("!#*"),
            lambda: word + str(pick.randrange(1, 2030)),
        )
        return pick.choice(kinds)()

    def spot(self, letter: str, size: str) -> str:
        """What stands for one placeholder."""
        special: dict[str, Callable[[], str]] = {
            "T": self.token,
            "P": self.human,
            "Q": lambda: self.chars("A", self.random.randrange(8, 15)) + "7k",
            "G": self.uuid,
            "Z": lambda: base64.b64encode(f"bob:{self.chars('A', 14)}".encode()).decode(),
            "b": lambda: base64.b64encode(self.human().encode()).decode(),
            "K": lambda: "\n".join(self.chars("B", 64) for _ in range(6)) + "\n" + self.chars("B", 30) + "==",
            "S": lambda: " ".join(self.random.sample(_SEED_WORDS, 12)),
        }
        return (
            special[letter]() if letter in special and not (size and letter == "h") else self.chars(letter, int(size))
        )


def _lines(name: str) -> list[bytes]:
    return DATA.joinpath(name).read_bytes().splitlines()


def _encode(way: str, plain: str) -> str:
    raw = plain.encode()
    ways: dict[str, Callable[[], str]] = {
        "b64": lambda: base64.b64encode(raw).decode(),
        "b64u": lambda: base64.urlsafe_b64encode(raw).decode().rstrip("="),
        "b64b64": lambda: base64.b64encode(base64.b64encode(raw)).decode(),
        "hex": raw.hex,
        "pct": lambda: "".join(f"%{byte:02X}" for byte in raw),
        "u": lambda: "".join(f"\\u{byte:04x}" for byte in raw),
        "x": lambda: "".join(f"\\x{byte:02x}" for byte in raw),
        "ansi": lambda: plain[:9] + "\x1b[0m\x1b[32m" + plain[9:],
        "zw": lambda: plain[:7] + "\u200b" + plain[7:],
        "wrap": lambda: plain[: len(plain) // 2] + "\n" + plain[len(plain) // 2 :],
    }
    return ways[way]()


def made(maker: Maker, template: str) -> tuple[str, str]:
    """A text from a template, and its first secret."""
    secrets: list[str] = []

    def put(found: re.Match[str]) -> str:
        if found[1]:
            plain = _INNER.sub(lambda inner: maker.spot(inner[1], inner[2]), found[2])
            secrets.append(_encode(found[1], plain))
        else:
            secrets.append(maker.spot(found[3], found[4]))
        return secrets[-1]

    name = maker.random.choice(("service_token", "apiToken", "gh", "value", "x"))
    template = template.replace("{n}", name).replace("{N}", name.upper())
    text = _SPOT.sub(put, template)
    return text, secrets[0] if secrets else ""


def positives(seed: int) -> Iterator[Case]:
    """Texts that hold a secret; every shape of token in several contexts."""
    maker = Maker(seed)
    contexts = [msgspec.json.decode(line, type=tuple[str, str]) for line in _lines("scrub_contexts.jsonl")]
    tokens = [text for tier, text in contexts if tier == "provider"]
    for round_ in range(5):
        for number in range(len(_lines("scrub_shapes.jsonl"))):
            yield Case("provider", *made(maker, tokens[(number * 7 + round_ * 11 + seed) % len(tokens)]))
    for tier, text in contexts:
        if tier != "provider":
            for _ in range(3):
                yield Case(tier, *made(maker, text))


def negatives(seed: int) -> Iterator[Case]:
    """Texts that must not change."""
    maker = Maker(seed)
    for line in _lines("scrub_benign.jsonl"):
        kind, text = msgspec.json.decode(line, type=tuple[str, str])
        for _ in range(3 if "<<" in text else 1):
            yield Case(kind, made(maker, text)[0], "")
