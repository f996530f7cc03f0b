"""A framework that is not installed is asked for by its extra."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules[{module!r}] = None
try:
    import toolcrib.faces.adapters.{adapter}
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("adapter", "module", "extra"),
    [
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("openai_agents", "agents", "openai-agents"),
        ("langchain", "langchain_core", "langchain"),
    ],
)
def test_a_missing_framework_is_named_with_the_way_to_install_it(adapter: str, module: str, extra: str):
    program = WITHOUT.format(module=module, adapter=adapter)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == f"{module} is not installed. Install it with: pip install 'toolcrib[{extra}]'\n"
