"""Programs that rule the machine: power, accounts, kernel, services, firewall, processes, planned work."""

import re

from toolcrib.safety.shell.marks import UNKNOWN, plain
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.places import system_root
from toolcrib.safety.shell.programs.shells import untrusted
from toolcrib.safety.shell.run import Handle, Run

_HELP = frozenset(("--help", "-h", "--version", "-V"))


def _only_help(run: Run) -> bool:
    return len(run.words) == 1 and run.words[0] in _HELP


def power(run: Run) -> str | None:
    """Turning the machine off."""
    if not _only_help(run) and not run.has("-c", "--show"):
        if run.name in {"init", "telinit"} and run.operands()[:1] not in (["0"], ["6"], ["1"], ["s"], ["S"]):
            run.ask("power", "it would change what the machine runs")
            return None
        run.deny("power", f"{run.name} would stop the machine")
    run.ask("power", f"{run.name} is about stopping the machine")
    return None


_POWER = re.compile(r"(?i)\b(?:power[ ]+(?:off|cycle|reset|soft)|PowerOff|Reboot|Halt|Suspend|Hibernate)\b")


def power_far(run: Run) -> str | None:
    """`rtcwake`, `ipmitool`, `dbus-send`: a machine is stopped by asking somebody to do it."""
    if run.name in {"ipmitool", "dbus-send", "busctl", "gdbus"}:
        if _POWER.search(" ".join(plain(word) for word in run.words)):
            run.deny("power", f"{run.name} would stop a machine")
    elif not _only_help(run) and not run.has("-n", "--dry-run", "--show"):
        run.deny("power", f"{run.name} would stop the machine")
    run.ask("admin", f"{run.name} speaks to what runs the machine")
    return None


def accounts(run: Run) -> str | None:
    """Who may log in."""
    looks = {"passwd": ("-S", "--status"), "chage": ("-l", "--list")}.get(run.name, ())
    if _only_help(run) or (run.has(*looks) if looks else False):
        return None
    run.deny("account", f"{run.name} would change who may log in")
    return None


