"""Decides about one command: its name, the rules about it, the program's own table, what it reads and sends."""

import re
from collections.abc import Sequence

from toolcrib.safety.shell.allowed import ALLOWED, BUILDERS, names_only, pattern_first, permitted
from toolcrib.safety.shell.judged import ALLOW, ASK, DENY
from toolcrib.safety.shell.marks import (
    HIDDEN,
    LOOSE,
    NET,
    SECRET,
    UNKNOWN,
    as_expression,
    globbed,
    plain,
    shown,
    taints,
    vague,
)
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.places import credential_file, is_account_list, is_disk, is_network, resolved
from toolcrib.safety.shell.programs import HANDLES
from toolcrib.safety.shell.programs.looking import only_looks
from toolcrib.safety.shell.programs.reading import LOOKS, building
from toolcrib.safety.shell.pure import output
from toolcrib.safety.shell.rules import decided, name_of
from toolcrib.safety.shell.run import Machine, Run
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.senders import sends

_TRUSTED = re.compile(
    r"(?:/usr)?(?:/local)?/s?bin/|/opt/homebrew/bin/|(?:\./)?node_modules/\.bin/|(?:\./)?(?:\.?venv|env)/bin/|"
    r"\./vendor/bin/|vendor/bin/"
)
_OWN_RUNNERS = frozenset(("gradlew", "mvnw"))
_DANGEROUS_NAMES = frozenset(
    names(
        "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG_OUTPUT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH BASH_ENV",
        "ENV PATH PROMPT_COMMAND PS4 PS1 SHELLOPTS BASHOPTS PAGER MANPAGER LESSOPEN LESSCLOSE LESSKEY EDITOR",
        "VISUAL BROWSER PERL5LIB PERL5OPT PERL5DB PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONINSPECT",
        "PYTHONWARNINGS PYTHONBREAKPOINT RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS JDK_JAVA_OPTIONS MAKEFLAGS GCONV_PATH HOSTALIASES SHELL TERMINFO NLSPATH http_proxy",
        "https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY CURL_HOME WGETRC SSH_ASKPASS SUDO_ASKPASS",
        "SSH_AUTH_SOCK FPATH ZDOTDIR OPENSSL_CONF OPENSSL_ENGINES GEM_HOME BUNDLE_GEMFILE R_PROFILE CLASSPATH",
        "NPM_CONFIG_SCRIPT_SHELL npm_config_script_shell PIP_INDEX_URL UV_INDEX_URL DOCKER_HOST KUBECONFIG",
        "GREP_OPTIONS RIPGREP_CONFIG_PATH TAR_OPTIONS RSYNC_RSH CVS_RSH COMPILER_PATH GCC_EXEC_PREFIX CC CXX",
        "RUSTC_WRAPPER RUSTFLAGS GOFLAGS",
    )
)
_GIT_NAMES_OK = frozenset(
    names(
        "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_DATE GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_MERGE_AUTOEDIT GIT_LFS_SKIP_SMUDGE",
    )
)
_QUIET_VALUES = {
    "PAGER": ("cat", "less", "more", ""),
    "GIT_PAGER": ("cat", "less", ""),
    "MANPAGER": ("cat", "less", ""),
    "EDITOR": ("true", "vi", "vim", "nano", "cat", ":"),
    "VISUAL": ("true", "vi", "vim", "nano"),
    "GIT_EDITOR": ("true", ":", "cat"),
    "GIT_SEQUENCE_EDITOR": ("true", ":"),
    "CC": ("gcc", "clang", "cc"),
    "CXX": ("g++", "clang++", "c++"),
    "PYTHONPATH": (".", "src", "./src", "lib", "..", "tests"),
    "BROWSER": ("none", "false", "true"),
    "PYTHONWARNINGS": ("ignore", "error", "default", "always", "once"),
}
_NODE_QUIET = re.compile(
    r"(?:--(?:max[-_]old[-_]space[-_]size=\d+|experimental-vm-modules|no-warnings|trace-\w+|"
    r"openssl-legacy-provider|enable-source-maps|unhandled-rejections=\w+|experimental-\w[\w-]*) ?)+"
)
_QUESTIONS = frozenset(("--version", "--help", "-version", "-V"))  # what a program says of itself
_TRACES = {"HISTFILE": ("", "/dev/null"), "HISTSIZE": ("", "0"), "HISTFILESIZE": ("", "0"), "HISTIGNORE": ("*",)}


