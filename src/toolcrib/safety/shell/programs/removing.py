"""Programs that remove or overwrite: the roots of the system and of people's files are never touched."""

import re
from collections.abc import Sequence

from toolcrib.safety.shell.marks import plain, shown, vague
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.places import (
    credential_file,
    in_temp,
    is_disk,
    is_harmless,
    is_hook,
    is_inside,
    resolved,
    system_file,
    system_root,
)
from toolcrib.safety.shell.run import Handle, Run
from toolcrib.safety.shell.writing import note_read, note_write


def remove(run: Run) -> str | None:
    """`rm`: what is gone stays gone, so it is asked about everywhere but among temporary files."""
    deep = run.has("-r", "-R", "--recursive", "-d", "--dir")
    if run.has("--no-preserve-root"):
        run.deny("system-tree", "it says that even the root may go")
    removed(run, run.operands(), deep=deep)
    return None


def removed(run: Run, targets: Sequence[str], *, deep: bool, how: str = "remove") -> None:
    """Judges what would be gone."""
    for target in targets:
        found = system_root(target, run.cwd)
        if found:
            run.deny(
                "system-tree", f"it would {how} {shown(target)}: {found} is a system tree or somebody's whole home"
            )
        if is_disk(target, run.cwd):
            run.deny("device", f"it would {how} the device {shown(target)}")
        single = system_file(target, run.cwd)
        if single and not (vague(target) and plain(target) in {"", "/"}):
            run.deny("system-path", f"it would {how} {single}, a file of the system")
        path = resolved(target, run.cwd)
        if path.endswith("_history") or path.startswith("/var/log"):
            run.deny("traces", f"it would {how} {shown(target)}, a record of what was done")
    safe = targets and all(in_temp(resolved(target)) and not vague(target) for target in targets)
    if not safe or how != "remove":
        kind = "recursive" if deep else "remove"
        run.ask(kind, f"it would {how} {' '.join(shown(target) for target in targets)[:80]} for good")


def overwrite(run: Run) -> str | None:
    """`shred`, `truncate`, `wipe`, `srm`."""
    removed(run, run.operands("-s -n -r --size --iterations --reference"), deep=False, how="overwrite")
    return None


def copy_blocks(run: Run) -> str | None:
    """`dd if=.. of=..`: the usual way to lose a disk."""
    for word in run.words:
        name, _, value = word.partition("=")
        if name == "of":
            note_write(run.machine, value, run.scope, "overwrite")
            run.ask("dd", f"it would overwrite {shown(value)}") if not is_harmless(value) else None
        elif name == "if":
            note_read(run.machine, value, run.scope)
    return None


_FORMATS = "wipefs fdisk sfdisk cfdisk gdisk sgdisk parted blkdiscard badblocks hdparm mkswap mke2fs"
_LISTS = ("-l", "--list", "-n", "--noact", "-I", "--version", "--help", "-V")


def format_disk(run: Run) -> str | None:
    """`mkfs`, `fdisk` and the like: listing is asked about, everything else on a device is not done."""
    if any(word in _LISTS for word in run.words):
        run.ask("disk", f"{run.name} looks at disks")
        return None
    aims = run.operands("-t -L -n -b -o -a")
    if any(plain(word).startswith("/dev/") or vague(word) for word in aims) or not aims:
        run.deny("device", f"{run.name} would destroy what is on a disk")
    run.ask("disk", f"{run.name} would make a file system")
    return None


_STARTERS = ("flashrom", "debugfs", "efibootmgr", "grub-install")


_TAKERS = names("pvremove vgremove lvremove vgreduce lvreduce sg_format newfs mkntfs mkdosfs blkdiscard")
_CHECKERS = names("resize2fs tune2fs e2fsck fsck xfs_repair xfs_growfs ntfsfix reiserfsck btrfstune xfs_admin")
_WIPES = re.compile(r"(?:^| )(?:(?:wipe|of)=/dev/|--stop /dev/|device (?:delete|remove) |-S /dev/md)")


def volumes(run: Run) -> str | None:
    """Logical volumes, arrays, encrypted disks."""
    told = " ".join(plain(word) for word in run.words)
    bad = names(
        "luksFormat luksErase erase destroy --zero-superblock format sanitize eraseDisk eraseVolume zeroDisk",
        "partitionDisk secureErase labelclear",
    )
    writes = {
        "flashrom": ("-w", "-E", "--write", "--erase"),
        "debugfs": ("-w",),
        "efibootmgr": ("-B", "--delete-bootnum"),
    }
    if run.has(*writes.get(run.name, ())) or (run.name == "grub-install" and "/dev/" in told):
        run.deny("device", f"{run.name} would write over what the machine starts from")
    checks = run.has("-n", "-N", "-l", "--dry-run") or run.name not in _CHECKERS
    gone = run.name in _TAKERS or any(word in told.split() for word in bad) or bool(_WIPES.search(told))
    if gone or (not checks and "/dev/" in told):
        run.deny("device", f"{run.name} would destroy what is on a disk")
    run.ask("disk", f"{run.name} changes disks")
    return None


