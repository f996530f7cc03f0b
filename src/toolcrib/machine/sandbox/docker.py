"""Docker as the walls, where it is configured and its daemon answers."""

import os
import shutil
import subprocess

from toolcrib.machine.sandbox import places
from toolcrib.services.commands import Access, Command

_PATIENCE = 3.0
_KEPT = ("DOCKER_CERT_PATH", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST", "DOCKER_TLS_VERIFY", "HOME", "PATH")


def find(path: str | None = None) -> str:
    """The docker program; empty: there is none."""
    found = shutil.which("docker", path=path)
    return os.path.realpath(found) if found else ""


def trouble(program: str) -> str:
    """Why its daemon cannot be used; empty: it answers."""
    if not program:
        return "docker is configured, and there is no docker program on PATH"
    try:
        asked = subprocess.run(  # noqa: S603 - the program was found on PATH, and the words are fixed
            [program, "version", "--format", "{{.Server.Version}}"],
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            env=client_env(),
        )
    except subprocess.TimeoutExpired:
        return f"the Docker daemon did not answer within {_PATIENCE:g} s"
    except OSError as error:
        return f"{program} could not be started: {error.strerror}"
    return "" if asked.returncode == 0 and asked.stdout.strip() else "the Docker daemon does not answer"


def client_env() -> dict[str, str]:
    """What the docker program itself needs."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ}


def argv(
    program: str, image: str, command: Command, cwd: str, covers: places.Covers, *, name: str, user: str
) -> list[str]:
    """The command line. Values of the environment go by the client's own, where no list of processes shows them."""
    limits = command.limits
    words = [program, "run", "--rm", "--init", "--name", name, "--pull", "never", "--read-only", "--cap-drop", "ALL"]
    words += ["--security-opt", "no-new-privileges", "--user", user, "--workdir", cwd, "--interactive"]
    words += [] if command.network else ["--network", "none"]
    words += ["--memory", str(limits.memory), "--memory-swap", str(limits.memory), "--cpus", f"{limits.cpus:g}"]
    words += ["--pids-limit", str(limits.processes), "--ulimit", f"fsize={limits.file}", "--ulimit", "core=0"]
    words += ["--tmpfs", f"/tmp:rw,nosuid,nodev,size={limits.memory}"]  # noqa: S108 - inside
    words += _mounts(command, covers)
    for key, value in command.env.items():
        words += ["--env", key if key not in _KEPT else f"{key}={value}"]
    return [*words, image, *command.argv]


def _mounts(command: Command, covers: places.Covers) -> list[str]:
    top = command.workspace
    words = [word for path in command.readable for word in _mount(path, fixed=True)]
    if command.access is Access.NONE:
        return [*words, "--tmpfs", top]
    words += _mount(top, fixed=command.access is Access.READ)
    words += [word for path in covers.pinned for word in _mount(path, fixed=False)]
    for path in (*covers.fixed, *(path for path, _ in covers.ghosts)):
        words += _mount(path, fixed=True)
    for path in places.below(top, command.hidden):
        words += (
            ["--tmpfs", f"{path}:ro,mode=0000"] if os.path.isdir(path) else _mount("/dev/null", fixed=True, at=path)
        )
    return words


def _mount(path: str, *, fixed: bool, at: str = "") -> list[str]:
    parts = ["type=bind", f"source={path}", f"target={at or path}", *(("readonly",) if fixed else ())]
    return ["--mount", ",".join(_quoted(part) for part in parts)]


def _quoted(part: str) -> str:
    """A value with a comma or quote stands in quotes, as in a CSV file."""
    return '"' + part.replace('"', '""') + '"' if set(part) & set(',"') else part


def ending(program: str, name: str) -> list[str]:
    """What ends the container whatever has become of the client."""
    return [program, "rm", "--force", name]
