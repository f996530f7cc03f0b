"""Other languages: what stands on the command line is looked at, a file of the workspace is run."""

import re

from toolcrib.safety.shell.code import Seen, harmless_node, harmless_perl, harmless_php, harmless_python
from toolcrib.safety.shell.marks import UNKNOWN, plain, shown, vague
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.places import (
    credential_file,
    in_temp,
    is_disk,
    is_inside,
    is_startup,
    resolved,
    system_file,
    system_root,
)
from toolcrib.safety.shell.programs.shells import untrusted
from toolcrib.safety.shell.run import Handle, Run
from toolcrib.safety.shell.scope import Scope

_PYTHONS = "python python2 python3 pypy pypy3 ipython bpython jython " + " ".join(f"python3.{n}" for n in range(6, 16))
_QUERY = frozenset(("--version", "-V", "-v", "--help", "-h", "-VV", "version"))


# Evaluated: what another program downloads, or what an address holds.
_RUN_FETCHED = re.compile(
    r"\beval\b[^\n]{0,80}?(?:`|%x.|execSync\(|popen\(|system\()[^\n]{0,8}(?:curl|wget)\b|\beval\b\s*\(?\s*get\b\s*\(?\s*[\"']https?:"
    r"|\b(?:include|require)(?:_once)?\b\s*\(?\s*[\"'](?:https?|ftp|data):",
    re.IGNORECASE,
)
_SENT_ENVIRONMENT = re.compile(
    r"(?:str|dumps|repr|dict|stringify|inspect|to_json|json_encode)\s*\(?\s*(?:os\.environ|process\.env|ENV|getenv\(\)|\$_ENV)\b(?!\s*[\[.(]\s*[\"'\w])"
)


def judge_code(run: Run, text: str, *, harmless: bool) -> None:
    """Judges a text of code; `harmless` is what a closer look said."""
    untrusted(run, text, run.name)
    seen = Seen(plain(text))
    if seen.bomb:
        run.deny("fork-bomb", "it would start itself again and again until the machine stops")
    if seen.sends and (seen.runs or "dup2" in text):
        run.deny("network-shell", f"{run.name} would connect a shell to the network")
    if seen.fetches and re.search(r"\b(?:exec|eval|system|popen|subprocess|compile|execSync|spawn)\b", text):
        run.deny("downloaded-code", f"{run.name} would run text that came from the network")
    if _RUN_FETCHED.search(text):
        run.deny("downloaded-code", f"{run.name} would run text that came from the network")
    if _SENT_ENVIRONMENT.search(text) and (seen.sends or seen.fetches):
        run.deny("secret-sent", "it would send the environment over the network")
    for literal in seen.literals:
        _literal(run, seen, literal)
    if not harmless or vague(text):
        run.machine.storable = False
        run.ask(
            f"inline:{run.name}", f"{run.name} would run a text that can do anything", "a script file in the workspace"
        )


def _literal(run: Run, seen: Seen, literal: str) -> None:
    """A quoted text in code: a path that is removed or sent, a command that is run."""
    if seen.removes and system_root(literal):
        run.deny("system-tree", f"it would remove {shown(literal)}")
    if (seen.removes or seen.writes) and literal.startswith(("/", "~")) and system_file(literal):
        run.deny("system-path", f"it would change {shown(literal)}, a file of the system")
    if (seen.writes) and (is_startup(literal) or is_disk(literal)):
        run.deny("start-up", f"it would change {shown(literal)}, which runs later")
    if len(literal) < 400 and credential_file(literal):
        if seen.sends or seen.fetches:
            run.deny("secret-sent", f"it would send {shown(literal)} over the network")
        run.ask("credential", f"it would read {shown(literal)}, a place for credentials")
    if seen.runs and len(literal) > 1:
        run.code(literal, Scope(run.cwd), UNKNOWN)


def python(run: Run) -> str | None:
    """`python -c`, `-m`, a file, or what comes in."""
    words = run.words
    if len(words) == 1 and words[0] in _QUERY:
        return None
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = plain(words[at])
        found = re.fullmatch(r"-[A-Za-bd-ln-z]*([cm])(.*)", word, re.DOTALL) if not word.startswith("--") else None
        if found:
            value = found.group(2) or (words[at + 1] if at + 1 < len(words) else "")
            rest = words[at + (1 if found.group(2) else 2) :]
            return _module(run, plain(value), rest) if found.group(1) == "m" else _text(run, value, harmless_python)
        at += 2 if word in {"-W", "-X"} else 1
    return _file_or_input(run, words[at:], harmless_python)


