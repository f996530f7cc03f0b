"""Shells and what a shell itself runs text with: `sh -c`, `eval`, `source`, `trap`, `alias`, `coproc`."""

import re

from toolcrib.safety.shell.marks import HIDDEN, LOOSE, NET, SECRET, UNKNOWN, plain, shown, vague
from toolcrib.safety.shell.places import resolved
from toolcrib.safety.shell.run import Handle, Run

SHELLS = "sh bash dash zsh ksh mksh pdksh ash fish csh tcsh yash rbash rzsh posh elvish xonsh rc es oksh lksh bash5"
_VALUED = frozenset(("-o", "+o", "-O", "+O", "--rcfile", "--init-file"))
_QUERY = frozenset(("--version", "--help", "-h", "-V"))


def untrusted(run: Run, text: str, what: str) -> None:
    """Denies text that came from the network or was decoded from something unknown."""
    if NET in text:
        run.deny(
            "downloaded-code", f"{what} would run text that came from the network", "downloading it to read it first"
        )
    if HIDDEN in text:
        run.deny(
            "hidden-code", f"{what} would run text that is only decoded on the way", "decoding it to read it first"
        )


def shell(run: Run) -> str | None:
    """A shell with a text, a file, or whatever comes in."""
    at, inline = 0, False
    words = run.words
    if len(words) == 1 and words[0] in _QUERY:
        return None
    while at < len(words) and words[at][:1] in {"-", "+"} and words[at] not in {"-", "--"}:
        word = plain(words[at])
        inline = inline or (not word.startswith("--") and "c" in word[1:]) or word in {"--command", "--init-command"}
        if word in {"--rcfile", "--init-file"} and at + 1 < len(words):
            script(run, words[at + 1])
        at += 2 if word in _VALUED else 1
    rest = words[at + 1 :] if at < len(words) and words[at] in {"-", "--"} else words[at:]
    run.machine.storable = False
    if inline:
        return _inline(run, rest)
    if rest and not (run.has("-s") or rest[0] in {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}):
        return script(run, rest[0], rest[1:])
    return _from_input(run, rest)


def _inline(run: Run, rest: list[str]) -> str | None:
    if not rest:
        return None
    text = rest[0]
    untrusted(run, text, f"{run.name} -c")
    scope = run.scope.copy()
    scope.aliases = {}
    scope.arguments = rest[2:]
    if len(rest) > 1:
        scope.names["0"] = rest[1]
    return run.code(plain(text) if not vague(text) else text, scope, run.stdin)


def _from_input(run: Run, rest: list[str]) -> str | None:
    text = run.stdin
    if text is None:
        run.ask("shell:interactive", f"{run.name} would wait for commands that nobody has seen")
        return UNKNOWN + SECRET
    untrusted(run, text, run.name)
    if vague(text) and not plain(text).strip():
        run.ask("code:unknown", f"{run.name} would run text that is not known before it runs")
        return UNKNOWN + SECRET
    run.ask("code:piped", f"{run.name} would run text that is put together on the way", "the commands themselves")
    scope = run.scope.copy()
    scope.arguments = rest[1:]
    return run.code(text, scope)


def script(run: Run, path: str, arguments: "list[str] | None" = None) -> str | None:
    """A file of commands. What is known of its text is judged; every such file is asked about."""
    text = run.scope.files.get(resolved(path, run.cwd))
    if text is not None:
        untrusted(run, text, run.name)
        if not vague(text):
            scope = run.scope.copy()
            scope.arguments = arguments or []
            run.code(text, scope, run.stdin)
    untrusted(run, path, run.name)
    run.ask("script", f"it would run the commands in {shown(path)}, which were not looked at", "reading the file first")
    return run.unknown()


def evaluate(run: Run) -> str | None:
    """`eval`: its words are a command."""
    words = run.words[1:] if run.words[:1] == ["--"] else run.words
    text = " ".join(plain(word) if not vague(word) else word for word in words)
    run.machine.storable = False
    untrusted(run, text, "eval")
    return run.code(text, None, run.stdin) if text.strip() else None


def source(run: Run) -> str | None:
    """`source file`: activating a virtual environment of the workspace is common and harmless."""
    if not run.words:
        return None
    path = run.words[0]
    if re.fullmatch(r"(?:\./)?(?:\.?venv|env)/bin/activate(?:\.fish)?", plain(path)) and not run.scope.wrote:
        return None
    if path in {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}:
        return _from_input(run, [])
    return script(run, path, run.words[1:])


def trap(run: Run) -> str | None:
    """`trap text signal`: the text runs later."""
    rest = run.operands()
    if rest and not run.has("-p", "-l") and rest[0] not in {"-", ""}:
        run.code(rest[0])
    return None


