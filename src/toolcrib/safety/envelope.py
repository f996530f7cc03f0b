"""The format of the vault's records: a key for each version of a row, wrapped by a key for a term.

    master key ──wraps──► root ──wraps──► key of a term ──wraps──► key of one version ──seals──► value
                            └─► the key of the marks: a sum over all rows, and a code below the head

AES-256-GCM with random nonces of 96 bits throughout. A record is `v1.<term>.<nonce>.<wrapped key>.<ciphertext>`; the
wrapped key begins with the nonce that it was wrapped with. Format, term, team, kind, name, version, is_secret and
all that is said of a row are authenticated with it, so no row opens in another's place.
"""

import hmac
import os
from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from toolcrib.core.heavy import heavy
from toolcrib.services.vault.faults import VaultChanged, changed, tampered
from toolcrib.services.vault.values import Facts, Head, Row, bound

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

FORMAT = "v1"
KEY, NONCE = 32, 12
_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")
_encode = msgspec.json.Encoder().encode


class NotIntact(Exception):
    """The bytes are not those that were sealed."""


class EnvelopeKeys:
    """The keys of an unlocked vault."""

    def __init__(self, root: bytes, vault: str) -> None:
        self._vault = vault
        self._root = _cipher(_derived(root, b"terms"))
        self._marks = _derived(root, b"marks")
        self._terms: dict[int, AESGCM] = {}
        self._invalid: type[Exception] = heavy("cryptography.exceptions").InvalidTag

    def new_term(self, number: int) -> str:
        """Make a term's key; the wrapped form, to be kept. It is in use once it is taken."""
        return text_of(_sealed(self._root, os.urandom(KEY), self._term_facts(number)))

    def take_term(self, number: int, wrapped: str) -> None:
        """Unwrap a term's key. Raises VaultChanged."""
        if number in self._terms:
            return
        try:
            key = self._opened(self._root, bytes_of(wrapped), self._term_facts(number))
        except NotIntact:
            raise tampered() from None
        self._terms[number] = _cipher(key)

    def seal(self, facts: Facts, term: int, value: bytes) -> Row:
        """Seal a value under a new key of its own."""
        said = bound(facts)
        key, nonce = os.urandom(KEY), os.urandom(NONCE)
        body = _cipher(key).encrypt(nonce, value, said)
        wrapped = _sealed(self._terms[term], key, _wrap_facts(term, nonce, said))
        return Row(facts=facts, term=term, seal=_seal(term, nonce, wrapped), body=text_of(body))

    def open(self, row: Row) -> bytes:
        """The value. Raises VaultChanged for anything that is not as it was sealed."""
        said = bound(row.facts)
        try:
            nonce, key = self._unsealed(row, said)
            return _cipher(key).decrypt(nonce, bytes_of(row.body), said)
        except (NotIntact, self._invalid):
            raise changed(row.facts.place) from None

    def rewrap(self, row: Row, term: int) -> str:
        """The same seal under another term."""
        said = bound(row.facts)
        try:
            nonce, key = self._unsealed(row, said)
        except NotIntact:
            raise changed(row.facts.place) from None
        return _seal(term, nonce, _sealed(self._terms[term], key, _wrap_facts(term, nonce, said)))

    def mark(self, facts: Facts) -> int:
        """The part of a row in the head's sum."""
        return int.from_bytes(hmac.digest(self._marks, bound(facts), sha256), "big")

    def mac(self, head: Head) -> str:
        """What only the holder of the key can write below a head."""
        said = _encode(("head", FORMAT, head.vault, head.root, head.generation, head.term, head.total))
        return hmac.digest(self._marks, said, sha256).hex()

    def _unsealed(self, row: Row, said: bytes) -> tuple[bytes, bytes]:
        """The nonce of the body, and the row's key."""
        parts = row.seal.split(".")
        cipher = self._terms.get(row.term)
        if len(parts) != 4 or parts[0] != FORMAT or parts[1] != str(row.term) or cipher is None:
            raise NotIntact
        nonce = bytes_of(parts[2])
        return nonce, self._opened(cipher, bytes_of(parts[3]), _wrap_facts(row.term, nonce, said))

    def _opened(self, cipher: "AESGCM", sealed: bytes, said: bytes) -> bytes:
        if len(sealed) != NONCE + KEY + 16:
            raise NotIntact
        try:
            return cipher.decrypt(sealed[:NONCE], sealed[NONCE:], said)
        except self._invalid:
            raise NotIntact from None

    def _term_facts(self, number: int) -> bytes:
        return _encode(("term", FORMAT, self._vault, number))


