"""read_file."""

from typing import Annotated

from annotated_types import Ge, Le
from msgspec import Struct

from toolcrib.core.call import Caller, Result
from toolcrib.core.errors import ToolFailed
from toolcrib.core.tool import Effect, Flow
from toolcrib.safety import text
from toolcrib.safety.paths import escaped, shown
from toolcrib.safety.text import Text
from toolcrib.services.content.files import PathRoutes, Workspace, Workspaces
from toolcrib.tools.files.family import family

LINES = 2000
CHARACTERS_OF_LINE = 2000
CHARACTERS = 100_000


class Part(Struct, frozen=True, kw_only=True):
    """Which part of a file was shown."""

    path: str
    first_line: int
    last_line: int
    total_lines: int
    truncated: bool
    encoding: str = "utf-8"
    line_ends: str = "lf"
    pages: int | None = None


@family.tool(Effect.READ, parallel=True, flow=(Flow.PRIVATE,), whole=True)
async def read_file(
    files: Workspaces,
    routes: PathRoutes,
    me: Caller,
    *,
    path: Annotated[str, "File, relative to the workspace"],
    offset: Annotated[int, Ge(1), "First line to read, from 1"] = 1,
    limit: Annotated[int, Ge(1), Le(LINES), "How many lines to read"] = LINES,
) -> Result:
    """Read a text file, or the text of a PDF.

    Gives the text as it stands, with plain line ends, so that it can be copied into edit_file. A note at the end
    says how to read on. Use grep to find lines in many files.
    """
    workspace = files.of(me)
    relative = workspace.relative(path)
    if routes.claims(me, relative):
        content = await routes.read(me, relative)
        if content is None:
            raise ToolFailed(f"{shown(path)}: there is no such file.", code="not_found")
        return _told(relative, Text(content), offset, limit)
    return await _from_disk(workspace, path, offset, limit)


async def _from_disk(workspace: Workspace, path: str, offset: int, limit: int) -> Result:
    stored = await workspace.read(path)
    if stored.data.startswith(b"%PDF-"):
        pages = await workspace.pdf_pages(path, stored.data)
        if not any(page.strip() for page in pages):
            raise ToolFailed(
                f"{shown(path)}: this PDF has {len(pages)} pages and no text; they may be pictures.",
                code="unreadable_pdf",
            )
        marked = (f"--- page {number} of {len(pages)} ---\n{page.strip()}\n" for number, page in enumerate(pages, 1))
        return _told(stored.path, Text("".join(marked)), offset, limit, pages=len(pages))
    decoded = text.decode(stored.data)
    if decoded is None:
        raise ToolFailed(
            f"{shown(path)} is binary: {text.kind(stored.data)}, {len(stored.data):,} bytes.",
            code="binary_file",
            hint="read_file shows text and PDF text only.",
        )
    return _told(stored.path, decoded, offset, limit)


# Plain text, not numbered lines: what a model copies into oldText is then just what stands in the file, and a
# number on every line costs a quarter more tokens. grep and the notes name lines where numbers are needed.
def _told(path: str, decoded: Text, offset: int, limit: int, *, pages: int | None = None) -> Result:
    lines = text.split_lines(decoded.content)
    total = len(lines)
    if offset > max(total, 1):
        raise ToolFailed(
            f"{shown(path)} has {total} lines; offset {offset} is past its end.",
            code="bad_range",
            data={"lines": total},
        )
    chosen = lines[offset - 1 : offset - 1 + limit]
    cut = any(len(line) > CHARACTERS_OF_LINE for line in chosen)
    chosen = _fitting([_short(line) for line in chosen])
    last = offset - 1 + len(chosen)
    body = "\n".join(chosen)
    if last == total and decoded.content.endswith("\n"):
        body += "\n"
    notes = _notes(decoded, offset, last, total)
    part = Part(
        path=escaped(path),
        first_line=min(offset, total),
        last_line=last,
        total_lines=total,
        truncated=last < total or offset > 1 or cut,
        encoding=decoded.encoding,
        line_ends=text.line_ends(decoded.content),
        pages=pages,
    )
    return Result(text="\n".join(filter(None, (body, *notes))), structured=part)


def _fitting(lines: list[str]) -> list[str]:
    """The first lines that fit into the characters there are."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line) + 1
        if size > CHARACTERS:
            return lines[:count]
    return lines


def _short(line: str) -> str:
    if len(line) <= CHARACTERS_OF_LINE:
        return line
    return f"{line[:CHARACTERS_OF_LINE]}… [this line has {len(line):,} characters and is cut here]"


def _notes(decoded: Text, offset: int, last: int, total: int) -> list[str]:
    if not total:
        return ["[the file is empty]"]
    notes: list[str] = []
    if last < total:
        notes.append(f"[lines {offset} to {last} of {total}; read on with offset={last + 1}]")
    elif offset > 1:
        notes.append(f"[lines {offset} to {last} of {total}; this is the end]")
    if decoded.assumed:
        notes.append("[not UTF-8: read as Latin-1, so some characters may be others]")
    return notes
