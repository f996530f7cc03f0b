"""Programs that run another command: one table, one reader."""

import re

from msgspec import Struct

from toolcrib.safety.shell.marks import LOOSE, UNKNOWN, plain, vague
from toolcrib.safety.shell.programs.shells import SHELLS
from toolcrib.safety.shell.run import Handle, Run


class Wrapper(Struct, frozen=True):
    """How to find the inner command: options that take a word, operands before it, and whether to ask anyway."""

    valued: frozenset[str] = frozenset()
    before: int = 0
    why: str = ""  # always asked, with this reason
    joined: bool = False  # the words are one text for a shell
    text: frozenset[str] = frozenset()  # options whose value is a text for a shell


def _row(valued: str = "", before: int = 0, why: str = "", text: str = "", *, joined: bool = False) -> Wrapper:
    return Wrapper(frozenset(valued.split()), before, why, joined, frozenset(text.split()))


_RIGHTS = "it would run with other rights"
WRAPPERS: dict[str, Wrapper] = {
    "sudo": _row("-u -g -C -D -h -p -R -r -t -T -U --user --group --chdir --chroot --prompt --host", why=_RIGHTS),
    "doas": _row("-u -C", why=_RIGHTS),
    "pkexec": _row("--user", why=_RIGHTS),
    "run0": _row("-u -g -D", why=_RIGHTS),
    "gosu": _row("", 1, _RIGHTS),
    "su-exec": _row("", 1, _RIGHTS),
    "setpriv": _row("--reuid --regid --groups --securebits", why=_RIGHTS),
    "runcon": _row("-t -u -r -l", 1, _RIGHTS),
    "capsh": _row("", why=_RIGHTS, text="-c"),
    "sg": _row("-c", 1, _RIGHTS, "-c"),
    "nice": _row("-n --adjustment"),
    "ionice": _row("-c -n -p -P -u"),
    "nohup": _row(),
    "setsid": _row(),
    "stdbuf": _row("-i -o -e --input --output --error"),
    "time": _row("-f -o --format --output"),
    "timeout": _row("-k -s --kill-after --signal", 1),
    "watch": _row("-n --interval -s --shotsdir -q", joined=True),
    "chrt": _row("-p -T -P -D", 1),
    "taskset": _row("", 1),
    "numactl": _row("-i -m -N -C -p"),
    "flock": _row("-w -E --timeout", 1, text="-c --command"),
    "strace": _row("-e -o -p -s -u -E -a -P -O -S -b -I", why="it would look into another program"),
    "ltrace": _row("-e -o -p -s -u -n -l -a", why="it would look into another program"),
    "valgrind": _row(),
    "catchsegv": _row(),
    "fakeroot": _row("-l -s -i -b"),
    "faketime": _row("", 1),
    "fakechroot": _row(),
    "dbus-run-session": _row("--config-file"),
    "dbus-launch": _row(),
    "xvfb-run": _row("-n -e -f -p -s -w -a"),
    "caffeinate": _row("-t -w"),
    "unbuffer": _row(),
    "rlwrap": _row("-f -H -s -l -C -t", why="an unlisted wrapper"),
    "command": _row(),
    "builtin": _row(),
    "exec": _row("-a"),
    "setarch": _row(),
    "linux32": _row(),
    "linux64": _row(),
    "i386": _row(),
    "x86_64": _row(),
    "prlimit": _row("-p"),
    "choom": _row("-n -p"),
    "cgexec": _row("-g", why="it would leave its place among the processes"),
    "systemd-run": _row("-p -u --unit --property -E --uid --gid --slice", why="it would run outside, as a service"),
    "systemd-inhibit": _row("", why="it would hold up the system"),
    "busybox": _row(),
    "toybox": _row(),
    "ld.so": _row("--library-path --preload --audit --argv0", why="the loader runs any file"),
    "proot": _row("-r -b -w -q", why="it would change the root folder"),
    "chroot": _row("--userspec --groups", 1, "it would change the root folder"),
    "bwrap": _row("", why="it would build a sandbox of its own"),
    "firejail": _row("", why="it would build a sandbox of its own"),
    "aa-exec": _row("-p -n", why="it would change what confines it"),
    "dotenv": _row("-e -f -p -v", why="it would load credentials"),
    "cross-env": _row(),
    "env-cmd": _row("-f -r -e"),
    "concurrently": _row("-n -c -k --names --prefix -p"),
    "chpst": _row("-u -U -b -e -m -n -l -L", why=_RIGHTS),
    "softlimit": _row("-m -d -s -l -a -o -p -t"),
    "multitime": _row("-n -s"),
    "torsocks": _row("", why="it would hide where it connects from"),
    "torify": _row("", why="it would hide where it connects from"),
    "proxychains": _row("-f", why="it would hide where it connects from"),
    "proxychains4": _row("-f", why="it would hide where it connects from"),
    "tsocks": _row("", why="it would hide where it connects from"),
    "start-stop-daemon": _row("-x --exec -a -u -g -c -p", why="it would start a service"),
    "daemonize": _row("-c -e -o -p -u", why="it would start a service"),
    "daemon": _row("-n", why="it would start a service"),
    "dtach": _row("-c -n -A -N", why="it would leave a program running"),
    "abduco": _row("-n -c -e", why="it would leave a program running"),
    "doppler": _row("", 1, why="it would load credentials"),
}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def wrapped(run: Run) -> str | None:
    """Finds the inner command and judges it."""
    row = WRAPPERS[run.name]
    if row.why:
        run.machine.storable = False
        if row.why == _RIGHTS and _is_root_shell(run, inner_words(run, row)):
            run.deny("account", f"{run.name} would open a shell with all rights", "the one command that needs them")
        run.ask(f"wrapper:{run.name}", f"{run.name}: {row.why}", "the command without " + run.name)
    for option in row.text:
        text = run.after(option)
        if text is not None:
            return run.code(text)
    inner = inner_words(run, row)
    if not inner:
        return None
    if run.name in {"unshare", "nsenter", "sudo", "doas"} and inner[:1] == ["--"]:
        inner = inner[1:]
    if row.joined and len(inner) >= 1:
        return run.code(" ".join(inner))
    return run.again(inner)


