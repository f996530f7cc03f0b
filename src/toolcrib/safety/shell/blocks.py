"""Branches, loops and functions: what may run, may run again, or runs when it is called."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolcrib.safety.shell.judged import ASK, DENY
from toolcrib.safety.shell.marks import LOOSE, UNKNOWN, blurred, taints, vague
from toolcrib.safety.shell.parse import MOST_DEPTH, text_of
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.walking import Enough, Walker

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_ROUNDS = 8


def branch(walk: Walker, node: "Node", scope: Scope, stdin: str | None) -> str:
    """`if` and its parts: what is assigned there may not have been."""
    scope.loose += 1
    cwd = scope.cwd
    out = walk.statements(node, scope, stdin)
    scope.cwd = cwd
    scope.loose -= 1
    return out and blurred(out)


def loop(walk: Walker, node: "Node", scope: Scope, stdin: str | None) -> str:
    """A loop's body is walked twice: what the first round assigns, the second may use."""
    if _endless(node) and _leaves_running(node):
        walk.note(DENY, "fork-bomb", "it would start one process after the other until the machine stops")
    elif _endless(node):
        walk.note(ASK, "endless", "it would never end by itself")
    scope.loose += 1
    before = dict(scope.names)
    given = UNKNOWN + taints(stdin) if stdin is not None else None
    out = walk.statements(node, scope, given)
    if scope.names != before:
        out = walk.statements(node, scope, given)
    scope.loose -= 1
    return blurred(out)


_ALWAYS = frozenset(("true", ":", "[ 1 ]", "[[ 1 ]]", "((1))", "(( 1 ))", "[ 1 -eq 1 ]", "test 1", "/bin/true"))
_ENDS = re.compile(r"\b(?:break|exit|return|sleep|read|wait|exec)\b")


def _endless(node: "Node") -> bool:
    """A loop whose condition always holds, and that neither waits nor leaves."""
    condition = next((child for child in node.children if child.is_named), None)
    always = text_of(condition) in _ALWAYS if condition is not None else ";;" in text_of(node)[:16].replace(" ", "")
    return always and not _ENDS.search(" ".join(text_of(one) for one in _body(node) if not _left_running(one)))


def _body(node: "Node") -> list["Node"]:
    group = next((child for child in node.children if child.type == "do_group"), node)
    return [child for child in group.children if child.is_named]


def _left_running(node: "Node") -> bool:
    following = node.next_sibling
    return following is not None and following.type == "&"


def _leaves_running(node: "Node") -> bool:
    return any(map(_left_running, _body(node)))


def for_each(walk: Walker, node: "Node", scope: Scope, stdin: str | None) -> str:
    """`for name in words`: the body with each of the first words."""
    name = text_of(node.child_by_field_name("variable") or node)
    body = node.child_by_field_name("body")
    values = _values(walk, node, scope)
    if body is None:
        return ""
    if (len(values) > 2 or any(map(vague, values))) and any(child.type == "&" for child in body.children):
        walk.note(ASK, "many", "it would leave one process after the other running")
    out = ""
    for value in values or [UNKNOWN]:
        scope.names[name] = value.replace(LOOSE, UNKNOWN)
        scope.loose += len(values) > 1
        out += walk.visit(body, scope, stdin)
        scope.loose -= len(values) > 1
    return out if len(values) <= MOST_ROUNDS else blurred(out)


def _values(walk: Walker, node: "Node", scope: Scope) -> list[str]:
    given = [child for at, child in enumerate(node.children) if node.field_name_for_child(at) == "value"]
    values = [word for child in given for word in walk.words.words(child, scope)]
    if not given:
        values = scope.arguments if scope.arguments is not None else [UNKNOWN]
    if len(values) > MOST_ROUNDS or node.children[0].type == "select":
        return [*values[:2], UNKNOWN + "".join(taints(value) for value in values)]
    return values


def case(walk: Walker, node: "Node", scope: Scope, stdin: str | None) -> str:
    """`case`: any of its items may run."""
    value = node.child_by_field_name("value")
    if value is not None:
        walk.words.text(value, scope, quoted=True)
    scope.loose += 1
    out = ""
    for item in node.children:
        if item.type == "case_item":
            out += _item(walk, item, scope, stdin)
    scope.loose -= 1
    return out and blurred(out)


def _item(walk: Walker, item: "Node", scope: Scope, stdin: str | None) -> str:
    out = ""
    for at, child in enumerate(item.children):
        if child.is_named and item.field_name_for_child(at) == "value":
            walk.words.text(child, scope, quoted=True)
        elif child.is_named:
            out += walk.visit(child, scope, stdin)
    return out


def function(walk: Walker, node: "Node", scope: Scope, _stdin: str | None) -> str:
    """A function is judged where it is made, with nothing known of its arguments, and where it is called."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        return ""
    label = text_of(name)
    if _calls_itself(body, label):
        walk.note(DENY, "fork-bomb", f"the function {label} starts itself again and again until the machine stops")
    scope.functions[label] = body
    within = scope.copy()
    within.arguments, within.loose = None, within.loose + 1
    _entered(walk, label, body, within, None)
    return ""


def call(walk: Walker, name: str, arguments: Sequence[str], scope: Scope, stdin: str | None) -> str:
    """A function of the command's own, with what it is given."""
    if name in walk.calls:
        return UNKNOWN
    if walk.depth >= MOST_DEPTH:
        walk.worry("limit:depth", f"functions inside of functions, more than {MOST_DEPTH} deep")
        raise Enough
    before, scope.arguments = scope.arguments, list(arguments)
    out = _entered(walk, name, scope.functions[name], scope, stdin)
    scope.arguments = before
    return out


def _entered(walk: Walker, name: str, body: "Node", scope: Scope, stdin: str | None) -> str:
    walk.calls.append(name)
    walk.depth += 1
    out = walk.visit(body, scope, stdin)
    walk.depth -= 1
    walk.calls.pop()
    return out


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
