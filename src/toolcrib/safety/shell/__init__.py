"""The shell analyser: what a command would do, decided from its text without running anything.

    judged = judge("git push --force", rules=rules, cwd="sub/folder", workspace="/abs/workspace")
    judged.verdict   # "allow" | "ask" | "deny"
    judged.rule      # which rule decided, such as "git:push" or "rules:terraform plan"
    judged.why       # one sentence for a person
    judged.span      # (start, end) in characters: the part of the command that decided
    judged.instead   # what would be allowed instead, or ""

`judge` never raises, whatever the text, and its time is bounded. What it does not understand is "ask". `rules` are the
administrator's (`ShellRule`, read from `shell.rules` in toolcrib.yaml); `cwd` is where the command would run, absolute
or relative to the workspace; `workspace` is the absolute folder that absolute paths are compared with.

`pattern_for(judged)` gives the `ShellRule` that "allow always" would store: one program with exactly its arguments; None
for denials, chains, shells, wrappers and inline code. `problems(config)` says what is wrong with the rules of a
configuration, examples included, with their lines.

Nothing here asks the disk, so a link or a file that changes later is not seen: the sandbox is the wall.
"""

from toolcrib.safety.shell.judged import Judged
from toolcrib.safety.shell.judging import judge, problems
from toolcrib.safety.shell.rules import pattern_for
from toolcrib.services.config.values import ShellRule

__all__ = ["Judged", "ShellRule", "judge", "pattern_for", "problems"]
