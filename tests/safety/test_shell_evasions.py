"""Ways around a look at the text: each is proved with a real bash first, then crossed with what nobody may run."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.examples import count
from toolcrib.safety.shell import judge
from toolcrib_bench.evasions import BASES, TECHNIQUES

BASH = shutil.which("bash")
MARK = ("touch", "made-by-the-technique")


def holds(name: str, folder: Path) -> bool:
    """Whether a real bash runs the words that the technique hides. Here they only make an empty file."""
    folder.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    command = [str(BASH), "--norc", "-c", TECHNIQUES[name](MARK)]
    try:
        subprocess.run(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return (folder / MARK[1]).exists()


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The techniques that hold on this machine: some need programs or rights that are not everywhere."""
    if BASH is None:
        pytest.skip("there is no bash here")
    place = tmp_path_factory.mktemp("evasions")
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda numbered: holds(numbered[1], place / str(numbered[0])), enumerate(TECHNIQUES))
        return [name for name, true in zip(TECHNIQUES, found, strict=True) if true]


def test_most_techniques_hold_in_a_real_shell(proved: list[str]):
    assert len(proved) >= 0.8 * len(TECHNIQUES), sorted(set(TECHNIQUES) - set(proved))


@pytest.mark.meets("shell:figure:stopped", "shell:deny:evasions", "shell:words:evaluated", "shell:wrappers:recursed")
def test_a_proved_technique_never_hides_a_dangerous_command(proved: list[str]):
    passed = [(name, base) for name in proved for base in BASES if judge(TECHNIQUES[name](base)).verdict == "allow"]
    count(len(proved) * len(BASES))
    assert passed == []


@pytest.mark.parametrize("base", [BASES[0], BASES[1], BASES[4], BASES[10]], ids=" ".join)
@pytest.mark.meets("shell:deny:evasions")
def test_nearly_every_proved_technique_leaves_the_denial_a_denial(proved: list[str], base: Sequence[str]):
    asked = [name for name in proved if judge(TECHNIQUES[name](base)).verdict != "deny"]
    assert len(asked) <= 0.05 * len(proved), asked
