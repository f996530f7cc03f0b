"""Which walls are taken, in which order, and what is said where there are none."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.machine.programs import ENV, NOBODY, came_of, opened
from toolcrib.core.errors import ToolError
from toolcrib.machine.sandbox import choice, diagnosis, plans
from toolcrib.machine.sandbox.commands import LocalCommands
from toolcrib.machine.sandbox.keeper import groups, landlock, seccomp
from toolcrib.machine.sandbox.keeping import Keeper
from toolcrib.services.commands import Access, Command, Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs are held on Linux")
SRC = str(Path(__file__).parents[2] / "src")

# What a fake docker does: it notes its words, answers as a daemon, and runs what a container would run.
DOCKER = """#!/bin/sh
printf '%s\\n' "$@" >> {log}
printf 'ENV %s\\n' "$(env | sort | tr '\\n' ' ')" >> {log}
case "$1" in
  version) {version} ;;
  run) while [ "$1" != image ]; do shift; done; shift; exec "$@" ;;
esac
"""


@pytest.fixture
def docker(tmp_path: Path) -> Path:
    return fake(tmp_path, "echo 28.2.2")


def fake(folder: Path, version: str) -> Path:
    """A folder for PATH with a docker program that notes what it is told in `log`."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "docker").write_text(DOCKER.format(log=folder / "log", version=version))
    (programs / "docker").chmod(0o755)
    return programs


@pytest.mark.meets("sandbox:start:order")
async def test_bubblewrap_comes_first_then_landlock(workspace: Path):
    names: list[str] = []
    for order in (choice.ORDER, choice.ORDER[1:]):
        async with opened(LocalCommands(order=order)) as commands:
            names.append((await commands.walls()).name)
    possible = [
        name
        for name, there in ((choice.BUBBLEWRAP, shutil.which("bwrap")), (choice.LANDLOCK, landlock.version()))
        if there
    ]
    assert names[0] in {*possible, ""}
    assert names[1] == (choice.LANDLOCK if landlock.version() else "")


@pytest.mark.meets("sandbox:start:order")
async def test_without_bubblewrap_it_is_landlock(workspace: Path):
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    async with opened(LocalCommands(path="/no/such/folder")) as commands:
        walls = await commands.walls()
        assert walls.name == choice.LANDLOCK
        assert "protected files of the workspace" in walls.lacks
        assert "bubblewrap" in walls.fix
        assert (await came_of(commands, Command(argv=("echo", "on"), workspace=str(workspace), env=ENV))).said == "on\n"