def _text(run: Run, text: str, harmless: "object") -> str | None:
    judge_code(run, text, harmless=callable(harmless) and bool(harmless(plain(text))))
    return run.unknown()


_MODULES_FREE = frozenset(
    names(
        "pytest unittest doctest json.tool venv compileall py_compile black ruff mypy flake8 isort pylint",
        "coverage tox nox pyflakes pycodestyle build site platform sysconfig this calendar tabnanny ast dis",
        "tokenize timeit cProfile bandit basedpyright pyright sphinx mkdocs pre_commit isort autopep8 yapf",
        "pydoc keyword",
    )
)


def _module(run: Run, name: str, rest: list[str]) -> str | None:
    if name in {"pip", "uv", "poetry", "pipx", "pipenv"}:
        return run.again([name, *rest])
    if run.scope.wrote:
        run.ask("written-and-run", "it may run a file that the same command wrote")
    if name in {
        "cProfile",
        "profile",
        "trace",
        "pdb",
        "runpy",
        "timeit",
        "pydoc",
        "doctest",
        "coverage",
        "ast",
        "venv",
    }:
        return _runs_more(run, name, rest)
    if name not in _MODULES_FREE:
        run.ask(f"module:{name}"[:60], f"python -m {name} is not among the modules that run without a question")
    return None


def _covered(run: Run, words: list[str], *, as_module: bool) -> str | None:
    """`coverage run [-m] what`."""
    if as_module:
        return _module(run, plain(words[0]), []) if words else None
    return _file_or_input(run, words, harmless_python)


def _runs_more(run: Run, name: str, rest: list[str]) -> str | None:
    words = [word for word in rest if not word.startswith("-")]
    if name == "coverage" and words[:1] == ["run"]:
        return _covered(run, words[1:], as_module="-m" in rest)
    if name in {"coverage", "ast", "doctest", "venv"}:
        for word in words:
            if not is_inside(word, run.cwd, run.machine.workspace):
                run.ask("outside", f"{shown(word)} is outside the workspace")
        return None
    if name == "timeit":
        return _text(run, " ".join(words), harmless_python)
    if name == "cProfile" and words:
        return _file_or_input(run, words[-1:], harmless_python)
    if name != "pydoc" or run.has("-b", "-p", "-n"):
        run.ask(f"module:{name}", f"python -m {name} can run anything")
    return None


def _file_or_input(run: Run, rest: list[str], harmless: "object") -> str | None:
    if not rest or rest[0] in {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}:
        if run.stdin is None:
            run.ask(f"inline:{run.name}", f"{run.name} would wait for a text that nobody has seen")
            return UNKNOWN
        return _text(run, run.stdin, harmless)
    program_file(run, rest[0])
    return run.unknown()


def program_file(run: Run, word: str) -> None:
    """A script: one of the workspace may run, as its tests may; the sandbox is what holds it."""
    untrusted(run, word, run.name)
    if re.match(r"https?://", plain(word)):
        run.deny("downloaded-code", f"{run.name} would run {shown(word)}, which comes from the network")
    path = resolved(word, run.cwd)
    text = run.scope.files.get(path)
    if text is not None:
        untrusted(run, text, run.name)
        if not vague(text):
            judge_code(run, text, harmless=False)
    if run.scope.wrote:
        run.ask("written-and-run", f"{shown(word)} may be a file that the same command wrote")
    outside = path.startswith(("/", "~", "..")) and not (
        run.machine.workspace and is_inside(word, run.cwd, run.machine.workspace) and not in_temp(path)
    )
    if vague(word) or outside or path.rpartition("/")[2].startswith("."):
        run.ask("script", f"it would run {shown(word)}, which is not a known file of the workspace")


