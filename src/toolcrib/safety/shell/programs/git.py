"""`git`: looking, adding and committing are free; losing work, leaving the machine and running hooks are not."""

import re
from collections.abc import Callable

from toolcrib.safety.shell.marks import LOOSE, SECRET, UNKNOWN, plain, shown, vague
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.places import in_temp, resolved
from toolcrib.safety.shell.run import Handle, Run, is_option
from toolcrib.safety.shell.writing import note_read

# Options that take the permission away. A sub-command that is not here is asked about.
_FREE: dict[str, str] = {
    **dict.fromkeys(names("status rev-parse rev-list ls-files ls-tree describe name-rev merge-base shortlog"), ""),
    **dict.fromkeys(
        names("show-ref for-each-ref count-objects var version check-ignore check-attr cherry verify-commit"), ""
    ),
    **dict.fromkeys(
        names("verify-tag whatchanged annotate blame range-diff diff-tree diff-index diff-files fsck"), "--output"
    ),
    **dict.fromkeys(["show", "log", "diff"], "--output --ext-diff --textconv"),
    "grep": "-O --open-files-in-pager",
    "cat-file": "--filters --textconv",
    "help": "-w --web -m",
    "shortlog": "",
    "show-branch": "",
    "symbolic-ref": "-d --delete -m",
    "add": "-e --edit -i --interactive",
    "commit": "--no-verify -n -t --template",
    "rm": "",
    "mv": "",
    "restore": "",
    "branch": "-D -d -f -M -m --delete --force --move --edit-description",
    "tag": "-d -f --delete --force",
    "switch": "-f --force --discard-changes -C",
    "checkout": "-f --force -B -p",
    "merge": "-s --strategy",
    "fetch": "--upload-pack --force -f --prune-tags --set-upstream",
    "pull": "--upload-pack --force -f --rebase=i -s",
    "stash": "",
    "init": "--template --separate-git-dir --shared",
    "cherry-pick": "-s --strategy",
    "revert": "--strategy",
    "rebase": "-x --exec -i --interactive --root -s --strategy",
    "reset": "--hard --merge --keep",
    "remote": "",
    "config": "",
    "worktree": "",
    "submodule": "",
    "notes": "",
    "reflog": "",
    "bisect": "",
    "archive": "--exec --remote -o --output",
    "ls-remote": "--upload-pack --exec",
    "apply": "--unsafe-paths --directory",
    "am": "",
    "format-patch": "-o --output-directory",
    "lfs": "",
    "sparse-checkout": "",
    "update-index": "",
    "write-tree": "",
    "hash-object": "-w",
    "interpret-trailers": "",
    "mktree": "",
    "diff-so-fancy": "",
    "flow": "",
}
_ONLY: dict[str, frozenset[str]] = {
    "stash": frozenset(
        ("list", "show", "push", "save", "pop", "apply", "-u", "--include-untracked", "-k", "--keep-index")
    ),
    "remote": frozenset(("-v", "--verbose", "show", "get-url")),
    "worktree": frozenset(("list",)),
    "submodule": frozenset(("status", "summary")),
    "notes": frozenset(("list", "show")),
    "reflog": frozenset(("show", "list", "exists", "HEAD")),
    "bisect": frozenset(("log", "good", "bad", "skip", "start", "reset", "view")),
    "lfs": frozenset(("ls-files", "status", "env", "version")),
    "sparse-checkout": frozenset(("list",)),
    "flow": frozenset(("version",)),
    "am": frozenset(("--show-current-patch",)),
}
_KEYS_FREE = re.compile(
    r"(?i)(?:user|color|advice|column|commit\.gpgsign|tag\.gpgsign|gpg\.format|core\.(?:quotepath|abbrev|autocrlf|safecrlf|ignorecase|"
    r"longpaths|filemode|precomposeunicode|bare|whitespace)|diff\.(?:renames|algorithm|context|noprefix|mnemonicprefix|renamelimit)|"
    r"log\.\w+|init\.defaultbranch|pull\.\w+|push\.default|merge\.(?:ff|conflictstyle|renamelimit)|rebase\.auto\w+|fetch\.\w+|gc\.auto|"
    r"status\.\w+|protocol\.version|http\.(?:lowspeed\w*|postbuffer)|safe\.directory|index\.\w+|branch\.sort|help\.autocorrect)"
)
_PAGERS = re.compile(r"(?i)core\.pager|pager\.\w+")