def _is_root_shell(run: Run, inner: list[str]) -> bool:
    """`sudo -i`, `sudo bash`, `sudo su -`: a shell to type in, as root."""
    names = [plain(word).rpartition("/")[2] for word in inner if not word.startswith("-")]
    if not names:
        return run.has("-i", "-s", "--login", "--shell")
    typed = names[0] in SHELLS.split() and all(word in {"-", "-i", "-l", "--login"} for word in inner[1:])
    return typed or (names[0] == "su" and names[1:] in ([], ["root"]) and not any("c" in word for word in inner[1:]))


def inner_words(run: Run, row: Wrapper) -> list[str]:
    """The words behind the wrapper's own options, assignments and operands."""
    at, left = 0, row.before
    words = run.words
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            if not left:
                break
        elif word[:1] in {"-", "+"} and word != "-":
            at += 2 if word in row.valued else 1
        elif _ASSIGNMENT.match(word) and run.name in {"sudo", "cross-env", "doas", "dotenv", "env-cmd"}:
            name, _, value = word.partition("=")
            run.machine.named(name, value)
            at += 1
        elif left:
            left -= 1
            at += 1
        else:
            break
    return words[at:]


def environment(run: Run) -> str | None:
    """`env [-i] [name=value] command`; `env -S text`."""
    at = 0
    words = run.words
    while at < len(words):
        word = plain(words[at])
        if word.startswith(("-S", "--split-string", "-vS")):
            text = run.after("-S", "--split-string", "-vS") or ""
            rest = words[at + (1 if text and not (at + 1 < len(words) and words[at + 1] == text) else 2) :]
            return run.code(" ".join([plain(text), *rest]))
        if word in {"-u", "--unset", "-C", "--chdir", "-a", "--argv0"}:
            at += 2
        elif word.startswith("-"):
            at += 1
        elif _ASSIGNMENT.match(word):
            run.machine.named(word.partition("=")[0], word.partition("=")[2])
            at += 1
        else:
            return run.again(words[at:])
    return None


def query_or_run(run: Run) -> str | None:
    """`command -v name` only looks a name up."""
    if run.words and re.fullmatch(r"-[pvV]*[vV][pvV]*", run.words[0]):
        return None
    return wrapped(run)


def execute(run: Run) -> str | None:
    """`exec` without a command only changes streams."""
    return wrapped(run) if run.words else None


def switch_user(run: Run) -> str | None:
    """`su`, `runuser`: another user's shell."""
    run.machine.storable = False
    run.ask(f"wrapper:{run.name}", f"{run.name} would run as another user")
    text = run.after("-c", "--command", "--session-command")
    if text is not None:
        return run.code(text)
    inner = inner_words(run, _row("-u -g -G -s --shell"))
    if run.name == "su" and [plain(word) for word in inner if word != "-"] in ([], ["root"]):
        run.deny("account", "it would open a shell with all rights")
    if run.name == "runuser" and inner:
        run.again(inner)
    return UNKNOWN


