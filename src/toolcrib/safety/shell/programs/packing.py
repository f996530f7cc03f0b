"""Archives and copies of whole trees: `tar`, `zip`, `rsync`, `cpio`."""

import re

from toolcrib.safety.shell.marks import LOOSE, UNKNOWN, plain, shown, vague
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.places import in_temp, system_root
from toolcrib.safety.shell.run import Handle, Run
from toolcrib.safety.shell.writing import note_write

_TAR_RUNS = names("--to-command --use-compress-program --rsh-command --info-script --new-volume-script --rmt-command")


def tar(run: Run) -> str | None:
    """`tar`: listing and packing in the workspace are free, options that run something are not."""
    for option in _TAR_RUNS:
        text = run.after(option)
        if text is not None or run.has(option):
            run.code(plain(text or ":"), None, UNKNOWN)
            run.ask("tar:runs", f"tar {option} would run a command")
    for word in run.words:
        if word.startswith("--checkpoint-action") or (word.startswith("--ch") and "exec" in word):
            run.code(plain(word.partition("exec=")[2]) or ":", None, UNKNOWN)
            run.ask("tar:runs", "tar would run a command at checkpoints")
        if word.startswith(LOOSE):
            run.ask("tar:unknown", "words that are not known before it runs may make tar run something")
    first = plain(run.words[0]) if run.words else ""
    letters = "".join(w[1:] for w in map(plain, run.words) if re.match(r"-[A-Za-z]", w)) + (
        first if first[:1] != "-" else ""
    )
    if re.search(r"[IF]", letters) or run.has("--absolute-names", "--remove-files") or "P" in letters:
        run.ask("tar:option", "tar would run a program, leave its folder, or remove what it packs")
    unpacks = "x" in letters or run.has("--extract", "--get")
    _places(run, letters, unpacks=unpacks)
    return run.unknown()


def _places(run: Run, letters: str, *, unpacks: bool) -> None:
    folder = run.after("-C", "--directory")
    if unpacks and folder is not None:
        note_write(run.machine, folder, run.scope, "unpack into")
    if unpacks and run.cwd.startswith(("/", "~", "..")) and not in_temp(run.cwd):
        run.ask("outside", "it would unpack outside the workspace")
    if not unpacks and ("c" in letters or run.has("--create", "-r", "-u", "--append")):
        rest = run.operands("-C --exclude -T -X --directory")
        name = run.after("-f", "--file") or next(
            (word for word in rest if re.search(r"\.t?(?:ar|gz|bz2|xz|zst|gz)\b", word)), "-"
        )
        if name != "-":
            note_write(run.machine, name, run.scope)
        if ":" in name and not name.startswith("/"):
            run.ask("remote", "tar would write to another machine")


def unzip(run: Run) -> str | None:
    """`unzip`, `7z`, `unrar`: unpacking into the workspace."""
    folder = run.after("-d")
    if folder is not None:
        note_write(run.machine, folder, run.scope, "unpack into")
    if run.name == "unzip" and run.has("-K", "-:"):
        run.ask("archive", "unzip would leave its folder, or give files their owner's rights")
    if run.name == "unzip" and run.has("-l", "-t", "-Z", "-p", "-v", "-z"):
        return run.unknown()
    if run.name != "unzip" and run.words[:1] != ["l"]:
        run.ask("archive", f"{run.name} would write files")
    return run.unknown()


def zip_up(run: Run) -> str | None:
    """`zip -T -TT command` runs a command."""
    if run.has("-T", "-TT", "--unzip-command", "--test", "-m", "--move", "-rT"):
        text = run.after("-TT", "--unzip-command")
        if text:
            run.code(text, None, UNKNOWN)
        run.ask("zip:runs", "zip would run a command, or remove what it packs")
    for word in run.operands("-x -i -b -t -n -s -P")[:1]:
        note_write(run.machine, word, run.scope)
    return None


def rsync(run: Run) -> str | None:
    """`rsync`: `-e` runs a program, `--delete` removes, a colon is another machine."""
    text = run.after("-e", "--rsh", "--rsync-path")
    if text is not None:
        run.code(plain(text) or ":", None, UNKNOWN)
        run.ask("rsync:runs", "rsync would run a program")
    words = run.operands("-e --rsh --exclude --include -f --filter --files-from --bwlimit --chmod --chown")
    remote = [word for word in words if re.match(r"[^/]+:", plain(word)) or plain(word).startswith("rsync://")]
    if remote:
        run.ask("remote", f"it would copy from or to another machine: {shown(remote[0])}")
    if run.has("--delete", "--delete-after", "--delete-before", "--del", "--remove-source-files", "--delete-excluded"):
        run.ask("recursive", "rsync would remove files")
        if words and system_root(words[-1], run.cwd):
            run.deny("system-tree", f"it would empty {shown(words[-1])}")
    if words and not remote:
        note_write(run.machine, words[-1], run.scope)
    if any(vague(word) for word in words):
        run.ask("path:unknown", "which files it takes is not known before it runs")
    return None


def archive(run: Run) -> str | None:
    """`cpio`, `pax`, `ar`-like programs and backups."""
    run.ask("archive", f"{run.name} would write files")
    if run.has("--rsh-command", "--to-stdout"):
        text = run.after("--rsh-command")
        if text:
            run.code(text, None, UNKNOWN)
    return run.unknown()


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), tar),
    **dict.fromkeys(("unzip", "7z", "7za", "7zr", "unrar", "rar"), unzip),
    "zip": zip_up,
    "rsync": rsync,
    **dict.fromkeys(("cpio", "pax", "restic", "borg", "rdiff-backup", "dump"), archive),
}
