"""Package managers and task runners of languages: what the project says runs; what comes from elsewhere is asked about."""

import re

from toolcrib.safety.shell.marks import LOOSE, plain, vague
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.run import Handle, Run

_SCRIPTS = frozenset(
    names(
        "test t tst start run run-script build lint dev format check typecheck coverage tsc watch serve docs",
        "compile bundle prettier fmt types test:unit storybook prepare clean prebuild postbuild",
    )
)
_NPM_FREE = frozenset(
    names(
        "ls list ll la outdated view info v show why explain root prefix bin -v --version help search fund",
        "ping doctor query sbom workspaces licenses whoami completion",
    )
)
_INSTALLS = frozenset(
    names("install i ci add in ins inst isntall up update upgrade remove uninstall rm link dedupe rebuild")
)


def node_packages(run: Run) -> str | None:
    """`npm`, `yarn`, `pnpm`, `bun`."""
    words = [plain(word) for word in run.operands("--prefix -C --cwd -w --workspace --filter -F --registry --cache")]
    verb = words[0] if words else ("install" if run.name == "yarn" and not run.words else "help")
    if run.has("--script-shell", "--node-options", "--userconfig", "--globalconfig") or (
        (run.after("--prefix") or ".").startswith(("/", "~", ".."))
    ):
        run.ask("package:option", f"{run.name} would run other code than the project's")
    if verb in {"exec", "x", "dlx"}:
        return _fetched(run, run.words[run.words.index(verb) + 1 :] if verb in run.words else [])
    if verb in _SCRIPTS or ":" in verb or (run.name == "bun" and verb.endswith((".ts", ".js", ".tsx", ".mjs"))):
        if run.scope.wrote:
            run.ask("written-and-run", "it may run a file that the same command wrote")
        return None
    if _as_locked(run, words) or (verb, *words[1:2]) in _NPM_LOOKS or (verb == "audit" and "fix" not in words):
        return None
    if verb in _INSTALLS:
        run.ask("package", f"{run.name} {verb} brings in code from elsewhere, or removes it")
    elif verb not in _NPM_FREE and not (run.name == "yarn" and verb == "workspaces"):
        _own_program(run, verb, words)
    return None


_NPM_LOOKS = frozenset(
    (("config", "get"), ("config", "list"), ("config", "ls"), ("cache", "ls"), ("cache", "dir"), ("dist-tag", "ls"))
)


def _as_locked(run: Run, words: list[str]) -> bool:
    """`npm install` alone: what the project's own lock file says, unless the same command wrote the project."""
    if words not in (["install"], ["ci"], ["i"]) or run.has("-g", "--global"):
        return False
    return not run.scope.wrote and run.after("-C", "--prefix", "--cwd") in {None, "."}


def _own_program(run: Run, verb: str, words: list[str]) -> None:
    """`yarn name`: a script of the project, or one of its programs."""
    if run.name in {"yarn", "pnpm", "bun"} and re.fullmatch(r"[\w:-]+", verb) and verb not in _PUBLISH:
        run.again(words)
    else:
        run.ask(f"package:{verb}"[:60], f"{run.name} {verb} changes more than the project")


_PUBLISH = frozenset(
    names(
        "publish unpublish login logout adduser token owner deprecate dist-tag access team hook config set",
        "global link patch create init upgrade self-update setup version pack import plugin cache store",
        "server prune",
    )
)


def _fetched(run: Run, words: list[str]) -> str | None:
    """`npx name`: an installed program of the project if it is a known one; a stranger's code if not."""
    from_elsewhere = any(word in {"-p", "--package", "-c", "--call"} or word.startswith("--package=") for word in words)
    text = next((words[at + 1] for at, word in enumerate(words[:-1]) if word in {"-c", "--call"}), None)
    if text is not None:
        run.code(text)
    rest = [
        word
        for at, word in enumerate(words)
        if not (word in {"-y", "--yes", "--no-install", "--no", "--", "-q"} and at < 3)
    ]
    if from_elsewhere or not rest or rest[0].startswith("-"):
        run.ask("package", "it would run code from elsewhere")
        return None
    if "@" in plain(rest[0])[1:] or "/" in plain(rest[0]) or ":" in plain(rest[0]):
        run.ask("package", f"it would fetch and run {plain(rest[0])}")
        return None
    return run.again(rest)