_ELSEWHERE = ("--exec-path=", "--git-dir", "--work-tree", "--namespace")
_OWN_FOLDER = frozenset(("--git-dir=.git", "--git-dir=./.git", "--work-tree=."))


def git(run: Run) -> str | None:
    """Reads git's own options, then the sub-command."""
    at = 0
    words = run.words
    while at < len(words) and words[at].startswith("-"):
        word = plain(words[at])
        if word in {"-c", "--config-env"} or word.startswith(("--config-env=", "-c")):
            setting = (
                word[2:]
                if word.startswith("-c") and len(word) > 2
                else plain(words[at + 1])
                if at + 1 < len(words)
                else ""
            )
            _setting(run, setting)
            at += 2 if word in {"-c", "--config-env"} else 1
            continue
        if word in {"-p", "--paginate"} or (word not in _OWN_FOLDER and word.startswith(_ELSEWHERE)):
            run.ask("git:option", f"git {word} changes what git runs or where")
        if word in {"--version", "--help", "-v", "-h", "--exec-path", "--html-path", "--man-path"}:
            return None
        if word == "-C" and at + 1 < len(words) and in_temp(resolved(words[at + 1], run.cwd)):
            run.ask("git:option", "what a repository for everybody tells git to run is not known")
        if word == "-C" and at + 1 < len(words) and plain(words[at + 1]).startswith(("/", "~", "..")):
            note_read(run.machine, words[at + 1], run.scope)
        at += 2 if word in {"-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix"} else 1
    if at >= len(words):
        return None
    return _command(run, words[at], words[at + 1 :])


def _setting(run: Run, text: str) -> None:
    key, _, value = text.partition("=")
    if _PAGERS.fullmatch(key) and value in {"cat", "less", ""}:
        return
    if _KEYS_FREE.fullmatch(key) or (
        _KEYS_FREE.match(key + ".") and key.split(".")[0].lower() in {"user", "color", "advice", "column"}
    ):
        return
    command = value.removeprefix("!")
    run.machine.storable = False
    run.ask("git:config", f"git -c {key} can make git run a program")
    if command and re.search(
        r"(?i)pager|editor|command|alias|helper|hook|external|textconv|fsmonitor|program|clean|smudge|driver|tool", key
    ):
        run.code(command, None, UNKNOWN)


def _command(run: Run, verb: str, words: list[str]) -> str | None:
    verb = plain(verb) if not vague(verb) else verb
    barred = _FREE.get(verb)
    if vague(verb) or verb.startswith(LOOSE) or barred is None:
        run.ask(f"git:{plain(verb)}"[:60], f"git {shown(verb)} changes more than the workspace's files, or loses work")
        return _others(run, verb, words)
    for word in words:
        if word == "--":
            break
        for option in barred.split():
            if is_option(word, option):
                run.ask(
                    f"git:{verb} {option}", f"git {verb} {option} can lose work, leave the machine or run a program"
                )
    only = _ONLY.get(verb)
    if only is not None and words and plain(words[0]) not in only:
        run.ask(f"git:{verb}", f"git {verb} {shown(words[0])} changes more than can be undone")
        return _others(run, verb, words)
    return _closer(run, verb, words)


_SHOWS = frozenset(("diff", "grep", "show", "blame", "log", "hash-object", "apply"))  # also files of elsewhere
_NO_EDITOR = ("--no-edit", "-m", "-am", "-F", "-C", "--message", "--file", "--reuse-message")


def _closer(run: Run, verb: str, words: list[str]) -> str | None:
    bare = [plain(word) for word in words]
    look = _CLOSER.get(verb)
    if look is not None:
        look(run, words, bare)
    for word in words if verb in _SHOWS else ():
        if "--no-index" in bare or plain(word).startswith(("/", "~", "..")):
            note_read(run.machine, word, run.scope)
    if run.scope.wrote and verb in {"commit", "merge", "checkout", "rebase"} and _wrote_hook(run):
        run.ask("written-and-run", "git runs hooks, and the same command wrote one")
    return None


def _checkout(run: Run, _words: list[str], bare: list[str]) -> None:
    if "--" in bare or "." in bare or any(word.startswith((":/", "./")) for word in bare):
        run.ask("git:checkout", "it would throw changes away", "git stash")


def _restore(run: Run, _words: list[str], bare: list[str]) -> None:
    if "--staged" not in bare and "-S" not in bare:
        run.ask("git:restore", "it would throw changes away", "git stash")