def modes(run: Run) -> str | None:
    """`chmod`, `chown`, `chgrp`, `chattr`, `setfacl`."""
    rest = run.operands("--reference --from -m -x -M -X")
    if run.has("--reference") or run.name == "setfacl":
        first, targets = "", rest
    else:
        first, targets = (rest[0] if rest else ""), rest[1:]
    first, targets = _symbolic(run, first, targets)
    deep = run.has("-R", "--recursive")
    for target in targets:
        if system_root(target, run.cwd) and (deep or run.name != "chmod" or "7" in first or "w" in first):
            run.deny("system-tree", f"it would change the rights of {shown(target)}, a system tree")
        if system_file(target, run.cwd):
            run.deny("system-path", f"it would change the rights of {shown(target)}, a file of the system")
    bits = plain(first)
    if run.name == "chmod" and _sets_id(bits):
        run.deny("setuid", "it would let others run a file with its owner's rights")
    if run.name != "chmod" or deep or _open_to_all(bits) or not targets:
        run.ask("rights", f"it would change the rights of {' '.join(map(shown, targets))[:80]}")
    _whose(run, targets)
    return None


def _whose(run: Run, targets: list[str]) -> None:
    for target in targets:
        if not is_inside(target, run.cwd, run.machine.workspace) or vague(target):
            run.ask("outside", f"it would change the rights of {shown(target)}, outside the workspace")
        elif is_hook(target, run.cwd) or credential_file(target, run.cwd):
            run.ask("hook", f"it would change the rights of {shown(target)}")


def _symbolic(run: Run, first: str, targets: list[str]) -> tuple[str, list[str]]:
    """`chmod -x file`: the mode looks like an option."""
    if run.name == "chattr":
        every = [first, *targets] if first else targets
        return "", [word for word in every if not word.startswith(("+", "="))]
    if run.name != "chmod":
        return first, targets
    for word in run.words:
        if word.startswith("-") and set(word[1:]) <= set("rwxXst,+=ugoa") and word[1:]:
            return word, [first, *targets] if first else targets
    return first, targets


def _sets_id(mode: str) -> bool:
    return (len(mode) == 4 and mode.isdigit() and mode[0] in "24567") or ("s" in mode and "+" in mode) or "=s" in mode


def _open_to_all(mode: str) -> bool:
    if mode.isdigit():
        return mode[-1] in "2367"
    return "w" in mode and any(who in mode for who in ("o+", "a+", "o=", "a=", "go+", "ugo+"))


def move_to_trash(run: Run) -> str | None:
    """`rimraf`, `trash`, `del-cli`: removal by another name."""
    removed(run, run.operands(), deep=True)
    return None


def dangling(run: Run) -> str | None:
    """`unlink`, `rmdir`: one thing at a time. An empty folder is no loss."""
    targets = run.operands()
    empty = run.name == "rmdir" and bool(targets)
    if empty and all(_own(run, word) for word in targets):
        return None
    removed(run, targets, deep=False)
    return None


def _own(run: Run, word: str) -> bool:
    return is_inside(word, run.cwd, run.machine.workspace) and not system_root(word, run.cwd) and not vague(word)


HANDLES: dict[str, Handle] = {
    "rm": remove,
    **dict.fromkeys(("shred", "truncate", "wipe", "srm", "scrub"), overwrite),
    **dict.fromkeys(("dd", "dcfldd", "dc3dd"), copy_blocks),
    **dict.fromkeys(_FORMATS.split(), format_disk),
    **dict.fromkeys(
        (
            "mkfs",
            *(
                "mkfs." + kind
                for kind in [
                    "ext2",
                    "ext3",
                    "ext4",
                    "xfs",
                    "btrfs",
                    "vfat",
                    "fat",
                    "ntfs",
                    "f2fs",
                    "exfat",
                    "msdos",
                    "minix",
                ]
            ),
        ),
        format_disk,
    ),
    **dict.fromkeys(
        [
            "pvremove",
            "vgremove",
            "lvremove",
            "cryptsetup",
            "zpool",
            "zfs",
            "mdadm",
            "nvme",
            "diskutil",
            "lvm",
            *_STARTERS,
            *_TAKERS,
            *_CHECKERS,
            *names("lvcreate lvresize lvextend vgcreate pvcreate btrfs dc3dd dcfldd"),
        ],
        volumes,
    ),
    **dict.fromkeys(("chmod", "chown", "chgrp", "chattr", "setfacl", "chflags"), modes),
    **dict.fromkeys(("rimraf", "trash", "del-cli", "trash-put", "gio-trash"), move_to_trash),
    **dict.fromkeys(("unlink", "rmdir"), dangling),
}
