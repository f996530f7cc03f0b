"""Questions to databases that only read: one SELECT, one SHOW, or a command of the client that lists something."""

import re
from collections.abc import Iterator

from toolcrib.safety.shell.marks import plain
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.run import Run

_VALUED = {
    "psql": "-c -d -h -p -U -F -P -R -T -v --command --dbname --host --port --username",
    "mysql": "-e -u -h -P -D --execute --user --host --port --database",
    "mariadb": "-e -u -h -P -D --execute --user --host --port --database",
    "sqlite3": "-separator -nullvalue -newline -cmd",
    "duckdb": "-c -s -separator -nullvalue",
}
_BARRED = {
    "psql": ("-f", "-o", "-L", "-v", "--file", "--output", "--log-file", "--set", "--variable"),
    "sqlite3": ("-init", "-cmd", "-zip", "-append", "-A", "-deserialize"),
    "duckdb": ("-init", "-cmd", "-f", "-ui"),
}
_READS = re.compile(
    r"(?is)\s*(?:select|show|explain(?!\s+analy)|describe|desc|values|table|with)\b|\s*pragma\s+\w+(?:\(\w+\))?\s*\Z"
)
_WRITES = re.compile(
    r"(?i)\b(?:insert|update|delete|drop|alter|create|truncate|grant|revoke|copy|into|attach|detach|load|install|call|"
    r"do|execute|prepare|vacuum|export|import|merge|replace\s+into|set\s+(?:global|role|session)|lock|dblink\w*|lo_\w+|"
    r"pg_(?:read|ls|stat_file|write|terminate|cancel|reload|rotate|switch|create|drop|file)\w*|load_file|load_extension|"
    r"readfile|writefile|edit|fsdir|zipfile|sys_exec|sys_eval|read_\w+|query_to_xml|nextval|setval|sleep|pg_sleep|benchmark|"
    r"xp_\w+|shell\w*|system|from_file|glob)\b|\\!|\\o|\\copy|\\i|\\g\b|`"
)
_LISTS = re.compile(
    r"\\(?:d[a-zA-Z]*[+S]*|l[+]?|conninfo|z|dp|encoding|timing|x)(?:\s+[\w.*\"]+)?\s*|"
    r"\.(?:tables|schema|databases|indexes|indices|fullschema|show|help|stats|dbinfo|mode \w+|headers \w+|width [\d ]+)(?:\s+[\w%]+)?\s*"
)


def asks_database(run: Run) -> bool:
    """`psql -c`, `mysql -e`, `sqlite3 file 'select …'`."""
    words = [plain(word) for word in run.words]
    if run.stdin is not None or any(
        word == barred or (len(barred) > 2 and word.startswith(barred + "="))
        for word in words
        for barred in _BARRED.get(run.name, ())
    ):
        return False
    if run.name == "psql" and words in (["-l"], ["--list"]):
        return True
    told = list(_texts(run.name, words))
    return bool(told) and all(_only_reads(text) for text in told)


def _texts(name: str, words: list[str]) -> Iterator[str]:
    """The texts that are given to the database."""
    at, files = 0, 0
    takes = _VALUED[name].split()
    while at < len(words):
        word = words[at]
        long, sign, value = word.partition("=")
        if sign and long in {"--command", "--execute"}:
            yield value
        elif word in {"--command", "--execute"} or (re.fullmatch(r"-[a-zA-Z]*[ce]", word) and name != "sqlite3"):
            yield words[at + 1] if at + 1 < len(words) else ""
            at += 1
        elif word in takes:
            at += 1
        elif not word.startswith("-"):
            files += 1
            if name in {"sqlite3", "duckdb"} and files > 1:
                yield word
        at += 1


def _only_reads(text: str) -> bool:
    parts = [part for part in re.sub(r"'(?:[^']|'')*'", "''", text).split(";") if part.strip()]
    return bool(parts) and all(
        _LISTS.fullmatch(part.strip()) or (_READS.match(part) and _WRITES.search(part) is None) for part in parts
    )


_KEYS = frozenset(
    names(
        "ping info get mget ttl pttl exists keys scan type llen lrange hget hgetall hkeys hvals hlen scard smembers",
        "sismember zrange zscore zcard dbsize time strlen getrange lastsave xlen xrange xinfo role echo hscan sscan zscan",
        "object memory",
    )
)
_LOOKS = frozenset(
    ("client list", "client info", "config get", "slowlog get", "cluster info", "cluster nodes", "command info")
)


def asks_redis(run: Run) -> bool:
    """`redis-cli get key`."""
    if run.stdin is not None or run.has("--eval", "--pipe", "--rdb", "--functions-rdb", "-x", "-X"):
        return False
    if run.has("--scan") and not run.operands("--pattern --count -h -p -n -a -u"):
        return True
    words = [plain(word).lower() for word in run.operands("-h -p -n -a -u --user --pass -i -r")]
    return bool(words) and (words[0] in _KEYS or " ".join(words[:2]) in _LOOKS)
