"""Windows words that destroy, also where a POSIX shell would only say that it does not know them."""

import re

from toolcrib.safety.shell.marks import plain
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.run import Handle, Run

_DRIVE = re.compile(r"(?i)[a-z]:[\\/]?(?:\*(?:\.\*)?)?")
_FETCHES = re.compile(
    r"(?i)downloadstring|downloadfile|invoke-webrequest|invoke-restmethod|\biwr\b|\birm\b|\bcurl\b|\bwget\b|webclient"
)
_RUNS = re.compile(r"(?i)\biex\b|invoke-expression|\.invoke\(|start-process|\|\s*iex|scriptblock")


def delete(run: Run) -> str | None:
    """`del /f /s`, `rmdir /s`, `rd /s`."""
    flags = {plain(word).lower() for word in run.words if word.startswith("/")}
    if flags & {"/s", "/f", "/q"}:
        run.deny("system-tree", f"{run.name} {' '.join(sorted(flags))} removes without a question and in depth")
    run.ask("remove", f"{run.name} removes files for good")
    return None


def drive(run: Run) -> str | None:
    """`format c:`."""
    if any(_DRIVE.fullmatch(plain(word)) for word in run.words):
        run.deny("device", "it would destroy what is on a disk")
    run.ask("disk", f"{run.name} works on disks")
    return None


def never(run: Run) -> str | None:
    """Boot entries, shadow copies, security software, accounts."""
    told = " ".join(plain(word).lower() for word in run.words)
    bad = (
        "delete",
        "/set",
        "/w",
        "cl ",
        "clean",
        "disable",
        " /add",
        "off",
        "stop",
        "/deny",
        "/f",
        "add",
        "resize",
        "create",
        "/delete",
    )
    if any(word in told for word in bad) or run.name in {"diskpart", "takeown"}:
        run.deny("security-off", f"{run.name} {told[:60]} would harm the machine or its protection")
    run.ask("admin", f"{run.name} changes the machine for all")
    return None


def powershell(run: Run) -> str | None:
    """PowerShell text: fetched and run, or encoded, is never run."""
    told = " ".join(plain(word) for word in run.words) + (plain(run.stdin) if run.stdin else "")
    return judge_text(run, told)


def judge_text(run: Run, told: str) -> str | None:
    """What a PowerShell or cmd text would do, by its words."""
    if _FETCHES.search(told) and _RUNS.search(told):
        run.deny("downloaded-code", "it would run text that came from the network")
    if re.search(r"(?i)(?:^|\s)-e(?:nc|ncodedcommand|c)?\s+[A-Za-z0-9+/=]{16,}", told):
        run.deny("hidden-code", "it would run text that is only decoded on the way")
    if re.search(
        r"(?i)remove-item\b.*-recurse|\b(?:del|rd|rmdir)\s+/[sfq]|format-volume|clear-disk|format\s+[a-z]:", told
    ):
        run.deny("system-tree", "it would remove in depth, without a question")
    if re.search(
        r"(?i)set-mppreference|stop-computer|restart-computer|disable-\w*firewall|vssadmin\s+delete|bcdedit\s+/set|"
        r"new-localuser|tcpclient",
        told,
    ):
        run.deny("security-off", "it would harm the machine or its protection")
    run.machine.storable = False
    run.ask("inline:powershell", f"{run.name} would run a text that is not followed")
    return None


def remove_item(run: Run) -> str | None:
    """`Remove-Item -Recurse -Force`."""
    told = " ".join(plain(word).lower() for word in run.words)
    if "-recurse" in told or "-force" in told:
        run.deny("system-tree", "it would remove in depth, without a question")
    run.ask("remove", "it removes files for good")
    return None


def stranger(run: Run) -> str | None:
    """Programs that come with Windows and run code from elsewhere."""
    told = " ".join(plain(word) for word in run.words)
    if "http" in told.lower() or "javascript:" in told.lower() or "\\\\" in told:
        run.deny("downloaded-code", f"{run.name} would run code from elsewhere")
    run.ask("admin", f"{run.name} can run code from elsewhere")
    return None


def _gone(run: Run) -> str | None:
    run.deny("power", f"{run.name} would stop the machine or empty its disks")
    return None


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(("del", "erase", "rd", "deltree", "DEL"), delete),
    "format": drive,
    **dict.fromkeys(
        names("diskpart vssadmin bcdedit wevtutil cipher takeown icacls reg net netsh sc schtasks wmic"), never
    ),
    **dict.fromkeys(("powershell", "pwsh", "cmd", "powershell_ise"), powershell),
    **dict.fromkeys(("Remove-Item", "ri", "remove-item"), remove_item),
    **dict.fromkeys(
        ("mshta", "regsvr32", "rundll32", "certutil", "bitsadmin", "wscript", "cscript", "msiexec"), stranger
    ),
    **dict.fromkeys(("Stop-Computer", "Restart-Computer", "Clear-Disk", "Format-Volume"), _gone),
    **dict.fromkeys(("iex", "Invoke-Expression"), lambda run: judge_text(run, "iex " + run.told)),
}
