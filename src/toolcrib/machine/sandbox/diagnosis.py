"""Why bubblewrap cannot hold programs here, and what a person can do about it."""

import os
from pathlib import Path

INSTALL = (
    "Install bubblewrap: apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), "
    "apk add bubblewrap (Alpine)."
)
NOT_LINUX = (
    "This version holds programs on Linux only. Run Toolcrib in a Linux machine or container, or open this machine "
    "with unsafe_host."
)
# A setting of the kernel, the value that stands in the way, and the way out of it.
_SETTINGS = (
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor keeps user namespaces from programs without a profile (Ubuntu 23.10 and later). Give bwrap one: put "
        "'abi <abi/4.0>, profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }' in /etc/apparmor.d/bwrap, and "
        "run: systemctl reload apparmor. Or allow all: sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "kernel/unprivileged_userns_clone",
        "0",
        "User namespaces are switched off for users. Run: sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "user/max_user_namespaces",
        "0",
        "User namespaces are switched off. Run: sysctl user.max_user_namespaces=15000",
    ),
)
_CONTAINER = (
    "Containers refuse user namespaces by default. Start this one with --security-opt seccomp=unconfined --security-opt "
    "apparmor=unconfined --security-opt systempaths=unconfined, or let Toolcrib use Docker itself."
)


def short(said: str) -> str:
    """The last line of what a program said, when it failed."""
    return (said.strip().splitlines() or ["it said nothing"])[-1][-200:]


def fix(*, settings: str = "/proc/sys", root: str = "/") -> str:
    """What to do, from what this machine is set to."""
    for name, value, mend in _SETTINGS:
        if _value(Path(settings, name)) == value:
            return mend
    if any(os.path.exists(os.path.join(root, mark)) for mark in (".dockerenv", "run/.containerenv")):
        return _CONTAINER
    return "See what it says: bwrap --unshare-user --ro-bind / / true"


def _value(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