class EnvelopeCrypto:
    """Makes and opens the keys of a vault."""

    def create(self, master: bytes, vault: str) -> tuple[str, str, EnvelopeKeys]:
        """New keys: the wrapped root, and what tells this master key from others."""
        root = os.urandom(KEY)
        return (*wrapped_root(root, master, vault), EnvelopeKeys(root, vault))

    def unlock(self, master: bytes, head: Head) -> EnvelopeKeys | None:
        """The keys of a vault; None when this is not its master key. Raises VaultChanged."""
        if not hmac.compare_digest(_name_of(master, head.vault), head.key):
            return None
        sealed = _bytes_or_none(head.root)
        try:
            if sealed is None or len(sealed) != NONCE + KEY + 16:
                raise tampered()
            root = _cipher(_derived(master, b"root")).decrypt(sealed[:NONCE], sealed[NONCE:], _root_facts(head.vault))
        except heavy("cryptography.exceptions").InvalidTag:
            raise tampered() from None
        return EnvelopeKeys(root, head.vault)


def wrapped_root(root: bytes, master: bytes, vault: str) -> tuple[str, str]:
    """The root under a master key, and the name of that key."""
    return text_of(_sealed(_cipher(_derived(master, b"root")), root, _root_facts(vault))), _name_of(master, vault)


def sealed_to_passphrase(data: bytes, passphrase: str) -> bytes:
    """An export: anybody with the passphrase can open it, and nobody else."""
    salt = os.urandom(16)
    return b"toolcrib-vault-1\n" + salt + _sealed(_cipher(passphrase_key(passphrase, salt)), data, b"export")


def opened_with_passphrase(data: bytes, passphrase: str) -> bytes:
    """What such an export holds. Raises VaultChanged."""
    magic, _, rest = data.partition(b"\n")
    refusal = VaultChanged("The export was not opened: the passphrase is wrong, or the file was changed.")
    if magic != b"toolcrib-vault-1" or len(rest) < 16 + NONCE + 16:
        raise refusal
    cipher, sealed = _cipher(passphrase_key(passphrase, rest[:16])), rest[16:]
    try:
        return cipher.decrypt(sealed[:NONCE], sealed[NONCE:], b"export")
    except heavy("cryptography.exceptions").InvalidTag:
        raise refusal from None


def passphrase_key(passphrase: str, salt: bytes) -> bytes:
    """A key out of a passphrase: Argon2id with 64 MiB, about a tenth of a second."""
    argon = heavy("cryptography.hazmat.primitives.kdf.argon2").Argon2id
    made = argon(salt=salt, length=KEY, iterations=3, lanes=4, memory_cost=64 * 1024)
    return made.derive(passphrase.encode("utf-8", "surrogatepass"))


def text_of(data: bytes) -> str:
    """Bytes as base64url without padding."""
    return b2a_base64(data, newline=False).rstrip(b"=").translate(_TO_URL).decode("ascii")


def bytes_of(text: str) -> bytes:
    """The bytes of a text that `text_of` wrote; anything that it would not write is refused."""
    try:
        raw = text.encode("ascii")
        data = a2b_base64(raw.translate(_FROM_URL) + b"=" * (-len(raw) % 4), strict_mode=True)
    except (NotBase64, ValueError):
        raise NotIntact from None
    if text_of(data) != text:  # the last character has bits to spare, and + and / are not ours
        raise NotIntact
    return data


def _bytes_or_none(text: str) -> bytes | None:
    try:
        return bytes_of(text)
    except NotIntact:
        return None


@cache
def _aead() -> "type[AESGCM]":
    return heavy("cryptography.hazmat.primitives.ciphers.aead").AESGCM


def _cipher(key: bytes) -> "AESGCM":
    return _aead()(key)


def _sealed(cipher: "AESGCM", data: bytes, said: bytes) -> bytes:
    nonce = os.urandom(NONCE)
    return nonce + cipher.encrypt(nonce, data, said)


def _seal(term: int, nonce: bytes, wrapped: bytes) -> str:
    return f"{FORMAT}.{term}.{text_of(nonce)}.{text_of(wrapped)}"


def _wrap_facts(term: int, nonce: bytes, said: bytes) -> bytes:
    return b"%s|%d|%s|%s" % (FORMAT.encode(), term, nonce, said)


def _root_facts(vault: str) -> bytes:
    return _encode(("root", FORMAT, vault))


def _derived(key: bytes, use: bytes) -> bytes:
    """A key of its own for each use."""
    return hmac.digest(key, b"toolcrib vault " + use, sha256)


def _name_of(master: bytes, vault: str) -> str:
    return hmac.digest(_derived(master, b"name"), vault.encode(), sha256)[:8].hex()
