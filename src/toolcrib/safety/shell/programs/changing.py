"""Programs that write, copy, move or link files."""

from toolcrib.safety.shell.marks import UNKNOWN, plain, shown, vague
from toolcrib.safety.shell.places import is_disk, is_harmless, is_inside, resolved, system_file, system_root
from toolcrib.safety.shell.run import Handle, Run
from toolcrib.safety.shell.writing import note_write


def copy(run: Run) -> str | None:
    """`cp`, `mv`, `install`, `ln`: the last word is written, unless `-t` names a folder."""
    words = run.operands("-t -S -m -o -g --target-directory --suffix --mode --owner --group")
    target = run.after("-t", "--target-directory")
    sources = words if target is not None else words[:-1]
    aim = target if target is not None else (words[-1] if words else "")
    if run.name == "install" and run.has("-d", "--directory"):
        sources, aims = [], words
    else:
        aims = [aim]
    for each in aims:
        if run.name == "mv" and is_harmless(each):
            run.ask("remove", f"what is moved to {shown(each)} is gone")
        note_write(run.machine, each, run.scope, mild=True)
    _taken(run, sources)
    if run.name == "install" and (mode := run.after("-m", "--mode")) and len(mode) == 4 and mode[0] in "24567=":
        run.deny("setuid", "it would let others run a file with its owner's rights")
    if any(vague(word) for word in words):
        run.ask("path:unknown", "which files it takes is not known before it runs")
    _carried(run, sources, aims[0] if aims else "")
    return None


def _taken(run: Run, sources: list[str]) -> None:
    for source in sources:
        if run.name == "mv" and (found := system_root(source, run.cwd)):
            run.deny("system-tree", f"it would move {found} away")
        if run.name == "mv" and system_file(source, run.cwd):
            run.deny("system-path", f"it would move {shown(source)} away, a file of the system")
        if run.name == "mv" and plain(source) in {"*", ".", "./*", "../*"}:
            run.ask("recursive", "it would move everything away")
        if run.name == "mv" and not is_inside(source, run.cwd, run.machine.workspace):
            run.ask("outside", f"it would move {shown(source)}, outside the workspace")
        if run.name == "ln" and (system_file(source, run.cwd) or system_root(source, run.cwd)):
            run.ask("outside", f"a link to {shown(source)} would lead out of the workspace")
        if run.name == "cp" and (is_disk(source, run.cwd) or _shell_binary(source)):
            run.ask("device", f"it would copy {shown(source)}")


def _shell_binary(word: str) -> bool:
    return plain(word) in {"/bin/sh", "/bin/bash", "/bin/dash", "/usr/bin/bash", "/bin/zsh"}


def _carried(run: Run, sources: list[str], aim: str) -> None:
    """What is known of a file goes with it, also into a folder."""
    for source in sources:
        content = run.scope.files.get(resolved(source, run.cwd))
        if content is not None:
            run.scope.files[resolved(aim, run.cwd)] = content
            folder = plain(aim).rstrip("/") + "/" + plain(source).rpartition("/")[2]
            run.scope.files[resolved(folder, run.cwd)] = content
            run.scope.wrote = True


def tee(run: Run) -> str | None:
    """`tee file`: writes what comes in."""
    for word in run.operands():
        note_write(run.machine, word, run.scope)
        path = resolved(word, run.cwd)
        if not path.startswith("/dev/"):
            run.scope.files[path] = run.stdin if run.stdin is not None else UNKNOWN
            run.scope.wrote = True
        if vague(word):
            run.ask("path:unknown", "where it would write is not known before it runs")
    return run.stdin


def make(run: Run) -> str | None:
    """`touch`, `mkdir`, `mktemp`: new names, nothing lost."""
    if run.name == "mktemp":
        return "/tmp/made" + UNKNOWN  # noqa: S108 - what mktemp prints
    for word in run.operands("-m --mode -d -t -r --date --reference"):
        if vague(word) and not plain(word):
            run.ask("path:unknown", "what it would make is not known before it runs")
        note_write(run.machine, word, run.scope, "make", mild=True)
    return None


def split(run: Run) -> str | None:
    """`split`, `csplit`: writes parts; `--filter` runs a shell for each."""
    text = run.after("--filter")
    if text is not None:
        run.code(text, None, UNKNOWN)
    run.ask("writes", f"{run.name} would write files")
    return None


def pack_one(run: Run) -> str | None:
    """`gzip` and its like: a file is replaced by its packed form."""
    if run.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test") or not run.operands():
        return None
    for word in run.operands("-S --suffix -T"):
        note_write(run.machine, word, run.scope, "replace")
    return None


def sponge(run: Run) -> str | None:
    """Programs that write the file that they are given."""
    for word in run.operands("-o"):
        note_write(run.machine, word, run.scope)
    run.ask("writes", f"{run.name} would write files")
    return None


def patch(run: Run) -> str | None:
    """`patch`: changes files that the patch names; an ed script in it would run."""
    run.ask("patch", "which files it changes stands in the patch")
    return None


def known_output(run: Run) -> str | None:
    """`> file` by another name: `iconv -o`, `objcopy`, `enscript -o`."""
    aim = run.after("-o", "--output")
    if aim is not None:
        note_write(run.machine, aim, run.scope)
        run.ask("writes", f"{run.name} would write {shown(aim)}")
    return None


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(("cp", "mv", "install", "ln", "link", "gcp", "gmv"), copy),
    "tee": tee,
    **dict.fromkeys(("touch", "mkdir", "mktemp"), make),
    **dict.fromkeys(("split", "csplit"), split),
    **dict.fromkeys(
        ["gzip", "bzip2", "xz", "zstd", "lz4", "gunzip", "bunzip2", "unxz", "unzstd", "compress", "uncompress"],
        pack_one,
    ),
    **dict.fromkeys(("sponge", "dos2unix", "unix2dos", "mkfifo", "mknod", "ed", "ex"), sponge),
    "patch": patch,
    "iconv": known_output,
}
