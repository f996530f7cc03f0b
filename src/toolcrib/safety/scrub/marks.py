"""What stands in a text for a secret, and the way back: `[REDACTED:kind:xxxx]`, alike for the same secret."""

import hmac
import re
from collections import OrderedDict
from hashlib import sha256
from threading import Lock

from toolcrib.services.content.marks import BEGINS

KEPT = 4096  # secrets whose place can be found again
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
MARK = re.compile(r"\[REDACTED:[A-Za-z0-9_.-]+:[a-z0-9]{4,16}\]")
_PLAIN = re.compile(r"[^A-Za-z0-9_.-]+")


class Marks:
    """The marks of one session. Its key is its own, so nobody can try guesses against a mark."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._lock = Lock()
        self._values: OrderedDict[str, str] = OrderedDict()

    def of(self, kind: str, value: str) -> str:
        """The mark of a secret; the secret is remembered."""
        digest = hmac.digest(self._key, value.encode("utf-8", "surrogatepass"), sha256)
        letters = "".join(_LETTERS[byte & 31] for byte in digest[:16])
        kind = _PLAIN.sub("-", kind) or "secret"
        mark = ""
        with self._lock:
            for size in range(4, 17):  # more letters only where two secrets would get the same mark
                mark = f"[REDACTED:{kind}:{letters[:size]}]"
                if self._values.setdefault(mark, value) == value:
                    break
            self._values.move_to_end(mark)
            if len(self._values) > KEPT:
                self._values.popitem(last=False)
        return mark

    def restore(self, text: str) -> str:
        """The text with the secrets of this session's marks put back; unknown marks stay."""
        if BEGINS not in text:
            return text
        return MARK.sub(lambda found: self._values.get(found.group(), found.group()), text)

    def stranger(self, text: str, held: str) -> str:
        """A mark in the text that is not known here and does not stand in `held`; "" when there is none."""
        marks = (found.group() for found in MARK.finditer(text))
        return next((mark for mark in marks if mark not in self._values and mark not in held), "")
