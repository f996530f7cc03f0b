"""Writes the beginning of a tool: a function, and a case that fails until it does something."""

import re
import subprocess
import sys
from pathlib import Path

from toolcrib.checks import NAME, WORDS

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
FAMILY = '''"""{label}: the family's manifest."""

from toolcrib.core.tool import Family

family = Family(name="{family}", label="{label}", about="Say in one sentence what these tools work on.", icon="wrench")
'''
INIT = '''"""{label}. Importing the modules declares their tools."""

from toolcrib.tools.{family} import {module}
from toolcrib.tools.{family}.family import family

__all__ = ["family", "{module}"]
'''
HEAD = '''"""Say in one sentence which verbs of the family are here."""

from typing import Annotated

from toolcrib.core.errors import ToolFailed
from toolcrib.core.tool import Effect
from toolcrib.tools.{family}.family import family
'''
TOOL = '''

@family.tool(Effect.WRITE)
async def {name}(*, subject: Annotated[str, "Say what the model should put here"]) -> str:
    """Say in one line what it does, for the model."""
    raise ToolFailed(f"{name} is not written yet; it was asked about {{subject}}.")
'''
CASE = """{name}:
  - name: does what its first line says
    call: {{subject: x}}
    says: what it should answer
"""


def write(family: str, name: str) -> int:
    """Write the files; refuse what would not pass the checks."""
    for word in (family, name):
        if not NAME.fullmatch(word) or word.count("_") >= WORDS:
            print(f"{word!r} is not lower_case in at most four words.")
            return 1
    folder = ROOT / "src" / "toolcrib" / "tools" / family
    module = "verbs"
    label = family.replace("_", " ").capitalize()
    if not folder.exists():
        folder.mkdir(parents=True)
        _new(folder / "family.py", FAMILY.format(family=family, label=label))
        _new(folder / "__init__.py", INIT.format(family=family, label=label, module=module))
    path = next(
        (p for p in sorted(folder.glob("*.py")) if p.stem not in {"__init__", "family"}), folder / f"{module}.py"
    )
    text = path.read_text(encoding="utf-8") if path.exists() else HEAD.format(family=family)
    if f"def {name}(" in text:
        print(f"{path.relative_to(ROOT)} has a {name} already.")
        return 1
    path.write_text(_with_imports(text, family) + TOOL.format(name=name), encoding="utf-8")
    subprocess.run([BIN / "ruff", "check", "--quiet", "--select", "I", "--fix", path], check=False)
    cases = ROOT / "tests" / "cases" / f"{family}.yaml"
    before = cases.read_text(encoding="utf-8") if cases.exists() else ""
    cases.write_text(before + CASE.format(name=name), encoding="utf-8")
    print(f"Wrote {name} in {path.relative_to(ROOT)} and a case that fails in {cases.relative_to(ROOT)}.")
    print("Next: make the case pass, and name the tool in src/toolcrib/toolboxes.toml if a box should grant it.")
    return 0


def _with_imports(text: str, family: str) -> str:
    """A module that has what the new function uses; in what order is left to ruff."""
    wanted = [line for line in HEAD.format(family=family).splitlines() if line.startswith("from ")]
    missing = [
        line for line in wanted if not re.search(rf"^from .* import .*\b{line.split()[-1]}\b", text, re.MULTILINE)
    ]
    end = text.index('"""', 3) + 3
    return text[:end] + "".join(f"\n\n{line}" for line in missing) + text[end:]


def _new(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
