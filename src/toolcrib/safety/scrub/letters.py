"""Whether letters read like a word: how usual each letter is after the one before it, in technical English.

A row for the beginning of a word and for each letter; a digit is a cost, 0 to f. Counted from documentation and source.
"""

from functools import lru_cache

_COSTS = (
    "56455677588657659545677899",
    "c656b96c6c8464c6d45378998b",
    "4a78498957c38a58c5574bca7a",
    "4b794ac46c559a39c6746bbc8d",
    "59a7399c4bb7aa6ab7696acb9d",
    "6954778b9cb664a79346b896ad",
    "5a9945ac3cc5a94ac5775ccc7c",
    "6b8a3b765cc78669c5696bbcaa",
    "3bca3cbb4ca7894ac6757bcc8c",
    "6756676dbea56247c654b6e8e7",
    "49884999699999479969487989",
    "6aa729894bb7b778a9478b7b9b",
    "4a963aac3ca5aa48da6679cc5c",
    "36a93cac4ca76a54ca696ccc9c",
    "5b55574a6b88a769ba4477cd9c",
    "8766a87b7a755376b3665669bb",
    "4b984aa75da4ba46b3757cbb7b",
    "79899999999588899869198999",
    "4a77398c4e887758e75678ad7e",
    "7c6a4ab65e989966ab546bac8e",
    "5c893ab53eb8ab59e4567bab6c",
    "6567677d6dc55385c454bbbadb",
    "3a8a1b9b4bba996abb9ababbab",
    "3bb74a954b97a549b56aab8bbb",
    "685747b85ab87994a9649aa89a",
    "8879798b6bb77774b866ba8bb9",
    "59992999499778699778899987",
)
_AT = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz")}
_COST = {
    before + letter: int(row[at], 16)
    for before, row in zip(" abcdefghijklmnopqrstuvwxyz", _COSTS, strict=True)
    for letter, at in _AT.items()
}
# Short words vary more; a longer one must read better to count as a word.
_BOUNDS = {1: 15.0, 2: 9.0, 3: 8.0, 4: 7.2, 5: 6.8, 6: 6.6}


# Usual words and abbreviations that read like none.
_KNOWN = frozenset(
    [
        "webhook",
        "https",
        "oauth",
        "kwargs",
        "jwt",
        "tls",
        "ssl",
        "ssh",
        "aws",
        "gcp",
        "sql",
        "psql",
        "mysql",
        "npm",
        "html",
        "css",
        "xml",
        "json",
        "yaml",
        "uuid",
        "cfg",
        "ctx",
        "req",
        "msg",
        "ptr",
        "tmp",
        "src",
        "dst",
        "mydb",
        "dbname",
        "pwd",
        "passwd",
        "options",
        "async",
        "await",
        "stdin",
        "stdout",
        "stderr",
        "utf",
        "regex",
        "mtls",
        "smtp",
        "imap",
        "sftp",
        "ftp",
        "hmac",
        "rsa",
        "dsa",
        "ecdsa",
        "gpg",
        "pgp",
        "jks",
        "rbac",
        "saml",
        "ldap",
        "kms",
        "sqs",
        "sns",
        "rds",
        "vpc",
        "nginx",
        "httpd",
        "kafka",
        "redis",
        "xyz",
        "abc",
        "wifi",
        "vpn",
        "dns",
        "backend",
        "frontend",
        "localhost",
        "hostname",
        "username",
        "nodejs",
        "webpack",
        "github",
        "gitlab",
    ]
)


@lru_cache(maxsize=8192)
def is_wordlike(word: str) -> bool:
    """Whether these letters (a to z, any case) could be a word or a usual abbreviation."""
    word = word[:32].lower()
    if word in _KNOWN:
        return True
    cost = _COST
    total = 0
    before = " "
    for letter in word:
        total += cost.get(before + letter, 15)
        before = letter
    return total <= _BOUNDS.get(len(word), 6.5) * len(word)
