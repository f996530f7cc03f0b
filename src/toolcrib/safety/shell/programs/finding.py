"""Programs that look for files and may run something on each: `find`, `fd`, `xargs`."""

from itertools import pairwise

from toolcrib.safety.shell.marks import LOOSE, UNKNOWN, plain, taints, vague
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.places import credential_file, system_root
from toolcrib.safety.shell.programs.removing import removed
from toolcrib.safety.shell.programs.wrappers import WRAPPERS, inner_words
from toolcrib.safety.shell.run import Handle, Run
from toolcrib.safety.shell.writing import note_write

_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_WRITES = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))
_ASKING = frozenset(("-ok", "-okdir"))
_NARROW = frozenset(("-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename", "-newer", "-empty"))


def find(run: Run) -> str | None:
    """`find`: reading, unless an action removes, writes or runs."""
    starts = _starts(run)
    words = [plain(word) if not vague(word) else word for word in run.words]
    narrow = any(word in _NARROW for word in words)
    if "-delete" in words:
        removed(run, [_whole(start, narrow=narrow) for start in starts], deep=True)
    for at, word in enumerate(words):
        if word in _RUNS:
            _each(run, at, starts, narrow=narrow)
        if word in _WRITES or word in _ASKING:
            _other_action(run, word, run.words[at + 1 : at + 2])
    if any(word in _RUNS for word in words):
        _aimed(run, words)
    if run.has("-files0-from"):
        run.ask("find:files0", "where it would look is not known")
    if any(word.startswith(LOOSE) for word in run.words):
        run.ask("find:unknown", "words that are not known before it runs may make find remove or run something")
    # It prints what it starts from, unless a test keeps that out.
    tested = any(word in _NARROW and following != "*" for word, following in pairwise([*words, ""]))
    return "\n".join([*(() if tested else starts), UNKNOWN])


def _other_action(run: Run, word: str, following: list[str]) -> None:
    for path in following if word in _WRITES else ():
        note_write(run.machine, path, run.scope)
    run.ask("find:action", f"find {word} writes a file, or waits for an answer to each one")


def _aimed(run: Run, words: list[str]) -> None:
    """`find -name '*.pem' -exec`: what is done is done to credentials."""
    for word, pattern in pairwise(words):
        if word in {"-name", "-iname"} and (credential_file(pattern.replace("*", "x")) or pattern.endswith(".pem")):
            run.ask("credential", f"it would work on {pattern}, files for credentials")


def _starts(run: Run) -> list[str]:
    out: list[str] = []
    for word in run.words:
        if word in {"-H", "-L", "-P"} or word.startswith("-O"):
            continue
        if word.startswith("-") or word in {"(", "!"}:
            break
        out.append(word)
    return out or ["."]


def _whole(start: str, *, narrow: bool) -> str:
    """Everything below a start; with a name test only some of it, which a root is not spared by."""
    if narrow and not system_root(start):
        return start.rstrip("/") + "/" + UNKNOWN
    return start


def _each(run: Run, at: int, starts: list[str], *, narrow: bool) -> None:
    words = run.words[at + 1 :]
    end = next(
        (n for n, word in enumerate(words) if word == ";" or (word == "+" and n and words[n - 1] == "{}")), len(words)
    )
    inner = words[:end]
    for start in starts[:4]:
        found = _whole(start, narrow=narrow)
        deadly = inner[:1] and plain(inner[0]).rpartition("/")[2] in {
            "rm",
            "shred",
            "chmod",
            "chown",
            "unlink",
            "rmdir",
        }
        hit = found if deadly else UNKNOWN
        run.again([word.replace("{}", hit) for word in inner], UNKNOWN)


def find_by_name(run: Run) -> str | None:
    """`fd -x command`, `fd -X command`."""
    for at, word in enumerate(run.words):
        if word in {"-x", "-X", "--exec", "--exec-batch"}:
            inner = [UNKNOWN if part in {"{}", "{/}", "{//}", "{.}"} else part for part in run.words[at + 1 :]]
            end = inner.index(";") if ";" in inner else len(inner)
            run.again([*inner[:end], UNKNOWN] if UNKNOWN not in inner[:end] else inner[:end])
            break
        if word.startswith(("--exec=", "-x")) and word != "-x":
            run.ask("fd:exec", "it would run a command for each file")
    return UNKNOWN


def xargs(run: Run) -> str | None:
    """`xargs command`: its words come in, unknown unless what comes in is known."""
    row = WRAPPERS["nohup"]
    valued = frozenset(
        names("-I -n -P -d -L -s -E -a --max-args --max-procs --delimiter --replace --arg-file --max-lines")
    )
    inner = inner_words(run, type(row)(valued)) or ["echo"]
    text = run.stdin
    if run.after("-a", "--arg-file") is not None:
        text = UNKNOWN
    place = run.after("-I", "--replace", "-i")
    if any(word in {"-i", "--replace"} for word in run.words):
        place = "{}"
    if text is None or vague(text):
        known = [word for word in (text or "").split()[:8] if not vague(word)]
        given = [*known, LOOSE + taints(text or "")]
    else:
        given = text.split()[:200] if not run.has("-0", "--null") else text.split("\0")[:200]
    if not place:
        return run.again([*inner, *given], None)
    out = ""
    for word in given[:8] or [UNKNOWN]:
        one = word.replace(LOOSE, UNKNOWN)
        out += run.again([part.replace(place, one) for part in inner], None)
    return out


def locate(run: Run) -> str | None:
    """`locate`: only names."""
    return UNKNOWN + taints(run.told)


def fuzzy(run: Run) -> str | None:
    """`fzf`, `entr`: commands on keys and on changes."""
    for option in ("--preview", "--bind", "--execute"):
        text = run.after(option)
        if text is not None:
            run.code(text)
            run.ask("fzf", "it runs commands on keys")
    if run.name == "entr":
        rest = run.operands()
        return run.again(rest) if rest else None
    return None


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(("find", "gfind", "bfs"), find),
    **dict.fromkeys(("fd", "fdfind"), find_by_name),
    "xargs": xargs,
    "gxargs": xargs,
    **dict.fromkeys(("locate", "mlocate", "plocate"), locate),
    "fzf": fuzzy,
    "entr": fuzzy,
}