@pytest.mark.meets("sandbox:start:order")
async def test_where_namespaces_are_switched_off_it_is_landlock(tmp_path: Path):
    """In a user namespace of its own whose limit of further ones is 0: as in a locked container."""
    script = (
        "echo 0 > /proc/sys/user/max_user_namespaces; "
        f"PYTHONPATH={SRC} exec {sys.executable} -c 'import asyncio; "
        "from toolcrib.machine.sandbox.commands import LocalCommands as L\n"
        "async def main():\n"
        '  for order in (("bubblewrap",), ("bubblewrap", "landlock")):\n'
        '    c = L(order=order); w = await c.walls(); print(w.name or w.about, w.fix, sep="|"); await c.close()\n'
        "asyncio.run(main())'"
    )
    done = await asyncio.to_thread(
        subprocess.run,
        ["unshare", "--user", "--map-root-user", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or not shutil.which("bwrap"):
        pytest.skip("this machine has no bubblewrap, or no user namespaces to switch off")
    alone, both = done.stdout.splitlines()
    assert "bubblewrap is installed and cannot be used" in alone
    assert "sysctl user.max_user_namespaces" in alone
    assert both.startswith("landlock|") or not landlock.version(), done.stderr


@pytest.mark.meets("sandbox:start:order")
async def test_docker_comes_last_and_only_when_configured(docker: Path, workspace: Path):
    async with opened(
        LocalCommands(path=str(docker), order=("bubblewrap", "docker"), docker_image="image")
    ) as commands:
        assert (await commands.walls()).name == choice.DOCKER
    async with opened(LocalCommands(path=str(docker), order=("bubblewrap", "docker"))) as commands:
        assert (await commands.walls()).name == ""


async def test_docker_whose_daemon_does_not_answer_is_told(tmp_path: Path, workspace: Path):
    path = str(fake(tmp_path, "echo 'Cannot connect to the Docker daemon' >&2; exit 1"))
    async with opened(LocalCommands(path=path, order=("docker",), docker_image="image")) as commands:
        with pytest.raises(ToolError) as caught:
            await commands.start(Command(argv=("true",), workspace=str(workspace)))
        assert caught.value.as_fault().code == "no_sandbox"
        assert "daemon does not answer" in caught.value.message
        assert "Start the Docker daemon" in caught.value.hint


async def test_what_docker_is_told(docker: Path, workspace: Path, tmp_path: Path):
    """The words of the command line, against a program that stands for docker: no daemon was asked."""
    (workspace / ".env").write_text("secret")
    (workspace / "keys").mkdir()
    command = Command(
        argv=("sh", "-c", "echo $TOKEN"),
        workspace=str(workspace),
        env={"TOKEN": "token-value", "PATH": "/usr/bin:/bin"},
        hidden=(".env", "keys"),
        limits=Limits(seconds=20, memory=64 << 20, cpus=0.5, processes=32, file=1 << 20),
    )
    async with opened(LocalCommands(path=str(docker), order=("docker",), docker_image="image")) as commands:
        came = await came_of(commands, command)
    assert came.said == "token-value\n"
    log = (tmp_path / "log").read_text()
    words = log.splitlines()
    assert "token-value" not in "\n".join(word for word in words if not word.startswith("ENV"))
    for pair in (
        ("--network", "none"), ("--memory", str(64 << 20)), ("--cpus", "0.5"), ("--pids-limit", "32"),
        ("--cap-drop", "ALL"), ("--security-opt", "no-new-privileges"), ("--workdir", str(workspace)),
        ("--env", "TOKEN"), ("--pull", "never"), ("--ulimit", f"fsize={1 << 20}"),
        ("--mount", f"type=bind,source={workspace},target={workspace}"),
        ("--mount", f"type=bind,source={workspace}/.bashrc,target={workspace}/.bashrc,readonly"),
        ("--mount", f"type=bind,source=/dev/null,target={workspace}/.env,readonly"),
        ("--tmpfs", f"{workspace}/keys:ro,mode=0000"),
    ):  # fmt: skip
        assert f"{pair[0]}\n{pair[1]}\n" in log
    assert {"--read-only", "--rm", "--init"} <= set(words)
    name = words[words.index("--name") + 1]
    assert log.count(f"rm\n--force\n{name}\n") == 1
    assert sorted(path.name for path in workspace.iterdir()) == [".env", "keys"]


async def test_docker_s_network_and_access_can_be_set(docker: Path, workspace: Path, tmp_path: Path):
    async with opened(LocalCommands(path=str(docker), order=("docker",), docker_image="image")) as commands:
        for access in (Access.READ, Access.NONE):
            await came_of(commands, Command(argv=("true",), workspace=str(workspace), network=True, access=access))
    log = (tmp_path / "log").read_text()
    assert "--network" not in log
    assert f"type=bind,source={workspace},target={workspace},readonly\n" in log
    assert f"--tmpfs\n{workspace}\n" in log


async def test_the_host_is_never_taken_by_itself(workspace: Path):
    """Whatever fails, the program does not run."""
    async with opened(LocalCommands(path="/no/such/folder", order=("bubblewrap", "docker"))) as commands:
        with pytest.raises(ToolError) as caught:
            await commands.start(Command(argv=("touch", "ran"), workspace=str(workspace), env=ENV))
        assert caught.value.as_fault().code == "no_sandbox"
        assert list(workspace.iterdir()) == []
        assert (
            await came_of(commands, Command(argv=("touch", "ran"), workspace=str(workspace), env=ENV, unsafe_host=True))
        ).ended.code == 0
        assert [path.name for path in workspace.iterdir()] == ["ran"]


async def test_the_host_is_named_when_configuration_opens_it():
    async with opened(LocalCommands(unsafe_host=True)) as commands:
        walls = await commands.walls()
    assert walls.name == "host"
    assert "every wall" in walls.lacks


async def test_walls_that_broke_since_do_not_let_anything_run(workspace: Path, tmp_path: Path):
    """Bubblewrap that worked when it was tried and fails later: the program does not run, and its words are shown."""
    programs = tmp_path / "programs"
    programs.mkdir()
    broken = tmp_path / "broken"
    (programs / "bwrap").write_text(f"#!/bin/sh\n[ -e {broken} ] && echo 'bwrap: no more' >&2 && exit 1\nexit 0\n")
    (programs / "bwrap").chmod(0o755)
    async with opened(LocalCommands(path=str(programs), order=("bubblewrap",))) as commands:
        walls = await commands.walls()
        assert walls.name == choice.BUBBLEWRAP, walls
        broken.touch()
        came = await came_of(commands, Command(argv=("touch", "ran"), workspace=str(workspace), env=ENV))
    assert came.ended.code == 126
    assert "no more" in came.said
    assert list(workspace.iterdir()) == []


async def test_bubblewrap_is_not_taken_from_where_agents_write(workspace: Path, monkeypatch: pytest.MonkeyPatch):
    (workspace / "bin").mkdir()
    (workspace / "bin/bwrap").write_text("#!/bin/sh\ntouch ran\n")
    (workspace / "bin/bwrap").chmod(0o755)
    monkeypatch.chdir(workspace)
    path = f"{workspace}/bin:bin:.:"
    assert choice.bubblewrap_program(path, (str(workspace),)) == ""
    with tempfile.TemporaryDirectory() as other:
        Path(other, "bwrap").symlink_to(workspace / "bin/bwrap")
        assert choice.bubblewrap_program(other, (str(workspace),)) == ""


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, "AppArmor"),
        ({"sys/kernel/unprivileged_userns_clone": "0\n"}, "kernel.unprivileged_userns_clone=1"),
        ({"sys/user/max_user_namespaces": "0\n"}, "user.max_user_namespaces"),
        ({".dockerenv": ""}, "--security-opt"),
        ({"run/.containerenv": ""}, "--security-opt"),
        ({"sys/kernel/apparmor_restrict_unprivileged_userns": "0\n"}, "See what it says"),
        ({}, "See what it says"),
    ],
)
def test_the_fix_is_named(files: dict[str, str], says: str, tmp_path: Path):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert says in diagnosis.fix(settings=str(tmp_path / "sys"), root=str(tmp_path))


