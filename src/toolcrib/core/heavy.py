"""The one door through which heavy parts come in late.

Start-up time is a feature: `import toolcrib` and `toolcrib --help` must not pay for what they do not use. Whoever
calls `heavy` is listed in the house test.
"""

import importlib
import sys
from typing import Any


def heavy(module: str, extra: str = "") -> Any:  # noqa: ANN401 - a module; its users name its types under TYPE_CHECKING
    """The module, imported now. With `extra`, a missing one says how to install it."""
    known = sys.modules.get(module)
    # Another thread may be in the middle of importing it: only import_module waits for that.
    if known is not None and not getattr(known.__spec__, "_initializing", False):
        return known
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if extra and error.name and error.name.partition(".")[0] == module.partition(".")[0]:
            message = f"{module} is not installed. Install it with: pip install 'toolcrib[{extra}]'"
            raise ModuleNotFoundError(message, name=error.name) from None
        raise
