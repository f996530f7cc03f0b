"""Walks a command's tree in the order in which a shell would run it, and judges each command on the way."""

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from toolcrib.safety.shell.blocks import branch, call, case, for_each, function, loop
from toolcrib.safety.shell.gathering import command, truncated
from toolcrib.safety.shell.judged import ASK, DENY, RANK, Finding
from toolcrib.safety.shell.launch import environment, start
from toolcrib.safety.shell.marks import LOOSE, UNKNOWN, blurred, vague
from toolcrib.safety.shell.parse import MOST_BYTES, MOST_DEPTH, MOST_NODES, MOST_STEPS, TooLong, parse, text_of
from toolcrib.safety.shell.redirects import Redirect, applied, redirect
from toolcrib.safety.shell.rules import RULES, ShellRule
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.setting import assignment, declaration, unset
from toolcrib.safety.shell.walking import Enough
from toolcrib.safety.shell.words import MOST_TEXT, Words

if TYPE_CHECKING:
    from tree_sitter import Node

_INDEX_LOOKED_UP = re.compile(r"-[vR]\s+\S*\[")
_REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))


MOST_TIME = 0.5  # seconds of work for the whole walk, however busy the machine is; far beyond what any command of a person takes


class Walk:
    """One judgement. What it finds, it notes; the strictest wins."""

    def __init__(self, rules: Sequence[ShellRule] = (), workspace: str = "") -> None:
        self.rules = rules
        self.workspace = workspace
        self.finding: Finding | None = None
        self.asked: list[tuple[str, ...]] = []
        self.ran: list[tuple[str, ...]] = []
        self.ruled = False
        self.storable = True
        self.depth = 0
        self.steps = 0
        self.span = (0, 0)
        self.now: tuple[str, ...] = ()
        self.calls: list[str] = []
        self.words = Words(self)
        self._end = time.thread_time() + MOST_TIME
        self.allowed_by: tuple[str, str] | None = None

    def note(self, level: str, rule: str, why: str, instead: str = "") -> None:
        """A reason to ask or to deny. The first of the strictest is kept."""
        if level == ASK and self.now and self.now not in self.asked:
            self.asked.append(self.now)
        self.ruled = self.ruled or (level == ASK and rule.startswith(RULES))
        if self.finding is None or RANK[level] > RANK[self.finding.level]:
            self.finding = Finding(level, rule, why, self.span, instead)
        if level == DENY:
            raise Enough

    def permitted(self, rule: str, why: str) -> None:
        """A rule of the installation let a command run."""
        self.allowed_by = self.allowed_by or (rule, why)

    def worry(self, rule: str, why: str) -> None:
        """A reason to ask that no rule can take away."""
        self.storable = False
        self.note(ASK, rule, why)

    def named(self, name: str, value: str | list[str]) -> None:
        """A variable that changes what later commands do."""
        environment(self, name, value)

    def text(self, code: str, scope: Scope, stdin: str | None = None) -> str:
        """A text that a shell runs."""
        if vague(code) and not code.strip(UNKNOWN + LOOSE).strip():
            self.worry("code:unknown", "what the shell would run is not known before it runs")
            return UNKNOWN
        data = code.replace(UNKNOWN, "").replace(LOOSE, "").encode("utf-8", "replace")
        if self.depth >= MOST_DEPTH or len(data) > MOST_BYTES:
            self.worry("limit:depth", f"shells inside of shells, more than {MOST_DEPTH} deep or too long to follow")
            raise Enough
        if vague(code):
            self.worry("code:unknown", "a part of what the shell would run is not known before it runs")
        self.depth += 1
        try:
            return self.tree(parse(data), scope, stdin)
        except TooLong:
            self.worry("limit:time", "a text for a shell takes too long to follow")
            raise Enough from None
        finally:
            self.depth -= 1

    def tree(self, root: "Node", scope: Scope, stdin: str | None = None) -> str:
        """A parsed text. A tree with faults is walked too, for what is certain in it, and asked about."""
        if root.descendant_count > MOST_NODES:
            self.worry("limit:nodes", f"more than {MOST_NODES} parts: too much to follow")
            raise Enough
        if root.has_error:
            self.worry("syntax", "the command could not be parsed, so nobody knows what it would do")
        return self.visit(root, scope, stdin)

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS or (self.steps & 15 == 0 and time.thread_time() > self._end):
            self.worry("limit:steps", "too many commands to follow")
            raise Enough

    def visit(self, node: "Node", scope: Scope, stdin: str | None = None) -> str:
        """One statement; gives what it prints."""
        self._step()
        kind = _KINDS.get(node.type)
        if kind is None:
            return self._other(node, scope, stdin)
        if not self.depth:
            self.span = (node.start_byte, node.end_byte)
        return kind(self, node, scope, stdin)

    def _other(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        if not node.is_named:
            return ""
        if node.type == "ERROR":
            self.worry("syntax", "the command could not be parsed, so nobody knows what it would do")
            return self.statements(node, scope, stdin)
        self.words.text(node, scope, quoted=True)
        return UNKNOWN

    def statements(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        """One statement after the other."""
        out = ""
        for child in node.children:
            if child.is_named:
                out += self.visit(child, scope, stdin)
                if len(out) > MOST_TEXT:
                    out = blurred(out)
        return out

    def inside(self, node: "Node", scope: Scope) -> str:
        """A substitution `$(..)` or `` `..` ``."""
        if node.children and node.children[0].type == "`" and "\\" in (raw := text_of(node)[1:-1]):
            return self.text(raw.replace("\\`", "`").replace("\\\\", "\\").replace("\\$", "$"), scope.copy())
        within = scope.copy()
        parts = [child for child in node.children if child.is_named]
        if parts and all(child.type == "file_redirect" for child in parts):  # $(< file)
            read = redirect(parts[0], self.words, within)
            return applied(self, within, [read]).stdin or UNKNOWN
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.worry("limit:depth", f"commands inside of commands, more than {MOST_DEPTH} deep")
            raise Enough
        out = self.statements(node, within, None)
        self.depth -= 1
        return out

    def process(self, node: "Node", scope: Scope) -> str:
        """`<(..)`: a file name under which the output can be read; `>(..)`: one that feeds a command."""
        within = scope.copy()
        if text_of(node).startswith("<"):
            out = self.inside(node, within)
        else:
            out = "".join(self.visit(child, within, UNKNOWN) for child in node.children if child.is_named)
        name = f"/dev/fd/{60 + len(scope.files)}"
        scope.files[name] = out
        return name

    def call(self, name: str, arguments: Sequence[str], scope: Scope, stdin: str | None) -> str:
        """A function of the command's own."""
        return call(self, name, arguments, scope, stdin)

    def command(self, argv: Sequence[str], scope: Scope, stdin: str | None = None) -> str:
        """One command's words, from the text or from inside another command."""
        self._step()
        return start(self, argv, scope, stdin)


def _statements(walk: Walk, node: "Node", scope: Scope, stdin: str | None) -> str:
    return walk.statements(node, scope, stdin)


def _list(walk: Walk, node: "Node", scope: Scope, stdin: str | None) -> str:
    """`a && b`, `a || b`: what stands behind may not run, so its assignments are not certain."""
    first, sign, second = node.children[0], node.children[1].type, node.children[-1]
    out = walk.visit(first, scope, stdin)
    if sign != "||":
        return out + walk.visit(second, scope, stdin)
    cwd = scope.cwd
    scope.loose += 1
    out += walk.visit(second, scope, stdin)
    scope.loose -= 1
    scope.cwd = cwd
    return out


def _compound(walk: Walk, node: "Node", scope: Scope, stdin: str | None) -> str:
    if node.children[0].type == "((":
        walk.words.sums(node, scope)
        return ""
    return walk.statements(node, scope, stdin)


def _subshell(walk: Walk, node: "Node", scope: Scope, stdin: str | None) -> str:
    return walk.statements(node, scope.copy(), stdin)


def _pipeline(walk: Walk, node: "Node", scope: Scope, stdin: str | None) -> str:
    out = stdin
    for stage in node.children:
        if stage.is_named and stage.type != "comment":
            out = walk.visit(stage, scope.copy(), out)
    return out or ""


def _redirected(walk: Walk, node: "Node", scope: Scope, stdin: str | None) -> str:
    body = node.child_by_field_name("body")
    redirects: list[Redirect] = [
        redirect(child, walk.words, scope) for child in node.children if child.type in _REDIRECTS
    ]
    extra = [word for each in redirects for word in each.extra]
    flow = applied(walk, scope, redirects)
    if flow.truncates:
        truncated(walk, text_of(body).split() if body is not None else extra)
    given = flow.stdin if flow.stdin is not None else stdin
    if body is None:
        out = (given or "") if not extra else walk.command(extra, scope, given)
    elif extra and body.type == "command":
        out = command(walk, body, scope, given, extra)
    else:
        out = walk.visit(body, scope, given)
    out = flow.written(scope, out)
    for each in redirects:
        for rest in each.then:  # `cat <<EOF | sh`: the grammar hangs what follows on the here-document
            out = walk.visit(rest, scope, out)
    return out


def _test(walk: Walk, node: "Node", scope: Scope, _stdin: str | None) -> str:
    walk.words.sums(node, scope)
    if _INDEX_LOOKED_UP.search(text_of(node)):
        walk.worry("arithmetic", "an index is arithmetic, and arithmetic can run commands")
    return ""


def _comment(_walk: Walk, _node: "Node", _scope: Scope, _stdin: str | None) -> str:
    return ""


_KINDS: dict[str, Callable[[Walk, "Node", Scope, str | None], str]] = {
    **dict.fromkeys(("program", "do_group", "variable_assignments", "negated_command"), _statements),
    **dict.fromkeys(("if_statement", "elif_clause", "else_clause"), branch),
    **dict.fromkeys(("while_statement", "c_style_for_statement"), loop),
    "list": _list,
    "compound_statement": _compound,
    "subshell": _subshell,
    "pipeline": _pipeline,
    "command": command,
    "redirected_statement": _redirected,
    "variable_assignment": assignment,
    "declaration_command": declaration,
    "unset_command": unset,
    "test_command": _test,
    "for_statement": for_each,
    "case_statement": case,
    "function_definition": function,
    "comment": _comment,
}
