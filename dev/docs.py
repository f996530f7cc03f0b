"""Writes docs/reference from the code: nothing there is typed by hand, so nothing there can be out of date."""

import ast
import inspect
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import click

import toolcrib
from toolcrib.core.tool import Tool, described
from toolcrib.faces import cli
from toolcrib.faces.cli.frame import Command, Group
from toolcrib.faces.http.application import described as described_api
from toolcrib.faces.http.application import operations
from toolcrib.services.config.reading import key_rows
from toolcrib.services.settings import FILE, SETTINGS
from toolcrib.sources import native

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "toolcrib"
HERE = ROOT / "docs" / "reference"
NOTE = "*Made by `./toolcrib dev docs`. Change the code, not this page.*"
WIDTH = 100


def write(*, only_check: bool) -> int:
    """Write the pages, or say which of them are out of date."""
    made = pages()
    stale = [path for path, text in made.items() if _text(path) != text]
    gone = [path for path in sorted(HERE.glob("*.md")) if path not in made]
    if only_check:
        for path in (*stale, *gone):
            print(f"{path.relative_to(ROOT)} is out of date. Write it anew with: ./toolcrib dev docs")
        return 1 if stale or gone else 0
    HERE.mkdir(parents=True, exist_ok=True)
    for path in stale:
        path.write_text(made[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    for path in gone:
        path.unlink()
        print(f"removed {path.relative_to(ROOT)}")
    return 0


def pages() -> dict[Path, str]:
    """Every page of the reference."""
    made: dict[str, Callable[[], Iterator[str]]] = {
        "tools": tools,
        "toolboxes": toolboxes,
        "errors": errors,
        "configuration": configuration,
        "settings": settings,
        "commands": commands,
        "library": library,
        "api": api,
    }
    document = json.dumps(described_api(), indent=1, ensure_ascii=False) + "\n"
    return {HERE / "openapi.json": document} | {
        HERE / f"{name}.md": "\n".join([*page(), ""]) for name, page in made.items()
    }


def tools() -> Iterator[str]:
    """Every native tool: words, arguments, flags, aliases, and the toolboxes that grant it."""
    yield from _title("Tools", "The tools that come with this version, by family.")
    boxes = native.base_grants().toolboxes
    for family in native.families():
        yield from ("", f"## {family.label}", "", family.about)
        for tool in sorted(family.tools, key=lambda one: one.name):
            held = [name for name, box in sorted(boxes.items()) if tool.name in box.tools or "*" in box.tools]
            yield from _tool(tool, held)


def _tool(tool: Tool, boxes: list[str]) -> Iterator[str]:
    told = described(tool)
    flags = [name for name, holds in told["flags"].items() if holds]
    facts = {
        "flags": ", ".join(flags) or "writes",
        "works for": " and ".join(where.replace("_", "-") + "s" for where in told["availability"])
        .replace("mains", "main agents"),
        "aliases": ", ".join(f"`{name}`" for name in tool.aliases),
        "toolboxes": ", ".join(boxes),
        "in the core floor": "yes" if tool.name in native.base_grants().floor else "",
        "operation class": "" if told["operation_class"] == "daily" else told["operation_class"],
        "information flow": ", ".join(told["flow"]),
        "there only with": tool.traits.condition,
    }  # fmt: skip
    yield from ("", f"### {tool.name}", "", tool.about, "")
    yield "; ".join(f"{what}: {value}" for what, value in facts.items() if value)
    yield from _arguments(tool.schema)


def _arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    parts: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    if not parts:
        yield from ("", "No arguments.")
        return
    needed = schema.get("required", [])
    rows = [
        (f"`{name}`", _kind(part, schema), "" if name in needed else _default(part), str(part.get("description", "")))
        for name, part in parts.items()
    ]
    yield from _table(("argument", "kind", "default", "words"), rows)


def _kind(part: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What an argument may be, in words."""
    if "$ref" in part:
        return _kind(schema["$defs"][str(part["$ref"]).rpartition("/")[2]], schema)
    if choices := part.get("anyOf") or part.get("oneOf"):
        return " or ".join(dict.fromkeys(_kind(one, schema) for one in choices))
    if "enum" in part:
        return " or ".join(f"`{one}`" for one in part["enum"])
    if part.get("type") == "array":
        return f"list of {_kind(part.get('items', {}), schema)}"
    kind = str(part.get("type", "any value"))
    if "maxLength" in part:
        return f"{kind}, {part.get('minLength', 0)} to {part['maxLength']} characters"
    bounds = [f"{word} {part[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in part]
    return " ".join([kind, *bounds])


def _default(part: Mapping[str, Any]) -> str:
    default = part.get("default")
    return "optional" if default is None or default == "" else f"`{default}`"


def toolboxes() -> Iterator[str]:
    """The built-in toolboxes, the floor, the groups and the profiles."""
    grants, names = native.base_grants(), native.names(frozenset(tool.name for tool in native.native_tools()))
    about = "A name in *italics* may be written everywhere; this version does not have the tool yet."
    yield from _title("Toolboxes", f"What is there before anybody writes a configuration. {about}")
    later = {**names.reserved, **names.covers}
    yield from (
        "",
        "## Core floor",
        "",
        "Every agent without an exact toolbox holds it.",
        "",
        _names(grants.floor, later),
    )
    yield from ("", "## Built-in toolboxes")
    for name, box in sorted(grants.toolboxes.items()):
        exact = f" Exact: it replaces the floor by {_names(grants.exact_floor, later)}." if box.exact else ""
        yield from ("", f"### {name}", "", box.description + exact, "", _names(box.tools, later))
    yield from ("", "## Groups", "", "Written `group:name`, wherever a tool may stand.")
    yield from _table(
        ("group", "holds"), [(f"`group:{name}`", _names(held, later)) for name, held in names.groups.items()]
    )
    yield from ("", "## Profiles", "", "`policy.profile` lets only these pass.")
    yield from _table(("profile", "lets pass"), [(name, _names(held, later)) for name, held in grants.profiles.items()])


def _names(names: Iterable[str], later: Mapping[str, object]) -> str:
    return ", ".join(f"*{name}*" if name in later else f"`{name}`" for name in names)


def errors() -> Iterator[str]:
    """The codes of refused and failed calls, read off the code that raises them."""
    yield from _title("Errors", "A code is a promise: programs may branch on it. The words may change.")
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SRC.rglob("*.py"))}
    classes = [row for tree in trees.values() for row in _classes(tree)]
    yield from ("", "## Of the pipeline and the store")
    yield from _table(("code", "when"), sorted(classes))
    yield from ("", "## Of tools", "", "`…` stands for what differs from call to call.")
    said: dict[str, list[str]] = {}
    for tree in trees.values():
        for code, words in _raised(tree):
            if words not in said.setdefault(code, []):
                said[code].append(words)
    own = {code for code, _ in classes}
    rows = [(f"`{code}`", "<br>".join(sorted(words))) for code, words in sorted(said.items()) if f"`{code}`" not in own]
    yield from _table(("code", "what it says"), rows)


def _classes(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                value = part.value if isinstance(part, ast.Assign | ast.AnnAssign) else None
                target = part.targets[0] if isinstance(part, ast.Assign) else getattr(part, "target", None)
                code = value.value if isinstance(value, ast.Constant) else None
                if isinstance(target, ast.Name) and target.id == "code" and code and isinstance(code, str):
                    yield f"`{code}`", (ast.get_docstring(node) or "").replace("\n", " ")


def _raised(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Codes that are given where a failure is made: by name, chosen just before, or first in a row of words."""
    chosen: list[str] = []
    for node in _in_order(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
            either = (node.value.body, node.value.orelse) if isinstance(node.value, ast.IfExp) else ()
            chosen = [str(part.value) for part in either if isinstance(part, ast.Constant)]
        elif isinstance(node, ast.Call) and node.args:
            named = next((key.value for key in node.keywords if key.arg == "code"), None)
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                yield named.value, _words(node.args[0])
            elif isinstance(named, ast.Name):
                yield from ((code, _words(node.args[0])) for code in chosen)
            elif ast.unparse(node.func) == "_Words" and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value), _words(node.args[1])


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node, as the file is read."""
    for node in ast.iter_child_nodes(tree):
        yield node
        yield from _in_order(node)


def _words(node: ast.expr) -> str:
    """A text as it is written, with `…` where it is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_words(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _words(node.left) + _words(node.right)
    if isinstance(node, ast.IfExp):
        return f"{_words(node.body)} / {_words(node.orelse)}"
    return "…"


def configuration() -> Iterator[str]:
    """Every key of toolcrib.yaml."""
    yield from _title("toolcrib.yaml", "Every key that this version uses. `toolcrib config check` names the rest.")
    rows = [(f"`{place}`", kind, default, words) for place, kind, default, words in key_rows()]
    yield from _table(("key", "kind", "default", "words"), rows)


def settings() -> Iterator[str]:
    """Every setting of the program."""
    about = "The command line comes first, then the environment, then toolcrib.yaml, then the default."
    yield from _title("Settings", about)
    rows = [
        (
            f"`{one.variable}`" + (f"<br>`{one.variable}{FILE}`" if one.secret else ""),
            one.default or one.shown,
            one.words + (f": {', '.join(one.choices)}" if one.choices else ""),
            "yes" if one.in_config else "",
        )
        for one in SETTINGS
    ]
    yield from _table(("variable", "default", "words", "in toolcrib.yaml"), rows)


def commands() -> Iterator[str]:
    """The help of every command."""
    yield from _title("Commands", "What `--help` says.")
    yield from _help(cli.program, "toolcrib", None)


def _help(command: Command | Group, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, max_content_width=WIDTH, terminal_width=WIDTH)
    yield from ("", f"## {context.command_path}", "", "```text", context.get_help().rstrip(), "```")
    if isinstance(command, Group):
        for child in command.list_commands(context):
            found: Any = command.get_command(context, child)
            yield from _help(found, child, context)


def api() -> Iterator[str]:
    """Every operation of the HTTP API with who may use it; the whole is in openapi.json."""
    words = "Every operation with who may use it. What each takes and gives is in [openapi.json](openapi.json)."
    yield from _title("HTTP API", words)
    for tag in dict.fromkeys(row.tag for row in operations()):
        rows = [
            (
                f"`{row.method} {row.path}`",
                _first_line(row.endpoint),
                row.role.value if row.role else "anyone",
                row.scope,
            )
            for row in operations()
            if row.tag == tag
        ]
        yield from ("", f"## {tag.capitalize()}")
        yield from _table(("operation", "what it does", "role", "scope of a key"), rows)


def library() -> Iterator[str]:
    """Every public name: its words, and what can be done with it."""
    yield from _title("Library", "What `from toolcrib import …` offers.")
    for name in toolcrib.__all__:
        thing: Any = getattr(toolcrib, name)
        if not callable(thing):
            continue
        yield from ("", f"## {name}", "", f"`{_signature(name, thing)}`", "", inspect.getdoc(thing) or "")
        members = [(key, part) for key, part in vars(thing).items() if not key.startswith("_") and _public(part)]
        rows = [(f"`{_signature(key, part)}`", _first_line(part)) for key, part in members]
        if isinstance(thing, type) and rows:
            yield from _table(("member", "words"), rows)


def _public(part: object) -> bool:
    return isinstance(part, FunctionType | property)


def _signature(name: str, thing: Any) -> str:  # noqa: ANN401 - whatever is public
    """Names of parameters only: how annotations are written differs from Python to Python."""
    if isinstance(thing, property):
        return name
    if isinstance(thing, type) and issubclass(thing, Exception):
        return name
    shown: list[str] = []
    for one in inspect.signature(cast("Callable[..., object]", thing)).parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not any(part.startswith("*") for part in shown):
            shown.append("*")
        shown.append(_STARS.get(one.kind, "") + one.name)
    return f"{name}({', '.join(shown)})"


_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").partition("\n\n")[0]


def _title(name: str, about: str) -> Iterator[str]:
    yield from (f"# {name}", "", NOTE, "", *textwrap.wrap(about, 120))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield from ("", f"| {' | '.join(head)} |", "|" + " --- |" * len(head))
    for row in rows:
        cells = (cell.replace("|", "\\|").replace("\n", " ") for cell in row)
        yield f"| {' | '.join(cells)} |"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