def record(run: Run) -> str | None:
    """`script -c text`: a shell with its output kept."""
    text = run.after("-c", "--command", "-qc", "-qec", "-ec", "-qefc", "-fqc", "-cq", "-eqc")
    run.ask("wrapper:script", "script starts a shell")
    if text is None:
        text = next((run.words[at + 1] for at, word in enumerate(run.words[:-1]) if re.fullmatch(r"-\w*c", word)), None)
    if text is not None:
        return run.code(text)
    inner = run.operands()[1:]
    return run.again(inner) if inner else UNKNOWN


def namespaces(run: Run) -> str | None:
    """`nsenter`, `unshare`: another view of the machine."""
    if run.name == "nsenter":
        run.deny("namespace", "it would enter another process's view of the machine")
    if run.has("-r", "-U", "-m", "--map-root-user", "--user", "--mount", "--map-users"):
        run.deny("namespace", "it would become root in a view of the machine of its own")
    run.ask("namespace", "it would leave its view of the machine")
    inner = inner_words(run, _row("-S -G -R -w --root --wd --setuid --setgid --propagation"))
    return run.again(inner) if inner else UNKNOWN


def change_root(run: Run) -> str | None:
    """`chroot folder command`."""
    target = plain((run.operands() or [""])[0])
    if target in {"/host", "/mnt", "/rootfs", "/hostfs", "/proc/1/root", "/"} or target.startswith(("/proc/", "/host")):
        run.deny("namespace", f"it would go over into {target}, the machine outside")
    return wrapped(run)


def compare_speed(run: Run) -> str | None:
    """`hyperfine 'a' 'b'`: each word is a text for a shell."""
    for text in run.operands(
        "-w -m -r -M -S --warmup --runs --min-runs --max-runs --shell --export-json --export-markdown"
    ):
        run.code(text)
    for option in ("--prepare", "-p", "--cleanup", "-c", "--setup", "-s"):
        text = run.after(option)
        if text:
            run.code(text)
    return None


def at_time(run: Run) -> str | None:
    """`at`, `batch`: what comes in runs later."""
    run.ask("later", "it would run commands later, when nobody looks")
    if run.stdin is not None and not vague(run.stdin):
        run.code(run.stdin)
    elif run.stdin is not None:
        run.again(["sh"])
    return None


def terminal(run: Run) -> str | None:
    """`tmux`, `screen`, terminals: a command in another window."""
    if run.words in (["ls"], ["list-sessions"], ["-ls"], ["-list"], ["-V"], ["list-windows"]):
        return None
    run.ask("window", f"{run.name} starts commands in a place of its own")
    words = run.operands("-S -L -t -n -s -c -x -y -f -p -T -h -e")
    rest = [word for word in words if word not in {"new", "new-session", "new-window", "send-keys", "Enter", "C-m"}]
    if rest:
        run.code(" ".join(rest))
    if run.after("-display", "--display"):
        run.deny("network-shell", "it would open a shell on another machine's screen")
    return None


def in_parallel(run: Run) -> str | None:
    """`parallel command ::: words`."""
    words = run.words
    cut = next((at for at, word in enumerate(words) if word.startswith(":::")), len(words))
    inner = inner_words(
        Run(run.path, run.name, words[:cut], run.stdin, (run.machine, run.scope)),
        _row("-j -P -I -a --jobs --colsep -d --joblog --results --timeout -S --retries --delay -N -n"),
    )
    given = [word for word in words[cut:] if not word.startswith(":::")] or [LOOSE]
    for value in given[:8]:
        line = [word.replace("{}", value) for word in inner]
        if not any("{}" in word for word in inner):
            line.append(value)
        run.code(" ".join(line)) if not vague(" ".join(line)) else run.again(line)
    if run.after("-S", "--sshlogin"):
        run.ask("remote", "it would run on another machine")
    return None


def _loader(run: Run) -> str | None:
    run.ask("wrapper:ld.so", "the loader runs any file")
    inner = inner_words(run, WRAPPERS["ld.so"])
    return run.again(inner) if inner else None


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(WRAPPERS, wrapped),
    "env": environment,
    "command": query_or_run,
    "exec": execute,
    "su": switch_user,
    "runuser": switch_user,
    "script": record,
    "nsenter": namespaces,
    "unshare": namespaces,
    "chroot": change_root,
    "hyperfine": compare_speed,
    "at": at_time,
    "batch": at_time,
    "parallel": in_parallel,
    **dict.fromkeys(("tmux", "screen", "xterm", "gnome-terminal", "konsole", "alacritty", "kitty"), terminal),
    **dict.fromkeys(("ld-linux-x86-64.so.2", "ld-linux.so.2", "ld-linux-aarch64.so.1"), _loader),
}
