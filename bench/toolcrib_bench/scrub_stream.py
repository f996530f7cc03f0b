"""A realistic stream of benign output by kind, made anew each time: what tools print all day and nobody wants changed."""

import base64
import random
import string
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

SIZE = 300_000  # characters of each kind
_PACKAGES = [
    "left-pad",
    "react",
    "@types/node",
    "lodash.merge",
    "vite",
    "esbuild",
    "django",
    "numpy",
    "requests",
    "serde",
]
_WORDS = [
    "the",
    "request",
    "was",
    "served",
    "from",
    "cache",
    "after",
    "retry",
    "while",
    "worker",
    "node",
    "pool",
    "token",
    "key",
    "pass",
    "author",
    "session",
    "signed",
]


def kinds() -> Iterator[tuple[str, str]]:
    """Each kind with its text."""
    pick = random.Random(11)  # noqa: S311 - made-up output
    for name, line in _LINES.items():
        pieces: list[str] = []
        size = 0
        while size < SIZE:
            pieces.append(line(pick))
            size += len(pieces[-1])
        yield name, "".join(pieces)
    for name, pattern in (
        ("record files", "*/RECORD"),
        ("package metadata", "*/METADATA"),
        ("certificates of the system", "**/cacert.pem"),
    ):
        texts = [path.read_text("utf-8", "replace") for path in sorted(_site().glob(pattern))]
        if texts:
            yield name, "\n".join(texts)[: 4 * SIZE]


def _site() -> Path:
    return Path(sysconfig.get_paths()["purelib"])


def _hex(pick: random.Random, size: int) -> str:
    return f"{pick.getrandbits(size * 4):0{size}x}"


def _b64(pick: random.Random, size: int) -> str:
    return base64.b64encode(pick.randbytes(size)).decode()


def _uuid(pick: random.Random) -> str:
    return "-".join(_hex(pick, size) for size in (8, 4, 4, 4, 12))


def _words(pick: random.Random, count: int) -> str:
    return " ".join(pick.choice(_WORDS) for _ in range(count))


def _version(pick: random.Random) -> str:
    return ".".join(str(pick.randrange(40)) for _ in range(3))


def _npm_lock(pick: random.Random) -> str:
    name, version = pick.choice(_PACKAGES), _version(pick)
    where = f"https://registry.example.org/{name}/-/{name.split('/')[-1]}-{version}.tgz"
    return (
        f'    "node_modules/{name}": {{\n      "version": "{version}",\n      "resolved": "{where}",\n'
        f'      "integrity": "sha512-{_b64(pick, 64)}",\n      "dev": true\n    }},\n'
    )


def _yarn_lock(pick: random.Random) -> str:
    name, version = pick.choice(_PACKAGES), _version(pick)
    return f'"{name}@npm:^{version}":\n  version: {version}\n  resolution: "{name}@npm:{version}"\n  checksum: 10c0/{_hex(pick, 128)}\n\n'


def _cargo_lock(pick: random.Random) -> str:
    return f'[[package]]\nname = "{pick.choice(_PACKAGES)}"\nversion = "{_version(pick)}"\nchecksum = "{_hex(pick, 64)}"\n\n'


def _go_sum(pick: random.Random) -> str:
    return f"example.org/{pick.choice(_PACKAGES)} v{_version(pick)} h1:{_b64(pick, 32)}\n"


def _python_lock(pick: random.Random) -> str:
    return f"{pick.choice(_PACKAGES)}=={_version(pick)} \\\n    --hash=sha256:{_hex(pick, 64)} \\\n    --hash=sha256:{_hex(pick, 64)}\n"


def _git_log(pick: random.Random) -> str:
    return (
        f"commit {_hex(pick, 40)}\nMerge: {_hex(pick, 7)} {_hex(pick, 7)}\nAuthor: Al Bo <al.bo@example.org>\n"
        f"Date:   Tue Nov {pick.randrange(1, 30)} 10:{pick.randrange(10, 60)}:00 2026 +0100\n\n    {_words(pick, 8)}\n\n"
    )


def _git_diff(pick: random.Random) -> str:
    return (
        f"diff --git a/src/{pick.choice(_WORDS)}.py b/src/{pick.choice(_WORDS)}.py\nindex {_hex(pick, 10)}..{_hex(pick, 10)} 100644\n"
        f"@@ -{pick.randrange(99)},7 +{pick.randrange(99)},7 @@ def {pick.choice(_WORDS)}_key(self):\n-    token = self.next_token()\n"
        "+    token = self.peek_token(ahead=1)\n     key = (name, version)\n     return cache.get(key, None)\n"
    )


def _log(pick: random.Random) -> str:
    return (
        f'2026-11-18T10:{pick.randrange(10, 60)}:00.{pick.randrange(999):03}Z level=info msg="{_words(pick, 6)}" trace_id={_hex(pick, 32)}'
        f" span_id={_hex(pick, 16)} request_id={_uuid(pick)} user_id={pick.randrange(10**6)} key=items:{pick.randrange(999)} took=1.2ms\n"
    )


def _json(pick: random.Random) -> str:
    return (
        f'{{"id": "{_uuid(pick)}", "sha": "{_hex(pick, 40)}", "etag": "{_hex(pick, 32)}", "next_page_token": null, "token_count": 12,'
        f' "author": "al", "primary_key": "item_{pick.randrange(999)}", "passed": true, "name": "{_words(pick, 3)}"}}\n'
    )


def _csv(pick: random.Random) -> str:
    return (
        f"{pick.randrange(10**6)},{_words(pick, 2)},{_uuid(pick)},{pick.random():.6f},al@example.org,{_hex(pick, 12)}\n"
    )


def _certificate(pick: random.Random) -> str:
    body = _b64(pick, 900)
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n"


def _docker(pick: random.Random) -> str:
    return f"{_hex(pick, 12)}: Pull complete\nDigest: sha256:{_hex(pick, 64)}\nStatus: Downloaded newer image for nginx:{_version(pick)}\n"


def _images(pick: random.Random) -> str:
    return f'<img alt="{_words(pick, 2)}" src="data:image/png;base64,{_b64(pick, 600)}">\n'


def _minified(pick: random.Random) -> str:
    names = ["".join(pick.choices(string.ascii_letters, k=2)) for _ in range(4)]
    return f"function {names[0]}({names[1]},{names[2]}){{var {names[3]}={names[1]}.key||{names[2]}.token;return {names[3]}?{names[3]}.pass({names[1]}):null}}"


_LINES: dict[str, Callable[[random.Random], str]] = {
    "npm lock": _npm_lock,
    "yarn lock": _yarn_lock,
    "cargo lock": _cargo_lock,
    "go sum": _go_sum,
    "python lock": _python_lock,
    "git log": _git_log,
    "git diff": _git_diff,
    "logs": _log,
    "json": _json,
    "csv": _csv,
    "certificates": _certificate,
    "docker": _docker,
    "images in pages": _images,
    "minified code": _minified,
}
