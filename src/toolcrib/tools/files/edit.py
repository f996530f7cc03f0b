"""edit_file and multi_edit."""

from collections.abc import Callable, Sequence
from typing import Annotated, NotRequired, TypeAlias

from annotated_types import Len
from typing_extensions import TypedDict

from toolcrib.core.call import Caller, Result
from toolcrib.core.errors import ToolFailed
from toolcrib.core.tool import Effect
from toolcrib.safety import edits as engine
from toolcrib.safety import text
from toolcrib.safety.edits import Edited, Replacement
from toolcrib.safety.paths import escaped, shown
from toolcrib.services.content.files import PathRoutes, Workspaces
from toolcrib.services.content.marks import BEGINS, Marks
from toolcrib.tools.files.family import family

Apply: TypeAlias = Callable[[str], tuple[str, list[Edited]]]


class OneEdit(TypedDict):
    """One replacement of multi_edit."""

    oldText: str
    newText: str
    replaceAll: NotRequired[bool]


@family.tool(Effect.WRITE, aliases=("edit",), undoable=True)
async def edit_file(
    files: Workspaces,
    routes: PathRoutes,
    marks: Marks,
    me: Caller,
    *,
    path: Annotated[str, "File, relative to the workspace"],
    oldText: Annotated[str, "Text to replace, exactly as it stands; it must fit one place"],  # noqa: N803 - see below
    newText: Annotated[str, "What to put there, taken literally"],  # noqa: N803 - the names models know
    replaceAll: Annotated[bool, "Replace every occurrence"] = False,  # noqa: N803 - the names models know
) -> Result:
    """Replace an exact text in a file.

    Everything else stays as it is, line ends included. For several changes to one file use multi_edit.
    """
    asked = [Replacement(oldText, newText, replaceAll)]
    done = await _change(files, routes, me, path, lambda content: _one(content, *_whole(asked, marks, content)))
    edited = done[0]
    where = f"line {edited.line}" if edited.count == 1 else f"{edited.count} places, the first in line {edited.line}"
    return Result(
        text=f"Edited {shown(path)} at {where}.",
        structured={"path": escaped(files.of(me).relative(path)), "replacements": edited.count, "line": edited.line},
    )


@family.tool(Effect.WRITE, undoable=True)
async def multi_edit(
    files: Workspaces,
    routes: PathRoutes,
    marks: Marks,
    me: Caller,
    *,
    path: Annotated[str, "File, relative to the workspace"],
    edits: Annotated[list[OneEdit], Len(1, 50), "Made in order, each on the result of the one before"],
) -> Result:
    """Make several exact replacements in one file: all of them, or none.

    Each oldText must fit one place, unless its replaceAll is set.
    """
    asked = [Replacement(one["oldText"], one["newText"], one.get("replaceAll", False)) for one in edits]
    done = await _change(
        files, routes, me, path, lambda content: engine.apply_all(content, _whole(asked, marks, content))
    )
    count = sum(edited.count for edited in done)
    lines = ", ".join(str(edited.line) for edited in done)
    return Result(
        text=f"Made {len(done)} edit{'' if len(done) == 1 else 's'} in {shown(path)} (lines {lines}).",
        structured={
            "path": escaped(files.of(me).relative(path)),
            "edits": len(done),
            "replacements": count,
            "lines": [edited.line for edited in done],
        },
    )


def _one(content: str, edit: Replacement) -> tuple[str, list[Edited]]:
    edited = engine.apply(content, edit)
    return edited.content, [edited]


def _whole(asked: Sequence[Replacement], marks: Marks, content: str) -> Sequence[Replacement]:
    """The replacements with secrets where the agent saw marks."""
    if not any(BEGINS in one.old or BEGINS in one.new for one in asked):
        return asked
    return [
        Replacement(marks.restored(one.old, content), marks.restored(one.new, content), one.everywhere) for one in asked
    ]


async def _change(files: Workspaces, routes: PathRoutes, me: Caller, path: str, edit: Apply) -> Sequence[Edited]:
    """Read, edit and write back, wherever the path is kept."""
    workspace = files.of(me)
    relative = workspace.relative(path)
    if routes.claims(me, relative):
        content = await routes.read(me, relative)
        if content is None:
            raise ToolFailed(f"{shown(path)}: there is no such file.", code="not_found")
        changed, done = edit(content)
        await routes.write(me, relative, changed)
        return done
    kept: list[Edited] = []

    def on_bytes(data: bytes) -> bytes:
        decoded = text.decode(data)
        if decoded is None:
            raise ToolFailed(f"{shown(path)} is binary: {text.kind(data)}. It was not changed.", code="binary_file")
        changed, done = edit(decoded.content)
        kept.extend(done)
        return decoded.encode(changed)

    await workspace.change(path, on_bytes)
    return kept