def fetch_and_run(run: Run) -> str | None:
    """`npx`, `bunx`, `pnpx`."""
    return _fetched(run, run.words)


def python_packages(run: Run) -> str | None:
    """`pip`, `uv`, `poetry`, `pipenv`, `pdm`, `hatch`, `conda`."""
    words = run.operands(
        "--python -p --project --directory -C --index-url -i -e --env -n -r --requirement -c --with --extra --group -m"
    )
    bare = [plain(word) for word in words]
    verb = bare[0] if bare else "help"
    if verb == "pip" and run.name == "uv":
        verb = bare[1] if len(bare) > 1 else "help"
    if verb == "run" and run.name in {"uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "micromamba"}:
        return _run(run)
    looks = {
        "list",
        "show",
        "freeze",
        "check",
        "--version",
        "version",
        "help",
        "search",
        "inspect",
        "env",
        "tree",
        "info",
        "about",
        "graph",
        "debug",
        "index",
        "outdated",
        "-V",
        "--help",
    }
    if verb in looks and not (verb == "env" and len(bare) > 1 and bare[1] != "info"):
        return None
    if verb in {"sync", "lock", "venv", "build", "export"} and run.name != "pip" and not run.has("--index-url", "-i"):
        return None  # what the project's own lock file says
    if verb == "install" and run.name in {"poetry", "pipenv", "pdm"} and len(bare) == 1:
        return None
    if verb == "install" and run.name.startswith("pip") and _of_project(run):
        return None
    run.ask("package", f"{run.name} {verb} brings in code from elsewhere, or removes it")
    return None


def _of_project(run: Run) -> bool:
    """`pip install -r requirements.txt`, `pip install -e .`: what the project itself says."""
    if run.scope.wrote or run.has(
        "--index-url", "-i", "--extra-index-url", "--find-links", "--target", "-t", "--prefix", "--root", "--user"
    ):
        return False
    files = [
        plain(run.words[at + 1])
        for at, word in enumerate(run.words[:-1])
        if word in {"-r", "--requirement", "-e", "--editable"}
    ]
    rest = [plain(word) for word in run.operands("-r --requirement -e --editable -c --constraint")][1:]
    local = re.compile(r"(?:\.|[\w-]+\.txt|(?:requirements|reqs?)/[\w-]+\.txt|\./?|\.\[[\w,-]+\])")
    return bool(files + rest) and all(local.fullmatch(word) for word in files + rest) and not any(map(vague, run.words))


def _run(run: Run) -> str | None:
    at = run.words.index("run") + 1
    valued = {
        "--with",
        "--python",
        "-p",
        "-n",
        "--extra",
        "--group",
        "--env-file",
        "--project",
        "--directory",
        "-m",
        "--module",
    }
    while at < len(run.words) and run.words[at].startswith("-") and run.words[at] != "--":
        if run.words[at] in {"--with", "--env-file", "--with-requirements", "--index"}:
            run.ask("package", "it would bring in code from elsewhere")
        if run.words[at] in {"-m", "--module"}:
            return run.again(["python", *run.words[at:]])
        at += 2 if run.words[at] in valued else 1
    inner = [word for word in run.words[at:] if word != "--"]
    if inner and plain(inner[0]).endswith(".py"):
        inner = ["python", *inner]
    return run.again(inner) if inner else None


def cargo(run: Run) -> str | None:
    """`cargo`, `rustup`, `go`, `deno`, `dotnet`-like: one verb after the name."""
    words = [word for word in run.words if not word.startswith("+")]
    verb = next((plain(word) for word in words if not word.startswith("-")), "help")
    free = {
        "cargo": "build b test t check c clippy fmt doc bench tree metadata version help run r clean locate-project verify-project nextest "
        "fetch  read-manifest pkgid search audit deny machete outdated expand",
        "go": "build test vet fmt list version env doc mod help clean tool work",
        "rustup": "show which doc help",
        "composer": "validate show outdated test check-platform-reqs diagnose dump-autoload info why licenses",
        "bundle": "check list show outdated info platform",
        "gem": "list search environment which info contents outdated",
        "deno": "test check fmt lint info doc types bench --version help",
        "stack": "build test",
        "opam": "list show",
        "luarocks": "list show",
        "cpan": "",
        "pod": "",
        "cpanm": "",
    }.get(run.name, "").split()
    if run.has("-exec", "-toolexec", "--config", "-modfile", "-overlay", "-vettool", "-ldflags=-extld") or vague(
        words[0] if words else ""
    ):
        run.ask("package:option", f"{run.name} would run another program")
    if run.scope.wrote:
        run.ask("written-and-run", "it may run a file that the same command wrote")
    if run.name == "bundle" and verb == "exec":
        return run.again(run.words[run.words.index("exec") + 1 :])
    if run.name == "bundle" and verb == "install" and len(words) == 1:
        return None
    if (
        run.name == "go"
        and verb == "mod"
        and not {"tidy", "verify", "graph", "why", "download"} & {plain(word) for word in words}
    ):
        run.ask("package", "it would change what the project needs")
    if run.name == "go" and verb == "env" and run.has("-w", "-u"):
        run.ask("package", "it would change go for every project")
    if verb not in free and words not in (["--version"], ["-v"], ["-V"]) and (words or run.name in {"cpan", "cpanm"}):
        run.ask(f"package:{verb}"[:60], f"{run.name} {verb} brings in code from elsewhere, or runs it")
    return None


def make(run: Run) -> str | None:
    """`make`: the project's own targets."""
    if any(word.startswith(("--eval", "--e")) for word in run.words):
        _evaluated(run)
    for word in (run.after("-f", "--file", "--makefile"), run.after("-C", "--directory")):
        if word is not None and (vague(word) or plain(word).startswith(("/", "~", "..", "-"))):
            run.ask("make:file", "make would run a file outside the workspace")
    if run.has("-E", "-I", "--include-dir"):
        run.ask("make:option", "make would run a text from elsewhere")
    _made(run)
    if run.scope.wrote:
        run.ask("written-and-run", "it may run a file that the same command wrote")
    if run.words and run.words[0] == LOOSE:
        run.ask("make:unknown", "what it would make is not known before it runs")
    return None


_TOOLS = frozenset(
    names("CC CXX LD AR AS CPP RM CP MV LN INSTALL PYTHON NODE NPM GO CARGO MAKE LEX YACC RUBY PERL SED AWK")
)


def _made(run: Run) -> None:
    for word in run.words:
        name, sign, value = plain(word).partition("=")
        if (
            sign
            and value
            and not value.startswith("-")
            and (name.rstrip("?:+") in _TOOLS or re.search(r"[ ;|&]", value))
        ):
            run.code(value)  # what a rule of the file would run
    if any(_sets_program(word) for word in run.words):
        run.ask("make:variable", "a variable would make it run another program")
    if run.has("-n", "--dry-run", "--just-print", "--recon"):
        return
    if {"install", "uninstall", "install-strip", "altinstall"} & {plain(word) for word in run.operands("-f -C -j")}:
        run.ask("make:install", "make would install outside the workspace")


def _evaluated(run: Run) -> None:
    for word in run.words:
        for text in re.findall(r"\$\(shell ([^)]*)\)|\t?@?-?([^\n]+)$", plain(word.partition("=")[2])):
            run.code(" ".join(text), None, "")
    run.ask("make:eval", "make would run a text from the command line")


def _sets_program(word: str) -> bool:
    name, sign, value = word.partition("=")
    return bool(sign) and (name in {"SHELL", "MAKEFLAGS", ".SHELLFLAGS"} or "$(" in value or "`" in value)


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(("npm", "yarn", "pnpm", "cnpm"), node_packages),
    **dict.fromkeys(("npx", "bunx", "pnpx"), fetch_and_run),
    **dict.fromkeys(
        names("pip pip3 pip2 uv poetry pipenv pdm hatch rye conda mamba micromamba pipx uvx easy_install twine"),
        python_packages,
    ),
    **dict.fromkeys(
        ("cargo", "go", "rustup", "composer", "bundle", "gem", "deno", "opam", "luarocks", "cpan", "cpanm", "pod"),
        cargo,
    ),
    **dict.fromkeys(("make", "gmake", "remake"), make),
}
