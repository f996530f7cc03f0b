"""Toolcrib: the tool crib for AI agents.

It decides which agent may use which tool, runs every call through guards that can be explained, and keeps the record.

    from toolcrib import Crib, tool
"""

from toolcrib.app import Crib, Turn
from toolcrib.core.call import Attachment, Caller, Outcome, Request, Result
from toolcrib.core.errors import BadConfig, BadTool, CribError, ToolError, ToolFailed
from toolcrib.core.guard import Approval, Call, Verdict
from toolcrib.core.tool import tool

__version__ = "0.1.0"
__all__ = [
    "Approval",
    "Attachment",
    "BadConfig",
    "BadTool",
    "Call",
    "Caller",
    "Crib",
    "CribError",
    "Outcome",
    "Request",
    "Result",
    "ToolError",
    "ToolFailed",
    "Turn",
    "Verdict",
    "__version__",
    "tool",
]
