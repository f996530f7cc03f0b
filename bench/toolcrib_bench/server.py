"""A server of one's own for the benches: started on a fresh home, spoken to over loopback, looked at from outside."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolcrib_bench.importing import warm

CONFIG = "agents:\n  helper: {toolboxes: [all]}\nlimits: {rate: 0}\n"
PASSWORD = "correct horse battery"  # noqa: S105 - of a home that is thrown away
SECONDS = 60


class Server:
    """One `toolcrib up`."""

    def __init__(self, home: Path) -> None:
        began = time.perf_counter()
        command = [sys.executable, "-m", "toolcrib", "up", "--home", str(home), "--port", "0", "--json"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=home, env=warm()
        )
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.link: str = told["link"]
        self.port = int(self.link.split("/")[2].rpartition(":")[2])
        while self.ask("GET", "/readyz")[0] != 200:
            time.sleep(0.005)
        self.ready = time.perf_counter() - began

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any, str]:
        """One request: its status, its body, and the cookie that it set."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, {"Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            text = answer.read()
            cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]
            return answer.status, json.loads(text) if text[:1] in b"{[" else text, cookie
        finally:
            connection.close()

    def key(self) -> str:
        """A key of the first admin, who is made for it."""
        token = self.link.rpartition("/")[2]
        _, me, cookie = self.ask("POST", "/api/v1/setup", {"token": token, "name": "Ada", "password": PASSWORD})
        headers = {"Cookie": cookie, "X-CSRF-Token": me["csrf"]}
        secret: str = self.ask("POST", "/api/v1/keys", {"name": "bench", "role": "admin"}, **headers)[1]["secret"]
        return secret

    def memory(self) -> float:
        """MiB that it holds now."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def cpu(self) -> float:
        """Seconds of processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> float:
        """Tell it to end; the seconds that it took."""
        began = time.perf_counter()
        self.process.terminate()
        self.process.wait(SECONDS)
        return time.perf_counter() - began


@contextmanager
def home() -> Generator[Path]:
    """A fresh home with one agent."""
    with tempfile.TemporaryDirectory(prefix="toolcrib-bench-") as folder:
        (Path(folder) / "toolcrib.yaml").write_text(CONFIG, encoding="utf-8")
        yield Path(folder)


@contextmanager
def serving(place: Path) -> Generator[Server]:
    """A server on that home."""
    server = Server(place)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()