def environment(walk: Machine, name: str, value: str | list[str]) -> None:
    """A variable that changes what later commands do."""
    text = value if isinstance(value, str) else " ".join(value)
    if text in _TRACES.get(name, ()):
        walk.note(DENY, "traces", f"setting {name} hides what was done from the history")
    if "() {" in text[:8]:
        walk.note(ASK, "environment", f"{name} would carry a function's text into other programs")
    is_git = name.startswith("GIT_") and name not in _GIT_NAMES_OK
    if not is_git and name not in _DANGEROUS_NAMES:
        if name.startswith(("BASH_FUNC_", "npm_config_")):
            walk.note(ASK, "environment", f"{name} changes which code later commands run")
        return
    if text in _QUIET_VALUES.get(name, ()) or (name == "NODE_OPTIONS" and _NODE_QUIET.fullmatch(text)):
        return
    walk.note(ASK, "environment", f"{name} changes which code later commands run", f"the same without {name}=")
    if name in {"PROMPT_COMMAND", "PAGER", "GIT_PAGER", "GIT_SSH_COMMAND", "EDITOR", "LESSOPEN", "PS4", "PS1"} and text:
        walk.text(text, Scope(), UNKNOWN)


def declared(walk: Machine, words: Sequence[str], scope: Scope) -> str:
    """`export`, `declare` and their kin: with nothing to declare they show every variable."""
    if words[0] in {"export", "declare", "typeset", "readonly"} and not [w for w in words[1:] if not w.startswith("-")]:
        return UNKNOWN + SECRET
    if walk.rules:
        start(walk, words, scope, None)
    return ""


def start(walk: Machine, argv: Sequence[str], scope: Scope, stdin: str | None) -> str:
    """Judges one command and gives what it prints."""
    if not argv:
        return stdin or ""
    first = argv[0]
    if vague(first):
        return _unnamed(walk, argv, scope, stdin)
    if globbed(first):
        return _pattern(walk, argv, scope, stdin)
    path = first
    if path in scope.functions:
        return walk.call(path, argv[1:], scope, stdin)
    if path in scope.aliases and path not in walk.calls:
        walk.calls.append(path)
        out = walk.text(scope.aliases[path] + " " + " ".join(quoted(word) for word in argv[1:]), scope, stdin)
        walk.calls.pop()
        return out
    return _program(walk, path, argv, scope, stdin)


def quoted(word: str) -> str:
    """A word as a shell text that means this word; patterns stay patterns."""
    return "'" + word.replace("'", "'\\''") + "'" if not globbed(word) else plain(word)


def _unnamed(walk: Machine, argv: Sequence[str], scope: Scope, stdin: str | None) -> str:
    """The command's name is not wholly known. That is asked about; what it could be is judged for its worst."""
    first = argv[0]
    walk.worry("name:unknown", f"which program would run is not known before it runs: {shown(first)}")
    if NET in first:
        walk.note(DENY, "downloaded-code", "it would run text that came from the network as a command")
    if HIDDEN in first:
        walk.note(DENY, "hidden-code", "it would run text that was decoded on the way as a command")
    rest = [plain(first), *argv[1:]] if plain(first).strip() else list(argv[1:])
    if rest and plain(rest[0]).strip():
        start(walk, [plain(rest[0]), *rest[1:]], scope, stdin)
    return UNKNOWN + taints("".join(argv) + (stdin or ""))


def _pattern(walk: Machine, argv: Sequence[str], scope: Scope, stdin: str | None) -> str:
    """A pattern for a name: every known program that it fits is judged."""
    walk.worry("name:pattern", f"which program would run depends on the files that are there: {shown(argv[0])}")
    expression = as_expression(argv[0].rpartition("/")[2])
    names = [name for name in sorted(HANDLES) if expression.fullmatch(name)]
    for name in names[:40]:
        start(walk, [name, *argv[1:]], scope, stdin)
    return UNKNOWN + taints("".join(argv) + (stdin or ""))


def name_of_program(path: str) -> str:
    """A program's name without its folder and without what Windows adds."""
    name = path.rpartition("/")[2] or path
    low = name.lower()
    for end in (".exe", ".cmd", ".com"):
        if low.endswith(end):
            return low[: -len(end)]
    return name


def _program(walk: Machine, path: str, argv: Sequence[str], scope: Scope, stdin: str | None) -> str:
    name = name_of_program(path)
    run = Run(path, name, argv[1:], stdin, (walk, scope))
    if "/" in path:
        _from_path(run, scope)
    rule = decided(walk.rules, name, run.words) if walk.rules else None
    if rule is not None and rule.decision != ALLOW:
        level = DENY if rule.decision == DENY else ASK
        walk.note(level, name_of(rule), rule.why or f"a rule of this installation says {rule.decision}")
    if rule is not None and rule.decision == ALLOW:
        run.allow()
        walk.permitted(name_of(rule), rule.why)
    out = _handled(run)
    secret = _files(run, scope) if run.words else False
    if name in {"printenv", "env", "set"} and not run.operands():
        secret = True
    if sends(run) and (secret or SECRET in run.told):
        run.deny("secret-sent", f"{name} would send a credential, or what a shell prints, over the network")
    made = output(name, run.words, stdin)
    return _result(run, made if made is not None else out, secret=secret)


