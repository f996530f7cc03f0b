"""Records for the audit's contracts."""

import itertools
from typing import Any

from toolcrib.core.call import Caller, Record, Status

_numbers = itertools.count(1)
ANNA = Caller(agent="anna", user="u1", session="s1")
BERT = Caller(agent="bert", user="u2", session="s2", depth=1, channel="mail")


def record(**given: Any) -> Record:
    """One record, with what is given and the plain case for the rest."""
    number = next(_numbers)
    plain: dict[str, Any] = {
        "id": f"call-{number}",
        "at": 1_800_000_000.0 + number,
        "caller": ANNA,
        "tool": "add",
        "arguments": b'{"a":1,"b":2}',
        "status": Status.DONE,
        "seconds": 0.25,
        "size": 3,
    }
    return Record(**{**plain, **given})