def _remove(run: Run, _words: list[str], bare: list[str]) -> None:
    if "--cached" not in bare:
        run.ask("git:rm", "it would remove files", "git rm --cached")


def _from_address(run: Run, _words: list[str], bare: list[str]) -> None:
    if any("::" in word or "://" in word or ("@" in word and ":" in word) for word in bare):
        run.ask("git:remote", "it would reach an address that is not among the configured ones")


def _commit(run: Run, _words: list[str], bare: list[str]) -> None:
    if "--amend" in bare and not any(word.startswith(_NO_EDITOR) for word in bare):
        run.ask("git:editor", "it would open an editor", "git commit --amend --no-edit")


def _wrote_hook(run: Run) -> bool:
    return any("hooks/" in path or path.endswith((".gitattributes", ".git/config")) for path in run.scope.files)


def _config(run: Run, _words: list[str], bare: list[str]) -> None:
    looks = {"--get", "--get-all", "--list", "-l", "--get-regexp", "--show-origin", "list", "get", "--get-urlmatch"}
    if looks & set(bare):
        return
    names = [word for word in bare if not word.startswith("-")]
    if (
        len(names) == 1
        and "." in names[0]
        and not {"--unset", "--add", "--edit", "-e", "--replace-all", "--unset-all"} & set(bare)
    ):
        return
    if (
        len(names) == 2
        and _KEYS_FREE.fullmatch(names[0] + "") is None
        and not names[0].lower().startswith(("user.", "color.", "advice."))
    ):
        run.code(names[1].removeprefix("!"), None, UNKNOWN)
        run.ask("git:config", f"git config {names[0]} can make git run a program")
    if "--global" in bare or "--system" in bare or len(names) != 2 or "--edit" in bare or "-e" in bare:
        run.ask("git:config", "it would change git for every project")


_CLOSER: dict[str, Callable[[Run, list[str], list[str]], None]] = {
    "checkout": _checkout,
    "restore": _restore,
    "rm": _remove,
    "config": _config,
    "commit": _commit,
    **dict.fromkeys(("fetch", "pull", "ls-remote"), _from_address),
}


def _others(run: Run, verb: str, words: list[str]) -> str | None:
    bare = [plain(word) for word in words]
    if verb == "submodule" and bare[:1] == ["foreach"]:
        run.code(" ".join(word for word in bare[1:] if not word.startswith("-")), None, UNKNOWN)
    if verb == "bisect" and bare[:1] == ["run"]:
        run.again(words[1:])
    if verb == "clone":
        run.scope.wrote = True
    for text in _texts_inside(bare):
        run.code(text, None, UNKNOWN)
    return UNKNOWN


_TEXT_BEHIND = frozenset(
    names(
        "--tree-filter --index-filter --msg-filter --env-filter --parent-filter --commit-filter --tag-name-filter",
        "-x --extcmd --exec --tool-cmd --upload-pack --receive-pack -u",
    )
)


def _texts_inside(words: list[str]) -> list[str]:
    """What git would give to a shell: the value of an option, or an address that is a command."""
    out = [word[5:] for word in words if word.startswith("ext::")]
    for at, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name in _TEXT_BEHIND:
            out.append(value if sign else "".join(words[at + 1 : at + 2]))
    return [text for text in out if text]


def forge(run: Run) -> str | None:
    """`gh`, `glab`: looking is free."""
    bare = [plain(word) for word in run.operands("-R --repo -L --limit --json -q --jq -t -s --state")]
    looks = {"list", "view", "status", "diff", "checks", "watch", "ls"}
    if len(bare) >= 2 and bare[1] in looks and bare[0] not in {"auth", "secret", "variable"}:
        return None
    if bare[:1] == ["api"] and not run.has("-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"):
        return None
    if run.words[:1] in (["--version"], ["version"], ["help"]) or bare[:2] == ["auth", "status"]:
        return None
    if bare[:2] == ["auth", "token"]:
        run.ask("credential", "it would show the key of your account")
        return UNKNOWN + SECRET
    run.ask("forge", f"{run.name} {' '.join(bare[:2])} acts on another machine")
    return UNKNOWN


HANDLES: dict[str, Handle] = {
    "git": git,
    "gh": forge,
    "glab": forge,
    "hub": forge,
    "tig": forge,
    "svn": forge,
    "hg": forge,
}