def _handled(run: Run) -> str | None:
    if len(run.words) == 1 and run.words[0] in _QUESTIONS and "/" not in run.path:
        return None
    if only_looks(run):
        return UNKNOWN
    handle = HANDLES.get(run.name)
    if handle is not None:
        return handle(run)
    if run.name not in ALLOWED:
        run.ask(f"unknown:{run.name}"[:60], f"{run.name} is not among the programs that run without a question")
        return None
    if option := permitted(run):
        why = f"{run.name} does more with {option} than it may without a question"
        run.ask(f"option:{run.name} {option}", why, f"{run.name} without {option}")
    look = building if run.name in BUILDERS else LOOKS.get(run.name)
    if look is not None:
        look(run)
    return None


def _from_path(run: Run, scope: Scope) -> None:
    """A program that is named with its folder."""
    whole = resolved(run.path, scope.cwd)
    content = scope.files.get(whole)
    if content is not None:
        if NET in content:
            run.deny("downloaded-code", f"it would run {run.path}, which came from the network")
        run.ask("written-and-run", f"it would run {run.path}, which the same command wrote")
        if not vague(content):
            run.code(content)
    if _TRUSTED.match(run.path) or (run.name in _OWN_RUNNERS and run.path == "./" + run.name):
        return
    run.ask("program:path", f"{run.path} is a program outside the folders of installed programs")


def _files(run: Run, scope: Scope) -> bool:
    """What a program's words name: credentials, and files whose content is known to be one."""
    if not scope.files and names_only(run.name):
        return False
    secret = False
    if run.name in _IDENTITIES:
        words = _without(run, _IDENTITIES[run.name])
    else:
        words = run.words[1:] if pattern_first(run.name) else run.words
    for name in map(_file_name, words):
        if not name:
            continue
        if SECRET in scope.files.get(resolved(name, scope.cwd), ""):
            secret = True
        elif not names_only(run.name):
            secret = _reads(run, name, scope) or secret
    if secret:
        _spread(run, scope)
    return secret


# Options behind which a key stands that is used and not sent; using one is asked about all the same.
_IDENTITIES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("ssh", "scp", "sftp", "autossh", "sshfs"), frozenset(("-i", "-F", "-S", "-E"))),
    "rsync": frozenset(("-e", "--rsh", "--password-file")),
    "curl": frozenset(("--key", "--cert", "-E", "--cacert", "--netrc-file")),
    "wget": frozenset(("--private-key", "--certificate", "--ca-certificate")),
}


def _without(run: Run, options: frozenset[str]) -> list[str]:
    """The words without those options and their values."""
    out: list[str] = []
    skip = False
    for word in run.words:
        if skip:
            skip = False
            run.ask("credential", f"it would use the key {shown(word)}")
        elif word in options:
            skip = True
        elif word.partition("=")[0] not in options:
            out.append(word)
    return out


def _file_name(word: str) -> str:
    """The file that a word may name: behind `--option=`, `-o`, `name=` or `@`."""
    if word.startswith("-"):
        return word.partition("=")[2] or word[2:]
    return re.split("[=@]", word)[-1] if "=" in word or "@" in word else word


def _spread(run: Run, scope: Scope) -> None:
    """The other files of a command that reads a credential may hold it afterwards."""
    for word in run.operands():
        path = resolved(word, scope.cwd)
        if not credential_file(word, scope.cwd) and not path.startswith("/dev/"):
            scope.files[path] = scope.files.get(path, UNKNOWN) + SECRET


def _reads(run: Run, name: str, scope: Scope) -> bool:
    found = credential_file(name, scope.cwd)
    if found:
        run.ask("credential", f"it would read {found}, a place for credentials")
        return True
    if is_disk(name, scope.cwd):
        run.ask("device", f"it would read the device {shown(name)}")
    if is_network(name):
        run.deny("network-shell", f"{shown(name)} opens a network connection from the shell")
    return is_account_list(name, scope.cwd)


def _result(run: Run, out: str | None, *, secret: bool) -> str:
    marks = taints(run.told)
    if run.scope.files and not names_only(run.name):
        for word in run.words:
            content = run.scope.files.get(resolved(word, run.cwd))
            if content is not None:
                if run.name in {"cat", "tac", "head", "tail"} and len(run.words) == 1:
                    return content
                marks += taints(content)
    if out is None:
        return UNKNOWN + marks + (SECRET if secret else "")
    return out + (SECRET if secret else "")


__all__ = ["LOOSE", "declared", "environment", "name_of_program", "quoted", "start"]
