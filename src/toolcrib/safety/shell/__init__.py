"""The shell analyser: what a command would do, decided from its text without running anything."""

from toolcrib.safety.shell.judged import Judged
from toolcrib.safety.shell.judging import check, judge
from toolcrib.safety.shell.rules import ShellRule, pattern_for

__all__ = ["Judged", "ShellRule", "check", "judge", "pattern_for"]