_OFF = ("poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "rescue", "emergency", "soft-reboot", "exit")
_WATCHERS = names(
    "firewalld ufw auditd apparmor fail2ban rsyslog syslog systemd-journald crowdsec falco clamav",
    "clamav-daemon iptables nftables selinux ossec wazuh-agent osqueryd syslog-ng sysmon falcon-sensor",
    "ssh sshd NetworkManager networking dbus",
)
_LOOK = frozenset(
    names(
        "status show list-units list-unit-files is-active is-enabled is-failed cat list-timers list-sockets",
        "list-jobs list-dependencies get-default show-environment --version --failed help",
    )
)


def services(run: Run) -> str | None:
    """`systemctl`, `service`."""
    words = [plain(word) for word in run.operands("-H -M -t -p -n --host --machine --type --property --state")]
    verb = words[0] if words else "list-units"
    if run.name == "service":
        words.reverse()
        verb = words[0] if words else "status"
    if verb in _OFF:
        run.deny("power", f"{run.name} {verb} would stop the machine")
    units = {word.removesuffix(".service") for word in words[1:]}
    if verb in {"stop", "disable", "mask", "kill"} and units & set(_WATCHERS):
        run.deny("security-off", f"it would turn {', '.join(sorted(units & set(_WATCHERS)))} off")
    if verb == "isolate":
        run.deny("power", "it would stop what the machine runs")
    if verb not in _LOOK and "--status-all" not in run.words:
        run.ask("service", f"{run.name} {verb} changes what the machine runs")
    if run.has("-H", "--host"):
        run.ask("remote", "it would act on another machine")
    return None


def login(run: Run) -> str | None:
    """`loginctl`."""
    verb = plain((run.operands() or ["list-sessions"])[0])
    if verb in {"poweroff", "reboot", "suspend", "hibernate", "halt"}:
        run.deny("power", f"loginctl {verb} would stop the machine")
    if verb.startswith(("terminate", "kill")):
        run.ask("service", "it would end sessions")
    return None


def kernel(run: Run) -> str | None:
    """Kernel modules and other kernels."""
    if run.name == "modinfo" or _only_help(run) or run.has("-n", "--dry-run", "--show-depends"):
        return None
    run.deny("kernel", f"{run.name} would change the kernel")
    return None


def tune(run: Run) -> str | None:
    """`sysctl`: reading is free."""
    if run.has("-w", "--write", "-p", "--load", "--system", "-f") or any("=" in word for word in run.operands()):
        run.deny("kernel", "it would change how the kernel behaves")
    return None


def mount(run: Run) -> str | None:
    """`mount`: without words it lists."""
    words = run.operands("-t -o -L -U --types --options")
    if not words or run.name == "findmnt":
        return None
    told = " ".join(plain(word) for word in run.words)
    over = plain(words[-1])
    host = (len(words) > 1 and not over.startswith(("/mnt", "/media")) and bool(system_root(over))) or any(
        plain(word).startswith(("/dev/", "/proc", "/host")) or plain(word) == "/" for word in words
    )
    if host or "bind" in told or "remount" in told or "overlay" in told or "cgroup" in told or run.name == "pivot_root":
        run.deny("namespace", "it would bring another part of the machine into view, or change how it is mounted")
    run.ask("mount", "it would mount a file system")
    return None


def unmount(run: Run) -> str | None:
    """`umount`, `swapoff`."""
    if run.name == "swapon" and run.has("-s", "--show", "--summary"):
        return None
    if run.has("-a", "--all") or any(plain(word) in {"/", "/home", "/boot", "/usr", "/var"} for word in run.words):
        run.deny("system-tree", "it would take file systems away from the machine")
    run.ask("mount", f"{run.name} would take something away from the machine")
    return None


def firewall(run: Run) -> str | None:
    """Packet filters and access control."""
    words = [plain(word) for word in run.words]
    told = " ".join(words)
    look = run.has("-L", "--list", "-S", "--list-rules", "--list-all", "--state", "--help", "--version") or words[
        :1
    ] in (["status"], ["list"], ["show"])
    off = {
        "disable",
        "reset",
        "flush",
        "0",
        "Permissive",
        "permissive",
        "--panic-on",
        "-F",
        "--flush",
        "-X",
        "-Z",
        "delete",
    }
    if not look and (off & set(words) or "-P INPUT ACCEPT" in told or "-j ACCEPT" in told or "policy ACCEPT" in told):
        run.deny("security-off", f"{run.name} {told[:60]} would open what keeps others out")
    if not look:
        run.ask("firewall", f"{run.name} changes what keeps others out")
    return None


def watch_off(run: Run) -> str | None:
    """Programs whose only use here is to switch protection off."""
    told = " ".join(plain(word) for word in run.words)
    if run.name == "setenforce" and told.strip() in {"1", "Enforcing"}:
        run.ask("security", "it changes access control")
        return None
    if run.name in {"getenforce", "sestatus", "aa-status"} or told in {"status", "--status", "-s", "-l"}:
        return None
    run.deny("security-off", f"{run.name} {told[:60]} would turn protection off")
    return None


def kill(run: Run) -> str | None:
    """`kill`: everything, or the first process, is the same as stopping the machine."""
    words = [plain(word) for word in run.words]
    signals = 1 if words and words[0].startswith("-") and words[0] not in {"-s", "-n"} else 0
    aims = words[2:] if words[:1] in (["-s"], ["-n"]) else words[signals:]
    aims = [word for word in aims if word != "--"]
    if words[:1] in (["-l"], ["-L"], ["-0"]):
        return None
    if any(word in {"-1", "1", "0"} for word in aims) or (words == ["-1"]):
        run.deny("power", "it would end every process")
    run.ask("kill", "it would end a process")
    return None


def kill_by_name(run: Run) -> str | None:
    """`pkill`, `killall`."""
    words = [plain(word) for word in run.operands("-u -U -s -g -G -P -t --signal -o -y")]
    user = run.after("-u", "-U", "--user", "--euid", "--uid")
    wide = {"", ".", ".*", "init", "systemd", "*"}
    if run.name == "killall5" or (user in {"root", "0"} and not words) or set(words) & wide:
        run.deny("power", "it would end every process")
    if not run.words and run.name == "killall":
        run.ask("kill", "it would end processes")
    run.ask("kill", f"{run.name} would end processes by their name")
    return None


def crontab(run: Run) -> str | None:
    """`crontab`: a text that comes in is judged line by line."""
    if run.has("-l") and not run.has("-r"):
        return None
    if run.has("-r"):
        run.deny("planned-work", "it would remove all planned work")
    if run.stdin is not None:
        untrusted(run, run.stdin, "crontab")
        run.deny("start-up", "it would plan commands for later, when nobody looks")
        for line in run.stdin.split("\n")[:50]:
            parts = line.split(None, 5)
            if len(parts) == 6 and not line.startswith("#"):
                run.code(parts[5])
    run.ask("later", "it would plan commands for later, when nobody looks")
    return None


def clear_log(run: Run) -> str | None:
    """`journalctl --vacuum`, `dmesg -C`, `wevtutil cl`, `logrotate -f`."""
    if run.has("--vacuum-time", "--vacuum-size", "--vacuum-files", "--rotate"):
        run.deny("traces", "it would erase records of what was done")
    if run.has("--flush", "--relinquish-var", "--setup-keys", "--sync"):
        run.ask("traces", "it changes records of what was done")
    return UNKNOWN


def capabilities(run: Run) -> str | None:
    """`setcap`: a right of root's on a file."""
    if any("+" in plain(word) or "=" in plain(word) for word in run.words):
        run.deny("setuid", "it would let others run a file with rights of root")
    run.ask("admin", "setcap changes the machine for all")
    return None


def admin(run: Run) -> str | None:
    """Programs of the administrator, asked about whatever they do."""
    run.ask("admin", f"{run.name} changes the machine for all")
    return None


def packages(run: Run) -> str | None:
    """The system's packages: looking is free."""
    look = names(
        "list search show info policy depends rdepends madison why query -l --list -s -S -L -p -W --help -h",
        "--version outdated leaves deps desc formulae cask-list whatprovides provides repolist -qa -q -qi -ql",
        "-Q -Qs -Ss -Si -Ql",
    )
    verb = plain(run.words[0]) if run.words else "list"
    hooks = any("::" in word or word.startswith(("-o", "--option", "-c")) for word in run.words)
    if verb in look and not hooks and run.name != "rpm":
        return None
    if run.name == "rpm" and verb.startswith("-q") and not any("pipe" in word or "eval" in word for word in run.words):
        return None
    told = " ".join(plain(word) for word in run.words)
    if "--force-yes" in told or "--allow-remove-essential" in told or "remove-essential" in told:
        run.deny("system-tree", "it would remove what the machine needs")
    run.ask("packages", f"{run.name} {verb} changes what is installed on the machine")
    return None


def network_setup(run: Run) -> str | None:
    """`ip`, `ifconfig`, `route`: looking is free."""
    words = [plain(word) for word in run.operands("-f -family")]
    looks = {"show", "list", "ls", "get", "help", "monitor", "lst"}
    if run.has("-b", "-batch", "-force", "-n", "-netns"):
        run.ask("network-setup", "it changes the machine's network")
    if run.name == "ip" and words and words[0] == "netns" and "exec" in words:
        run.again(words[words.index("exec") + 2 :])
        run.deny("namespace", "it would enter another view of the network")
    if (run.name == "ip" and len(words) > 1 and words[1] not in looks) or (run.name != "ip" and len(words) > 1):
        if {"flush", "down"} & set(words):
            run.deny("network-setup", "it would cut the machine off")
        run.ask("network-setup", "it changes the machine's network")
    return None


def times(run: Run) -> str | None:
    """`timedatectl`, `hostnamectl`, `localectl`: looking is free."""
    words = [plain(word) for word in run.operands()]
    if words and not words[0].startswith(("status", "show", "list")):
        run.ask("admin", f"{run.name} changes the machine for all")
    return None


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(
        names("rtcwake pm-suspend pm-hibernate pm-suspend-hybrid ipmitool dbus-send busctl gdbus"), power_far
    ),
    **dict.fromkeys(["shutdown", "reboot", "poweroff", "halt", "init", "telinit"], power),
    **dict.fromkeys(
        names(
            "useradd adduser userdel deluser usermod groupadd addgroup groupdel delgroup groupmod gpasswd passwd",
            "chpasswd newusers visudo vipw vigr chsh chfn chage dscl pwconv grpconv pwunconv grpunconv faillock dseditgroup sysadminctl realm",
        ),
        accounts,
    ),
    **dict.fromkeys(("systemctl", "service", "rc-service"), services),
    "loginctl": login,
    **dict.fromkeys(["insmod", "modprobe", "rmmod", "kexec", "depmod", "kextload", "kldload", "bpftool"], kernel),
    "sysctl": tune,
    **dict.fromkeys(("mount", "pivot_root", "losetup", "mount.nfs", "sshfs", "fusermount"), mount),
    **dict.fromkeys(("umount", "swapoff", "swapon"), unmount),
    **dict.fromkeys(
        ["iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "iptables-restore", "ipset", "pfctl", "ebtables"],
        firewall,
    ),
    **dict.fromkeys(
        names(
            "setenforce auditctl aa-disable aa-teardown aa-complain spctl csrutil apparmor_parser semanage",
            "getenforce sestatus aa-status",
        ),
        watch_off,
    ),
    "kill": kill,
    **dict.fromkeys(("pkill", "killall", "killall5", "skill", "xkill"), kill_by_name),
    **dict.fromkeys(("crontab", "fcrontab"), crontab),
    "setcap": capabilities,
    "journalctl": clear_log,
    **dict.fromkeys(
        names(
            "update-alternatives alternatives ldconfig update-grub grub-mkconfig",
            "dpkg-reconfigure restorecon chcon update-initramfs dracut launchctl defaults networksetup",
            "scutil nmcli update-rc.d chkconfig logrotate quotacheck newgrp",
        ),
        admin,
    ),
    **dict.fromkeys(
        names(
            "apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk brew port snap flatpak emerge apt-cache",
            "dpkg-query microdnf nix-env opkg pkg slackpkg xbps-install eopkg choco winget scoop apt-key",
            "add-apt-repository nix",
        ),
        packages,
    ),
    **dict.fromkeys(("ip", "ifconfig", "route", "ethtool", "iwconfig", "tc"), network_setup),
    **dict.fromkeys(("timedatectl", "hostnamectl", "localectl"), times),
}
