"""Walks a command's tree in the order in which a shell would run it, and judges each command on the way."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from toolcrib.safety.shell import launch
from toolcrib.safety.shell.expansions import words_of
from toolcrib.safety.shell.judged import ASK, DENY, RANK, Finding
from toolcrib.safety.shell.marks import LOOSE, UNKNOWN, blurred, taints, vague
from toolcrib.safety.shell.parse import MOST_BYTES, MOST_DEPTH, MOST_NODES, MOST_STEPS, parse, text_of
from toolcrib.safety.shell.redirects import Redirect, applied, redirect
from toolcrib.safety.shell.rules import ShellRule
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.words import MOST_TEXT, Words

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_ROUNDS = 8
_HAS_STATEMENTS = frozenset(("program", "do_group", "compound_statement", "else_clause"))


class Enough(Exception):
    """A limit is reached, or nothing stricter can be found: the walk ends."""


class Walk:
    """One judgement. What it finds, it notes; the strictest wins."""

    def __init__(self, rules: Sequence[ShellRule] = (), workspace: str = "") -> None:
        self.rules = rules
        self.workspace = workspace
        self.finding: Finding | None = None
        self.asked: list[tuple[str, ...]] = []
        self.storable = True
        self.depth = 0
        self.steps = 0
        self.span = (0, 0)
        self.now: tuple[str, ...] = ()
        self.calls: list[str] = []
        self._words = Words(self)
        self.allowed_by: tuple[str, str] | None = None
        self._kinds: dict[str, Callable[[Node, Scope, str | None], str]] = {
            "program": self._statements,
            "list": self._list,
            "do_group": self._statements,
            "compound_statement": self._compound,
            "subshell": self._subshell,
            "pipeline": self._pipeline,
            "command": self._command,
            "redirected_statement": self._redirected,
            "variable_assignment": self._assignment,
            "variable_assignments": self._statements,
            "declaration_command": self._declaration,
            "unset_command": self._unset,
            "negated_command": self._negated,
            "test_command": self._test,
            "if_statement": self._branch,
            "elif_clause": self._branch,
            "else_clause": self._branch,
            "while_statement": self._loop,
            "for_statement": self._for,
            "c_style_for_statement": self._loop,
            "case_statement": self._case,
            "function_definition": self._function,
            "comment": lambda _node, _scope, _stdin: "",
        }

    def note(self, level: str, rule: str, why: str, instead: str = "") -> None:
        """A reason to ask or to deny. The first of the strictest is kept."""
        if level == ASK and self.now and self.now not in self.asked:
            self.asked.append(self.now)
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

    def visit(self, node: "Node", scope: Scope, stdin: str | None = None) -> str:
        """One statement; gives what it prints."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            self.worry("limit:steps", "too many commands to follow")
            raise Enough
        kind = self._kinds.get(node.type)
        if kind is None:
            return self._other(node, scope, stdin)
        if not self.depth:
            self.span = (node.start_byte, node.end_byte)
        return kind(node, scope, stdin)

    def _other(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        if not node.is_named:
            return ""
        if node.type == "ERROR":
            self.worry("syntax", "the command could not be parsed, so nobody knows what it would do")
            return self._statements(node, scope, stdin)
        self._words.text(node, scope, quoted=True)
        return UNKNOWN

    def _statements(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        out = ""
        for child in node.children:
            if child.is_named:
                out += self.visit(child, scope, stdin)
                if len(out) > MOST_TEXT:
                    out = blurred(out)
        return out

    def _list(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        """`a && b`, `a || b`: what stands behind may not run, so its assignments are not certain."""
        first, sign, second = node.children[0], node.children[1].type, node.children[-1]
        out = self.visit(first, scope, stdin)
        if sign != "||":
            return out + self.visit(second, scope, stdin)
        cwd = scope.cwd
        scope.loose += 1
        out += self.visit(second, scope, stdin)
        scope.loose -= 1
        scope.cwd = cwd
        return out

    def _compound(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        if node.children[0].type == "((":
            self._words.sums(node, scope)
            return ""
        return self._statements(node, scope, stdin)

    def _subshell(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        return self._statements(node, scope.copy(), stdin)

    def _pipeline(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        stages = [child for child in node.children if child.is_named and child.type != "comment"]
        out = stdin
        for stage in stages:
            out = self.visit(stage, scope.copy(), out)
        return out or ""

    def _negated(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        return self._statements(node, scope, stdin)

    def inside(self, node: "Node", scope: Scope) -> str:
        """A substitution `$(..)` or `` `..` ``."""
        if node.children and node.children[0].type == "`" and "\\" in (raw := text_of(node)[1:-1]):
            return self.text(raw.replace("\\`", "`").replace("\\\\", "\\").replace("\\$", "$"), scope.copy())
        within = scope.copy()
        parts = [child for child in node.children if child.is_named]
        if parts and all(child.type == "file_redirect" for child in parts):  # $(< file)
            read = redirect(parts[0], self._words, within)
            return applied(self, within, [read]).stdin or UNKNOWN
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.worry("limit:depth", f"commands inside of commands, more than {MOST_DEPTH} deep")
            raise Enough
        out = self._statements(node, within, None)
        self.depth -= 1
        return out

    def process(self, node: "Node", scope: Scope) -> str:
        """`<(..)`: a file name under which the output can be read."""
        within = scope.copy()
        reads = text_of(node).startswith("<")
        out = self.inside(node, within) if reads else self._sink(node, within)
        name = f"/dev/fd/{60 + len(scope.files)}"
        scope.files[name] = out
        return name

    def _sink(self, node: "Node", scope: Scope) -> str:
        out = ""
        for child in node.children:
            if child.is_named:
                out += self.visit(child, scope, UNKNOWN)
        return out

    def _redirected(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        body = node.child_by_field_name("body")
        redirects: list[Redirect] = []
        for child in node.children:
            if child.type in {"file_redirect", "heredoc_redirect", "herestring_redirect"}:
                redirects.append(redirect(child, self._words, scope))
        extra = [word for each in redirects for word in each.extra]
        flow = applied(self, scope, redirects)
        given = flow.stdin if flow.stdin is not None else stdin
        if body is None:
            out = (given or "") if not extra else self.command(extra, scope, given)
        elif extra and body.type == "command":
            out = self._command(body, scope, given, extra)
        else:
            out = self.visit(body, scope, given)
        out = flow.written(scope, out)
        for each in redirects:
            for rest in each.then:  # `cat <<EOF | sh`: the grammar hangs what follows on the here-document
                out = self.visit(rest, scope, out)
        return out

    def _assignment(self, node: "Node", scope: Scope, _stdin: str | None) -> str:
        name, value, more = self.assigned(node, scope)
        self.named(name, value)
        if name:
            scope.assign(name, value, more=more)
        return ""

    def named(self, name: str, value: str | list[str]) -> None:
        """A variable that changes what later commands do."""
        launch.environment(self, name, value)

    def assigned(self, node: "Node", scope: Scope) -> tuple[str, str | list[str], bool]:
        """A `name=value`: the name, the value, and whether it is added."""
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        more = any(child.type == "+=" for child in node.children)
        label = text_of(name) if name else ""
        if name is not None and name.type == "subscript":
            self._words.text(name, scope, quoted=True)
            label = label.partition("[")[0]
            more = True
        if value is None:
            return label, "", more
        if value.type != "array":
            return label, self._words.one(value, scope), more
        items: list[str] = []
        for child in value.children:
            if child.type == "variable_assignment":
                items.append(str(self.assigned(child, scope)[1]))
            elif child.is_named:
                items += self._words.words(child, scope)
        return label, items, more

    def _declaration(self, node: "Node", scope: Scope, _stdin: str | None) -> str:
        words = [text_of(node.children[0])]
        for child in node.children[1:]:
            if child.type == "variable_assignment":
                self._assignment(child, scope, None)
                words.append("x=")
            elif child.is_named:
                words += self._words.words(child, scope)
        for word in words[1:]:
            if "=" in word and word != "x=":  # declare "x=$y" and the like
                name, _, value = word.partition("=")
                self.named(name, value)
                scope.assign(name, value)
        return launch.declared(self, words, scope)

    def _unset(self, node: "Node", scope: Scope, _stdin: str | None) -> str:
        for child in node.children[1:]:
            if child.is_named:
                for word in self._words.words(child, scope):
                    self.named(word, "")
                    scope.names[word] = ""
        return ""

    def _test(self, node: "Node", scope: Scope, _stdin: str | None) -> str:
        self._words.sums(node, scope)
        return ""

    def _branch(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        scope.loose += 1
        cwd = scope.cwd
        out = self._statements(node, scope, stdin)
        scope.cwd = cwd
        scope.loose -= 1
        return out and blurred(out)

    def _loop(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        """A loop's body is walked twice: what the first round assigns, the second may use."""
        scope.loose += 1
        for round_ in range(2):
            before = dict(scope.names)
            out = self._statements(node, scope, UNKNOWN + taints(stdin or "") if stdin is not None else None)
            if round_ or scope.names == before:
                break
        scope.loose -= 1
        return blurred(out)

    def _for(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        name = text_of(node.child_by_field_name("variable") or node)
        body = node.child_by_field_name("body")
        given = [child for at, child in enumerate(node.children) if node.field_name_for_child(at) == "value"]
        values = [word for child in given for word in self._words.words(child, scope)]
        if not given:
            values = scope.arguments if scope.arguments is not None else [UNKNOWN]
        if body is None:
            return ""
        if len(values) > MOST_ROUNDS or node.children[0].type == "select":
            values = [*values[:2], UNKNOWN + "".join(taints(value) for value in values)]
        out = ""
        for value in values or [UNKNOWN]:
            scope.names[name] = value.replace(LOOSE, UNKNOWN)
            scope.loose += len(values) > 1
            out += self.visit(body, scope, stdin)
            scope.loose -= len(values) > 1
        return out if len(values) <= MOST_ROUNDS else blurred(out)

    def _case(self, node: "Node", scope: Scope, stdin: str | None) -> str:
        value = node.child_by_field_name("value")
        if value is not None:
            self._words.text(value, scope, quoted=True)
        scope.loose += 1
        out = ""
        for item in node.children:
            if item.type == "case_item":
                for at, child in enumerate(item.children):
                    if child.is_named and item.field_name_for_child(at) == "value":
                        self._words.text(child, scope, quoted=True)
                    elif child.is_named:
                        out += self.visit(child, scope, stdin)
        scope.loose -= 1
        return out and blurred(out)

    def _function(self, node: "Node", scope: Scope, _stdin: str | None) -> str:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return ""
        label = text_of(name)
        if _calls_itself(body, label):
            self.note(DENY, "fork-bomb", f"the function {label} starts itself again and again until the machine stops")
        scope.functions[label] = body
        within = scope.copy()
        within.arguments, within.loose = None, within.loose + 1
        self.calls.append(label)
        self.depth += 1
        self.visit(body, within, None)
        self.depth -= 1
        self.calls.pop()
        return ""

    def call(self, name: str, arguments: Sequence[str], scope: Scope, stdin: str | None) -> str:
        """A function of the command's own, with what it is given."""
        if name in self.calls:
            return UNKNOWN
        if self.depth >= MOST_DEPTH:
            self.worry("limit:depth", f"functions inside of functions, more than {MOST_DEPTH} deep")
            raise Enough
        before, scope.arguments = scope.arguments, list(arguments)
        self.calls.append(name)
        self.depth += 1
        out = self.visit(scope.functions[name], scope, stdin)
        self.depth -= 1
        self.calls.pop()
        scope.arguments = before
        return out

    def _command(self, node: "Node", scope: Scope, stdin: str | None, extra: Sequence[str] = ()) -> str:
        argv: list[str] = []
        prefix: list[tuple[str, str | list[str]]] = []
        redirects: list[Redirect] = []
        last, whole, first, joined = node.start_byte, node.text or b"", node.start_byte, ""
        for child in node.children:
            gap = whole[last - first : child.start_byte - first]
            last = child.end_byte
            if child.type == "variable_assignment":
                name, value, _ = self.assigned(child, scope)
                prefix.append((name, value))
                continue
            if child.type.endswith("_redirect"):
                redirects.append(redirect(child, self._words, scope))
                argv += redirects[-1].extra
                continue
            if gap.strip(b" \t\n\\"):
                self.worry("syntax", "there are signs between the words that a shell may read otherwise")
            text = self._words.text(child, scope)
            if not gap and joined is not None and argv and child.type != "command_name":
                # Two pieces without a blank between them are one word, whatever the grammar says.
                joined = ("" if joined == "$" and child.type == "string" else joined) + text
                argv = argv[: self._mark] + self._split(joined)
            else:
                joined, self._mark = text, len(argv)
                argv += self._split(text)
        argv += extra
        return self.started(argv, prefix, redirects, scope, stdin)

    _mark = 0

    @staticmethod
    def _split(text: str) -> list[str]:
        return words_of(text)

    def started(
        self,
        argv: Sequence[str],
        prefix: Sequence[tuple[str, str | list[str]]],
        redirects: Sequence[Redirect],
        scope: Scope,
        stdin: str | None,
    ) -> str:
        """A command with what stands before it and where its streams go."""
        if not self.depth:
            self.now = tuple(argv)
        for name, value in prefix:
            self.named(name, value)
            if not argv:
                scope.assign(name, value)
        flow = applied(self, scope, redirects)
        given = flow.stdin if flow.stdin is not None else stdin
        if not argv:
            return flow.written(scope, "")
        within = scope
        if any(name == "IFS" for name, _ in prefix):
            within = scope.copy()
        return flow.written(scope, self.command(argv, within, given))

    def command(self, argv: Sequence[str], scope: Scope, stdin: str | None = None) -> str:
        """One command's words, from the text or from inside another command."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            self.worry("limit:steps", "too many commands to follow")
            raise Enough
        return launch.start(self, argv, scope, stdin)


def _calls_itself(body: "Node", name: str) -> bool:
    """Whether a function starts itself beside itself: in a pipeline, or left running."""
    text = text_of(body)
    if name not in text:
        return False
    todo = [body]
    hits = 0
    beside = "&" in text.replace("&&", "").replace(">&", "").replace("&>", "") or "|" in text.replace("||", "")
    while todo:
        node = todo.pop()
        if node.type == "command_name" and text_of(node) == name:
            hits += 1
        todo += node.children
    return (hits > 0 and beside) or hits > 1