_OTHERS: dict[str, tuple[str, str]] = {
    # name: (options with code, options with a file or module that is loaded first)
    "perl": ("-e -E", "-M -m -I"),
    "ruby": ("-e", "-r -I"),
    "irb": ("-e", "-r"),
    "node": ("-e -p --eval --print -pe", "-r --require --import --loader --experimental-loader"),
    "nodejs": ("-e -p --eval --print -pe", "-r --require --import --loader"),
    "bun": ("-e -p --eval", "-r --preload"),
    "deno": ("eval", "--preload"),
    "php": ("-r -B -R -E -F", "-d -c"),
    "lua": ("-e", "-l"),
    "luajit": ("-e", "-l -j"),
    **dict.fromkeys(("lua5.1", "lua5.2", "lua5.3", "lua5.4"), ("-e", "-l")),
    "tclsh": ("-c", ""),
    "wish": ("-c", ""),
    "expect": ("-c", ""),
    "julia": ("-e -E --eval --print", "-L --load"),
    "Rscript": ("-e", ""),
    "R": ("-e", "-f --file"),
    "osascript": ("-e", ""),
    "ghci": ("-e", ""),
    "runghc": ("-e", ""),
    "guile": ("-c", "-l"),
    "scala": ("-e", ""),
    "groovy": ("-e", ""),
    "jshell": ("", ""),
    "jrunscript": ("-e", "-f"),
    "jjs": ("", ""),
    "elixir": ("-e --eval", "-r"),
    "erl": ("-eval -run", ""),
    "swipl": ("-g -t", ""),
    "octave": ("--eval", ""),
    "octave-cli": ("--eval", ""),
    "gdb": ("-ex -eval-command -iex", "-x"),
    "lldb": ("-o -O", "-s"),
    "gimp": ("-b --batch", ""),
    "emacs": ("--eval -eval --execute -f", "-l --load"),
    "vim": ("-c +c --cmd", "-S -u -s"),
    "vi": ("-c --cmd", "-S -u"),
    "nvim": ("-c --cmd", "-S -u"),
    "vimdiff": ("-c", "-S"),
    "rvim": ("-c", "-S"),
    "view": ("-c", "-S"),
    "rview": ("-c", "-S"),
    "sqlite3": ("", "-init"),
    "psql": ("", "-f"),
    "mysql": ("", ""),
    "slsh": ("-e", ""),
    "nickle": ("-e", ""),
    "dc": ("-e", "-f"),
    "bc": ("", ""),
    "m4": ("", ""),
}
_ACCOUNTS = re.compile(r"/etc/(?:g?shadow|passwd|group|sudoers|sudoers\.d/.*)-?")
_EDITORS = frozenset(("vim", "vi", "nvim", "emacs"))
_FILES_RUN = frozenset(("node", "nodejs", "ruby", "perl", "php", "lua", "bun", "julia", "Rscript", "tsx", "ts-node"))


def php(run: Run) -> str | None:
    """`php`: `-S` serves the folder."""
    if run.has("-S", "-t"):
        run.ask("serves", "php would offer the folder to other machines")
    return other(run)


def _inline(run: Run, text: str) -> None:
    if escape := _EDITOR_ESCAPE.match(plain(text)):
        run.code(escape.group(1), Scope(run.cwd), UNKNOWN)
    judge_code(run, text, harmless=_harmless(run, text))


_EDITOR_ESCAPE = re.compile(r":*\s*(?:\d*r\s*|w\s*|%|sil\w*\s*|exe\w*\s*[\"'])*!\s*(.+)", re.DOTALL)


def _in_place(run: Run) -> None:
    """`perl -i`: the files of the system that it would change."""
    if run.name in {"perl", "ruby"} and any(re.match(r"-\w*i", word) for word in run.words):
        for word in run.operands("-e -E -I -M -r"):
            if single := system_file(word, run.cwd):
                run.deny("system-path", f"it would change {single}, a file of the system")


def other(run: Run) -> str | None:
    """`perl -e`, `node -e` and their like."""
    if len(run.words) == 1 and run.words[0] in _QUERY:
        return None
    coded, loaded = _OTHERS.get(run.name, ("-e", ""))
    found = _inline_texts(run, coded.split())
    for text in found:
        _inline(run, text)
    if loaded and any(run.after(option) is not None for option in loaded.split()):
        run.ask("loads", f"{run.name} would load a file that was not looked at")
    if found:
        _in_place(run)
        return run.unknown()
    return _given(run)