async def test_another_system_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, workspace: Path):
    monkeypatch.setattr(choice.sys, "platform", "darwin")
    began = time.perf_counter()
    async with opened(LocalCommands()) as commands:
        for unsafe in (False, True):
            with pytest.raises(ToolError) as caught:
                await commands.start(Command(argv=("ls",), workspace=str(workspace), env=ENV, unsafe_host=unsafe))
            assert caught.value.as_fault().code == "no_sandbox"
            assert "Linux" in caught.value.hint
    assert time.perf_counter() - began < 0.1
    monkeypatch.undo()
    assert choice.host(root=os.geteuid() == 0).filtered == bool(seccomp.program("closed"))


def test_groups_left_behind_are_swept_and_those_of_the_living_stay(tmp_path: Path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    for name in (f"toolcrib-{gone.pid}-1", f"toolcrib-{os.getpid()}-1", "others"):
        (tmp_path / name).mkdir()
    groups.sweep({"pids": str(tmp_path), "cpu": str(tmp_path / "not/there")})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["others", f"toolcrib-{os.getpid()}-1"]
    assert groups.name() != groups.name()


async def test_without_a_group_that_was_counted_on_nothing_starts(workspace: Path):
    base = {"pids": "/sys/fs/cgroup/not/there"}
    facts = choice.Host(bases=base, root=os.geteuid() == 0, filtered=True, counts_inside=True, landlock=3)
    command = Command(argv=("true",), workspace=str(workspace), env=ENV, unsafe_host=True)
    keeper = Keeper(base)
    with pytest.raises(ToolError, match="no control group could be made"):
        await keeper.start(*plans.plain(plans.look_at(command, facts), facts), stdin=False, split=False)
    await keeper.close()


def test_control_groups_of_version_one_are_found(tmp_path: Path):
    for path in ("pids", "memory/service", "cpu"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "cgroup.procs").touch()
    mounts = "".join(
        f"30 25 0:26 / {tmp_path}/{name} rw,relatime - cgroup cgroup rw,{name}\n"
        for name in ("pids", "memory", "cpu", "freezer")
    )
    own = "8:pids:/\n4:memory:/service\n2:cpu,cpuacct:/gone\n0::/\n"
    assert groups.find(own, mounts) == {
        "pids": f"{tmp_path}/pids",
        "memory": f"{tmp_path}/memory/service",
        "cpu": f"{tmp_path}/cpu",
    }


def test_control_groups_of_version_two_are_found_where_they_are_lent(tmp_path: Path):
    own = tmp_path / "user.slice/app.slice/terminal.scope"
    own.mkdir(parents=True)
    for folder, lent in ((tmp_path, "cpu memory pids"), (own.parent, "memory pids"), (own, "")):
        (folder / "cgroup.subtree_control").write_text(lent + "\n")
        (folder / "cgroup.procs").touch()
    mounts = f"29 24 0:25 / {tmp_path} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
    found = groups.find("0::/user.slice/app.slice/terminal.scope\n", mounts)
    assert found == {"unified": str(own.parent)}
    group = groups.Group(found, "toolcrib-1-1")
    folder = own.parent / "toolcrib-1-1"
    (folder / "memory.events").write_text("low 0\noom_kill 1\n")
    group.join()
    group.limit(memory=1 << 20, processes=7, cpus=0.5)
    assert group.holds("pids")
    assert group.starved()
    written = {
        name: (folder / name).read_text()
        for name in ("pids.max", "memory.max", "memory.swap.max", "cpu.max", "cgroup.procs")
    }
    assert written == {
        "pids.max": "7", "memory.max": "1048576", "memory.swap.max": "0", "cpu.max": "50000 100000", "cgroup.procs": "0",
    }  # fmt: skip


def test_no_control_groups_are_no_trouble(tmp_path: Path):
    assert groups.find("0::/\n", "") == {}
    group = groups.Group({"pids": str(tmp_path / "not/there")}, "toolcrib-1-1")
    group.limit(memory=1, processes=1, cpus=1)
    assert not group.holds("pids")
    assert not group.starved()
    group.end()


def test_the_filter_is_known_for_both_kinds_of_machines():
    for machine in ("x86_64", "aarch64"):
        assert len(seccomp.program("closed", machine)) % 8 == 0
        assert len(seccomp.program("closed", machine)) > 400
        assert seccomp.program("closed", machine) != seccomp.program("inet", machine)
    assert seccomp.program("closed", "vax") == b""


async def test_without_a_filter_or_groups_it_is_said_what_is_lacking():
    facts = choice.Host(bases={}, root=True, filtered=False, counts_inside=True, landlock=3)
    assert "the number of processes" in facts.lacks(choice.BUBBLEWRAP, as_root=True)
    assert "the number of processes" not in facts.lacks(choice.BUBBLEWRAP, as_root=False)
    assert "the filter of system calls" in facts.lacks(choice.BUBBLEWRAP, as_root=False)
    assert "signals to other programs" in facts.lacks(choice.LANDLOCK, as_root=False)
    assert facts.lacks(choice.DOCKER, as_root=True) == ()


async def test_as_nobody_there_are_no_groups_and_the_number_of_processes_is_still_kept():
    if os.geteuid() != 0 or not shutil.which("bwrap"):
        pytest.skip("this needs root, and bubblewrap")
    async with opened(LocalCommands(order=("bubblewrap",), user=NOBODY)) as commands:
        walls = await commands.walls()
    assert walls.lacks == ("memory of all its processes together",)
