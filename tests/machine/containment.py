"""What a program tries in order to get out. It runs inside; what it prints last says whether the walls held.

Usage: containment.py CHECK, with what it should try to reach as JSON on its standard input.
"""

import ctypes
import json
import os
import socket
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)


def tcp(aims):
    with socket.create_connection(("127.0.0.1", aims["tcp"]), timeout=2) as link:
        return f"connected: {link.getpeername()}"


def abstract(aims):
    with socket.socket(socket.AF_UNIX) as link:
        link.connect("\0" + aims["abstract"])
        return "connected"


def udp(aims):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.sendto(b"out", ("127.0.0.1", aims["udp"]))
    return ""  # whether it came is seen outside


def files(aims):
    seen = []
    for path in (aims["secret"], "/etc/shadow", "/root/.bashrc"):
        try:
            with open(path) as file:
                seen += [f"{path}: {file.read(10)!r}"]
        except OSError:
            continue
    for path in (aims["outside"] + "/made", "/etc/made", "/usr/made"):
        try:
            with open(path, "w") as file:
                file.write("made")
        except OSError:
            continue
        if not path.startswith("/tmp"):
            seen.append(f"wrote {path}")
    return ", ".join(seen)


def environment(aims):
    for pid in os.listdir("/proc"):
        if pid.isdecimal():
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if aims["value"].encode() in file.read():
                        return f"seen in process {pid}"
            except OSError:
                continue
    return str([name for name, value in os.environ.items() if aims["value"] in value] or "")


def pids(aims):
    seen = {int(name) for name in os.listdir("/proc") if name.isdecimal()}
    with open(f"/proc/{aims['pid']}/cmdline", "rb") as file:
        return f"process {aims['pid']}: {file.read()!r}" if aims["pid"] in seen else ""


def signals(aims):
    os.kill(aims["pid"], 15)
    return f"process {aims['pid']} could be signalled"


def mounts(_aims):
    os.makedirs("here", exist_ok=True)
    if LIBC.mount(b"none", b"here", b"tmpfs", 0, None) == 0:
        return "mounted"
    return "unshared" if LIBC.unshare(0x10000000 | 0x20000) == 0 else ""


def devices(_aims):
    found = []
    for name, number in (("null", os.makedev(1, 3)), ("disk", os.makedev(8, 0)), ("memory", os.makedev(1, 1))):
        try:
            os.mknod(name, 0o600 | 0o060000 * (name == "disk") | 0o020000 * (name != "disk"), number)
            with open(name, "rb") as file:
                found.append(f"{name}: {file.read(1)}")
        except OSError:
            continue
    for path in ("/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/kvm", "/dev/net/tun", "/dev/fuse"):
        try:
            os.close(os.open(path, os.O_RDONLY))
            found.append(path)
        except OSError:
            continue
    return ", ".join(found)


def capabilities(_aims):
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    LIBC.capget(ctypes.byref(header), ctypes.byref(data))
    return str(list(data)) if any(data) else ""


def setuid(_aims):
    if LIBC.prctl(39, 0, 0, 0, 0) != 1:
        return "new privileges are possible"
    before = os.geteuid()
    for user in {0, 1, 12345} - {before}:
        try:
            os.setuid(user)
        except OSError:
            continue
        return f"became {user}"
    return ""


def memory(_aims):
    held = [bytearray(b"x") * (32 << 20) for _ in range(64)]  # 2 GB
    return f"{len(held)} blocks of 32 MB"


def processes(_aims):
    count = 0
    for _ in range(300):
        try:
            pid = os.fork()
        except OSError:
            return ""
        if pid == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
    return f"{count} processes"


def file_size(aims):
    with open("large", "wb") as file:
        for _ in range(64):
            file.write(b"x" * (1 << 20))
            file.flush()
    return "64 MB"


LASTING = """
import os, signal, time
for number in (1, 2, 15):
    signal.signal(number, signal.SIG_IGN)
os.write({wire}, b"1")
time.sleep(600)
"""


def orphans(aims):
    """Leave a process behind that has a session of its own, no parent, and no ear for signals."""
    read, write = os.pipe()
    os.set_inheritable(write, True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", LASTING.format(wire=write), aims["marker"]])
        os._exit(0)
    os.close(write)
    os.read(read, 1)
    return ""


CHECKS = {
    "tcp": tcp, "abstract sockets": abstract, "udp": udp, "host files": files, "environment": environment,
    "pids": pids, "signals": signals, "mounts": mounts, "devices": devices, "capabilities": capabilities,
    "setuid": setuid, "memory": memory, "processes": processes, "file size": file_size, "orphans": orphans,
}  # fmt: skip


def main():
    """Try one, and say what came of it."""
    try:
        came = CHECKS[sys.argv[1]](json.loads(sys.stdin.read()))
    except (OSError, MemoryError) as error:
        came = ""
        print(f"refused: {type(error).__name__}")
    print(f"open: {came}" if came else "held")


if __name__ == "__main__":
    main()