def _given(run: Run) -> str | None:
    """A file, or what comes in."""
    rest = run.operands("-I -M -r --require -c -d")
    rest = rest[1:] if run.name == "bun" and rest[:1] == ["run"] else rest
    if run.name in _FILES_RUN and rest and rest[0] not in {"-", "/dev/stdin"}:
        if run.has("--inspect-brk", "--inspect", "--interactive"):
            run.ask("debugger", "a debugger lets others run code")
        program_file(run, plain(rest[0]) if run.name != "bun" else rest[0])
        return run.unknown()
    if run.stdin is not None and run.name not in {"bc", "dc", "psql", "mysql", "sqlite3"}:
        judge_code(run, run.stdin, harmless=False)
    _as_words(run)
    return run.unknown()


def _inline_texts(run: Run, options: list[str]) -> list[str]:
    out: list[str] = []
    for at, word in enumerate(run.words):
        following = run.words[at + 1] if at + 1 < len(run.words) else ""
        for option in options:
            long = len(option) > 2 or not option.startswith("-")
            if word == option or (
                not long and re.fullmatch(r"-[A-Za-z0-9.]*" + option[1], word) and run.name in {"perl", "ruby"}
            ):
                out.append(following)
                break
            if long and word.startswith(option + "="):
                out.append(word[len(option) + 1 :])
            elif not long and word.startswith(option) and not word.startswith("--") and len(word) > 2:
                out.append(word[2:])
    return out


def _harmless(run: Run, text: str) -> bool:
    if vague(text):
        return False
    if run.name in {"node", "nodejs"}:
        return harmless_node(plain(text))
    if run.name == "php":
        return harmless_php(plain(text))
    in_place = any(re.match(r"-\w*i", word) for word in run.words)
    return run.name == "perl" and not in_place and harmless_perl(plain(text))


def _as_words(run: Run) -> None:
    """Databases, editors, calculators and anything else that takes commands of its own."""
    told = " ".join(plain(word) for word in run.words)
    if run.name == "bc" and not run.has("-i") and all(is_inside(w, run.cwd) for w in run.operands()):
        return
    for found in re.findall(r"(?:\.shell|\.system|\\!|:!|system\s|!)\s*([^'\")]+)", told):
        run.code(found, Scope(run.cwd), UNKNOWN)
    for word in run.operands() if run.name in _EDITORS else ():
        if _ACCOUNTS.fullmatch(resolved(word, run.cwd)):
            run.deny("account", f"{run.name} would change {shown(word)}: who may log in, and as whom")
    run.ask(f"program:{run.name}", f"{run.name} takes commands that are not followed")


_SORTED = re.compile(r"\|\s*\"(?:sort|uniq|head|tail|wc|cat|nl|tac|column)(?: -[a-np-zA-Z0-9,.]+| \d+)*\"")
_AWK = re.compile(r"system\s*\(|\bgetline\b|\||>|@load|@include|\bENVIRON\b|close\s*\(|/inet/|print\s*>")


def awk(run: Run) -> str | None:
    """`awk`: reading, unless its text runs or writes something."""
    options = Run(
        run.path, run.name, [w for w in run.words if not w.startswith(("-F", "-v"))], None, (run.machine, run.scope)
    )
    if options.has("--exec", "-E", "-i", "-l", "--load", "--include", "--debug", "-D", "-o", "-p", "-d"):
        run.ask("awk:option", "awk would load or write a file")
    if run.after("-f", "--file") is not None:
        run.ask("awk:file", "awk would run a text that was not looked at")
    texts = run.operands("-F -v -f --file --field-separator --assign")[:1]
    if run.stdin is not None and run.after("-f") in {"-", "/dev/stdin"}:
        texts.append(run.stdin)
    for text in texts:
        untrusted(run, text, "awk")
        bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|/(?:[^/\\\n]|\\.)+/", '""', _SORTED.sub("", plain(text)))
        if vague(text) and (text[0] in "\ufdd0\ufdd1"):
            run.ask("awk:unknown", "awk would run a text that is not known")
        compares = (
            re.sub(r"(?<!print)(?<!printf)\s*[$\w)\]]+\s*>=?\s*[$\w(\"-]+", "", bare)
            if "print" not in bare.partition(">")[0]
            else bare
        )
        if _AWK.search(re.sub(r"\|\||>=", "", compares)) or "system" in bare or "getline" in bare:
            judge_code(run, text, harmless=False)
    return None


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(_PYTHONS.split(), python),
    **dict.fromkeys(_OTHERS, other),
    "php": php,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), awk),
}
