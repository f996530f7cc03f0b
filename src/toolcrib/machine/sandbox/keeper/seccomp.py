"""System calls that no program needs and many ways out do: refused by a filter in the kernel (seccomp-BPF)."""

import platform
import struct
from functools import cache

from toolcrib.machine.sandbox.launch import written

# arch -> audit number, column of the table
_ARCHES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "arm64": (0xC00000B7, 1)}
_X32 = 0x40000000
# Names with their numbers on x86_64 and aarch64; 0: there is none. From 424 on they are the same everywhere.
_DENIED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "move_pages": (279, 239), "migrate_pages": (256, 238),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "open_tree_attr": (467, 467), "unshare": (272, 97),
    "setns": (308, 268), "bpf": (321, 280), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "userfaultfd": (323, 282), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "perf_event_open": (298, 241), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443), "iopl": (172, 0), "ioperm": (173, 0),
    "modify_ldt": (154, 0), "uselib": (134, 0), "open_by_handle_at": (304, 265), "lookup_dcookie": (212, 18),
    "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "fanotify_init": (300, 262), "sched_setaffinity": (203, 122),
}  # fmt: skip
_CLONE, _CLONE3, _IOCTL, _SOCKET = (56, 220), 435, (16, 29), (41, 198)
_NEW_NAMESPACES = 0x7E020080
_TERMINAL = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX put keys into the terminal of whoever started it
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
FAMILIES = {
    "inside": (_UNIX, _INET, _INET6, _NETLINK),  # a network namespace of its own holds what they reach
    "inet": (_INET, _INET6, _NETLINK),
    "closed": (),
}

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_EPERM, _ENOSYS = 0x00050001, 0x00050026
_NUMBER, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data; the low words of arguments

Step = tuple[int, int, str, str]  # operation, operand, where to go if so, where to go if not


@cache
def program(families: str, machine: str = "") -> bytes:
    """The filter in the kernel's form; empty on machines whose numbers are not known here."""
    known = _ARCHES.get(machine or platform.machine())
    if known is None:
        return b""
    arch, column = known
    steps: list[Step | str] = [(_LOAD, _ARCH, "", ""), (_EQUAL, arch, "", "kill"), (_LOAD, _NUMBER, "", "")]
    if column == 0:
        steps.append((_AT_LEAST, _X32, "deny", ""))
    steps += [(_EQUAL, numbers[column], "deny", "") for numbers in _DENIED.values() if numbers[column]]
    # ENOSYS, not EPERM: libraries then start their threads with clone, whose flags a filter can see.
    steps += [(_EQUAL, _CLONE3, "missing", "")]
    steps += [(_EQUAL, _CLONE[column], "clone", ""), (_EQUAL, _IOCTL[column], "ioctl", "")]
    steps += [(_EQUAL, _SOCKET[column], "socket", "allow")]
    steps += ["clone", (_LOAD, _FIRST, "", ""), (_ANY_BIT, _NEW_NAMESPACES, "deny", "allow")]
    steps += ["ioctl", (_LOAD, _SECOND, "", ""), *((_EQUAL, number, "deny", "") for number in _TERMINAL)]
    steps += ["allow", (_RETURN, _ALLOW, "", "")]
    steps += ["socket", (_LOAD, _FIRST, "", ""), *((_EQUAL, one, "fine", "") for one in FAMILIES[families])]
    steps += ["deny", (_RETURN, _EPERM, "", ""), "missing", (_RETURN, _ENOSYS, "", "")]
    steps += ["fine", (_RETURN, _ALLOW, "", ""), "kill", (_RETURN, _KILL, "", "")]
    return _assembled(steps)


def handle(families: str) -> int:
    """The filter as something to read from, for bubblewrap."""
    return written(program(families))


def _assembled(steps: list[Step | str]) -> bytes:
    places: dict[str, int] = {}
    lines: list[Step] = []
    for step in steps:
        if isinstance(step, str):
            places[step] = len(lines)
        else:
            lines.append(step)
    out = bytearray()
    for at, (operation, operand, yes, no) in enumerate(lines, 1):
        out += struct.pack("=HBBI", operation, places[yes] - at if yes else 0, places[no] - at if no else 0, operand)
    return bytes(out)