def alias(run: Run) -> str | None:
    """`alias name=text`: the text is judged now, and again where the name is used."""
    for word in run.operands():
        name, sign, text = word.partition("=")
        if sign:
            before = dict(run.scope.names)
            run.code(text, run.scope.copy())
            run.scope.names = before
            run.scope.aliases[plain(name)] = plain(text)
    return None


def coprocess(run: Run) -> str | None:
    """`coproc [NAME] command`."""
    words = [word for word in run.words if plain(word) not in {"{", "}"}]
    if len(words) > 1 and words[0].isupper() and plain(run.words[1]) == "{":
        words = words[1:]
    return run.again(words, UNKNOWN) if words else None


def set_options(run: Run) -> str | None:
    """`set` with a text that the tracing prompt would run; `set +o history`."""
    if "+o" in run.words and "history" in run.words:
        run.deny("traces", "it would stop the history")
    if not run.words:
        return UNKNOWN + SECRET
    rest = run.words[run.words.index("--") + 1 :] if "--" in run.words else run.operands("-o")
    if (rest or "--" in run.words) and run.scope.arguments is not None:
        run.scope.arguments = rest
    return None


def history(run: Run) -> str | None:
    """`history`: showing it is reading what was typed, secrets with it."""
    if run.has("-c", "-d", "-w"):
        run.deny("traces", "it would erase the history of commands")
    if run.has("-a", "-n", "-r", "-p", "-s"):
        run.ask("history", "it would change the history of commands")
    return UNKNOWN + SECRET


def read(run: Run) -> str | None:
    """`read name`: the names get what comes in."""
    names = run.operands("-p -d -n -N -t -u -i -a") or ["REPLY"]
    array = run.after("-a")
    text = run.stdin.split("\n")[0] if run.stdin is not None else UNKNOWN
    if any("[" in name for name in names):
        run.machine.worry("arithmetic", "an index is arithmetic, and arithmetic can run commands")
    known = run.stdin is not None and not vague(text) and not run.scope.loose
    parts = text.split(None, len(names) - 1) if known else []
    for at, name in enumerate(names):
        value = (parts[at] if at < len(parts) else "") if known else UNKNOWN + _origin(text)
        run.scope.names[plain(name)] = value
    if array:
        run.scope.names[plain(array)] = text.split() if known else [UNKNOWN + _origin(text)]
    return None


def _origin(text: str) -> str:
    return "".join(mark for mark in (NET, SECRET, HIDDEN) if mark in text)


def change_folder(run: Run) -> str | None:
    """`cd`: relative words start from there afterwards."""
    target = (run.operands() or ["~"])[0]
    if target in {"-", LOOSE, UNKNOWN} or vague(target):
        run.scope.cwd = run.scope.cwd if not vague(target) else resolved(plain(target) or ".", run.cwd)
        return None
    run.scope.cwd = resolved(target, run.scope.cwd)
    if run.scope.cwd == ".":
        run.scope.cwd = ""
    return None


def pop_folder(run: Run) -> str | None:
    """`popd` goes back, to the workspace as far as is known."""
    run.scope.cwd = ""
    return None


def printf(run: Run) -> str | None:
    """`printf -v name` sets a variable."""
    name = run.after("-v")
    if name is not None and run.words[:1] == ["-v"]:
        if "[" in name:
            run.ask("arithmetic", "an index is arithmetic, and arithmetic can run commands")
        made = run.again(["printf", *run.words[2:]])
        run.machine.named(plain(name), made)
        run.scope.assign(plain(name), made)
    return None


def enable(run: Run) -> str | None:
    """`enable -f` loads code into the shell; `enable -n` hides a builtin."""
    run.ask("enable", "it changes what the shell's own commands are")
    return None


def map_file(run: Run) -> str | None:
    """`mapfile -C text` runs the text for each line."""
    text = run.after("-C", "--callback")
    if text is not None:
        run.code(text)
    for name in run.operands("-C -c -d -n -O -s -u")[:1]:
        run.scope.names[plain(name)] = [UNKNOWN + _origin(run.stdin or "")]
    return None


def complete(run: Run) -> str | None:
    """`complete -C command`, `compgen -C command`."""
    for option in ("-C", "-F", "-W"):
        text = run.after(option)
        if text is not None and option == "-C":
            run.code(text)
    if run.name != "compgen" or run.has("-C", "-F"):
        run.ask("complete", "it changes what the shell runs on completion")
    return None


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(SHELLS.split(), shell),
    "eval": evaluate,
    "source": source,
    ".": source,
    "trap": trap,
    "alias": alias,
    "coproc": coprocess,
    "set": set_options,
    "history": history,
    "read": read,
    "cd": change_folder,
    "pushd": change_folder,
    "popd": pop_folder,
    "printf": printf,
    "enable": enable,
    "mapfile": map_file,
    "readarray": map_file,
    "complete": complete,
    "compgen": complete,
}
