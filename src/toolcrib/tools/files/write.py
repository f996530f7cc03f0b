"""write_file."""

from typing import Annotated

from toolcrib.core.call import Caller, Result
from toolcrib.core.errors import ToolFailed
from toolcrib.core.tool import Effect
from toolcrib.safety.paths import shown
from toolcrib.safety.text import count_lines, decode
from toolcrib.services.content.files import BYTES_OF_FILE, PathRoutes, Workspace, Workspaces
from toolcrib.services.content.marks import BEGINS, Marks
from toolcrib.tools.files.family import family


@family.tool(Effect.WRITE, undoable=True)
async def write_file(
    files: Workspaces,
    routes: PathRoutes,
    marks: Marks,
    me: Caller,
    *,
    path: Annotated[str, "File, relative to the workspace"],
    content: Annotated[str, "The whole content"],
    createDirectories: Annotated[bool, "Make missing folders"] = True,  # noqa: N803 - the name models know
) -> Result:
    """Write a whole file: create it, or replace all it holds.

    To change a part of a file use edit_file, which leaves the rest as it is.
    """
    workspace = files.of(me)
    relative = workspace.relative(path)
    if BEGINS in content:
        content = marks.restored(content, await _held(workspace, routes, me, relative))
    data = content.encode()
    if len(data) > BYTES_OF_FILE:
        raise ToolFailed(
            f"The content has {len(data):,} bytes; a file may have {BYTES_OF_FILE:,}.",
            code="too_large",
            hint="Write it in several files.",
        )
    if routes.claims(me, relative):
        await routes.write(me, relative, content)
        created = None
    else:
        created = (await workspace.write(path, data, directories=createDirectories)).created
    lines = count_lines(content)
    did = "Wrote" if created is None else "Created" if created else "Replaced"
    return Result(
        text=f"{did} {shown(path)}: {lines:,} line{'' if lines == 1 else 's'}, {len(data):,} byte{'' if len(data) == 1 else 's'}.",
        structured={"path": relative, "created": bool(created), "lines": lines, "bytes": len(data)},
    )


async def _held(workspace: Workspace, routes: PathRoutes, me: Caller, path: str) -> str:
    """What the file holds now; "" when there is none."""
    if routes.claims(me, path):
        return await routes.read(me, path) or ""
    try:
        decoded = decode((await workspace.read(path)).data)
    except ToolFailed:
        return ""
    return "" if decoded is None else decoded.content
