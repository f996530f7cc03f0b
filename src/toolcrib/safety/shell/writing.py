"""Whether a path may be written or read without a question. Used by redirections and by programs."""

from toolcrib.safety.shell.judged import ASK, DENY
from toolcrib.safety.shell.marks import shown, vague
from toolcrib.safety.shell.places import (
    credential_file,
    is_disk,
    is_harmless,
    is_hook,
    is_inside,
    is_network,
    is_startup,
    resolved,
    system_file,
)
from toolcrib.safety.shell.run import Machine
from toolcrib.safety.shell.scope import Scope

_NEVER = ("authorized_keys", "/etc/shadow", "/etc/passwd", "/etc/sudoers", "/etc/gshadow")


def note_write(machine: Machine, word: str, scope: Scope, how: str = "write", *, mild: bool = False) -> None:
    """Notes what stands against writing `word`. `mild`: the workspace's own hooks are asked about, not denied."""
    cwd = scope.cwd
    if is_network(word):
        machine.note(DENY, "network-shell", f"{shown(word)} opens a network connection from the shell")
    if is_harmless(word):
        return
    if is_disk(word, cwd):
        machine.note(DENY, "device", f"it would {how} the device {shown(word)} and destroy what is on it")
    path = resolved(word, cwd)
    _never(machine, word, path, cwd, how)
    if is_hook(word, cwd):
        level = DENY if "/hooks/" in path and not mild else ASK
        machine.note(level, "hook", f"it would {how} {shown(word)}, which tools run or trust later")
    _doubts(machine, word, scope, how)


def _never(machine: Machine, word: str, path: str, cwd: str, how: str) -> None:
    if any(part in path for part in _NEVER):
        machine.note(DENY, "account", f"it would {how} {shown(word)}, which decides who may log in")
    if path.endswith("_history") or path.startswith(("/var/log/", "/var/run/utmp")):
        machine.note(DENY, "traces", f"it would {how} {shown(word)}, a record of what was done")
    if is_startup(word, cwd):
        machine.note(DENY, "start-up", f"it would {how} {shown(word)}, which later shells or logins run")
    if (found := system_file(word, cwd)) and not is_inside(word, cwd, machine.workspace):
        machine.note(DENY, "system-path", f"it would {how} {found}, a file of the system")


def _doubts(machine: Machine, word: str, scope: Scope, how: str) -> None:
    cwd = scope.cwd
    if credential_file(word, cwd):
        machine.note(ASK, "credential", f"it would {how} the credential file {shown(word)}")
    elif not is_inside(word, cwd, machine.workspace):
        machine.note(ASK, "outside", f"it would {how} {shown(word)}, outside the workspace")
    elif vague(word):
        machine.note(ASK, "path:unknown", f"where it would {how} is not known before it runs: {shown(word)}")


def note_read(machine: Machine, word: str, scope: Scope) -> bool:
    """Notes it when a credential would be read; gives whether one would be."""
    if is_network(word):
        machine.note(DENY, "network-shell", f"{shown(word)} opens a network connection from the shell")
    if is_disk(word, scope.cwd):
        machine.note(ASK, "device", f"it would read the device {shown(word)}")
    if found := credential_file(word, scope.cwd):
        machine.note(ASK, "credential", f"it would read {found}, a place for credentials")
        return True
    return False
