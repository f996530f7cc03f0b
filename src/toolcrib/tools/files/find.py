"""list_directory, glob and grep."""

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Literal

from annotated_types import Ge, Le
from msgspec import Struct

from toolcrib.core.call import Caller, Result
from toolcrib.core.errors import ToolFailed
from toolcrib.core.tool import Effect, Flow
from toolcrib.safety.globs import Glob
from toolcrib.safety.paths import escaped
from toolcrib.services.content.files import (
    Entry,
    FileHits,
    Hits,
    Kind,
    Line,
    Listing,
    Mode,
    PathRoutes,
    Query,
    Workspaces,
)
from toolcrib.tools.files.family import family

ENTRIES = 1000
CHARACTERS_OF_LINE = 500
BEFORE_MATCH = 100
_MARKS = {Kind.DIRECTORY: "/", Kind.LINK: "@", Kind.FILE: "", Kind.OTHER: "?"}


class Listed(Struct, frozen=True):
    """One entry as programs get it."""

    path: str
    kind: str
    size: int | None = None


@family.tool(Effect.READ, parallel=True, aliases=("list_files",), flow=(Flow.PRIVATE,))
async def list_directory(
    files: Workspaces,
    routes: PathRoutes,
    me: Caller,
    *,
    path: Annotated[str, "Folder, relative to the workspace"] = ".",
    recursive: Annotated[bool, "Also what lies in its folders"] = False,
    maxDepth: Annotated[int, Ge(1), Le(10), "How deep, when recursive"] = 3,  # noqa: N803 - the name models know
    pattern: Annotated[str, "Show only names that fit this glob, such as *.py"] = "",
) -> Result:
    """List a folder: folders end with /, links with @, files show their size.

    Version control and build folders (.git, node_modules, ...) are left out unless `path` names one.
    """
    workspace = files.of(me)
    relative = workspace.relative(path)
    depth = maxDepth if recursive else 1
    routed = [one async for one in _routed(routes, me, relative, depth) if not pattern or _fits(pattern, one)]
    try:
        found = await workspace.listing(path, depth=depth, pattern=pattern, limit=ENTRIES)
    except ToolFailed as error:
        if not routed or error.as_fault().code != "not_found":
            raise
        found = Listing(())
    entries = _merged(found.entries, routed)
    return Result(
        text="\n".join(_listed(entries, found, relative)),
        structured={
            "path": escaped(relative),
            "entries": [Listed(escaped(e.path), e.kind, e.size if e.kind is Kind.FILE else None) for e in entries],
            "skipped": [escaped(one) for one in found.skipped],
            "truncated": found.cut,
        },
    )


async def _routed(routes: PathRoutes, me: Caller, folder: str, depth: int) -> AsyncIterator[Entry]:
    """What is kept elsewhere, so many levels down."""
    for path in await routes.listing(me, folder):
        inner = path.removesuffix("/")
        yield Entry(inner, Kind.FILE if inner == path else Kind.DIRECTORY, None)
        if inner != path and depth > 1:
            async for one in _routed(routes, me, inner, depth - 1):
                yield one


def _fits(pattern: str, entry: Entry) -> bool:
    return Glob(pattern).fits(entry.path.rpartition("/")[2])


def _merged(entries: tuple[Entry, ...], routed: list[Entry]) -> list[Entry]:
    """What is kept elsewhere stands beside what is on the disk, and in front of a file of the same name."""
    by_path = {entry.path: entry for entry in (*entries, *routed)}
    return [by_path[one] for one in sorted(by_path, key=lambda path: path.split("/"))]


def _listed(entries: list[Entry], found: Listing, top: str) -> Iterator[str]:
    base = 0 if top == "." else len(top) + 1
    for entry in entries:
        size = f"  {entry.size:,}" if entry.kind is Kind.FILE and entry.size is not None else ""
        yield f"{escaped(entry.path[base:])}{_MARKS[entry.kind]}{size}"
    if not entries:
        yield "[nothing here]"
    if found.cut:
        yield f"[only the first {len(found.entries):,} are shown; list a folder below, or use a pattern]"
    if found.skipped:
        yield f"[left out: {', '.join(escaped(one) for one in found.skipped[:20])}]"


@family.tool(Effect.READ, parallel=True, flow=(Flow.PRIVATE,))
async def glob(
    files: Workspaces,
    me: Caller,
    *,
    pattern: Annotated[str, "Such as *.py (in any folder), src/**/*.ts, *.{js,jsx}"],
    path: Annotated[str, "Folder to look in"] = ".",
) -> Result:
    """Find files by name. Paths are relative to the workspace.

    Ignored and hidden files are found too; version control and build folders only if the pattern names them.
    """
    found = await files.of(me).find(pattern, path, ENTRIES)
    paths = [escaped(entry.path) for entry in found.entries]
    lines = paths or ["[no file fits]"]
    if found.cut:
        lines = [*lines, f"[only the first {ENTRIES:,} are shown; use a narrower pattern]"]
    return Result(text="\n".join(lines), structured={"files": paths, "truncated": found.cut})


@family.tool(Effect.READ, parallel=True, aliases=("search",), flow=(Flow.PRIVATE,), seconds=35)
async def grep(
    files: Workspaces,
    me: Caller,
    *,
    pattern: Annotated[str, "Regular expression, Rust syntax"],
    path: Annotated[str, "File or folder"] = ".",
    output_mode: Annotated[
        Literal["content", "files_with_matches", "count"], "Lines, file names, or lines per file"
    ] = "content",
    glob: Annotated[str, "Such as *.py, src/**, !*.min.js"] = "",
    context_before: Annotated[int, Ge(0), Le(50), "Lines before"] = 0,
    context_after: Annotated[int, Ge(0), Le(50), "Lines after"] = 0,
    context_around: Annotated[int, Ge(0), Le(50), "Lines before and after"] = 0,
    case_insensitive: Annotated[bool, "Ignore case"] = False,
    line_numbers: Annotated[bool, "Number lines"] = True,
    max_results: Annotated[int, Ge(1), Le(500), "Most lines or files"] = 100,
    multiline: Annotated[bool, "Match across lines"] = False,
    hidden: Annotated[bool, "Also hidden files"] = False,
    no_ignore: Annotated[bool, "Also ignored files"] = False,
) -> Result:
    """Search files with a regular expression.

    Skips ignored, hidden and binary files. Matches read `number:text`, context `number-text`.
    """
    query = Query(
        pattern=pattern,
        path=path,
        mode=Mode(output_mode),
        glob=glob,
        before=context_before or context_around,
        after=context_after or context_around,
        ignore_case=case_insensitive,
        multiline=multiline,
        hidden=hidden,
        no_ignore=no_ignore,
        limit=max_results,
    )
    return _found(await files.of(me).search(query), query, numbers=line_numbers)


def _found(hits: Hits, query: Query, *, numbers: bool) -> Result:
    if query.mode is Mode.CONTENT:
        parts = [_file(file, query, numbers=numbers) for file in hits.files]
        text = "\n\n".join(parts)
    else:
        counted = query.mode is Mode.COUNT
        text = "\n".join(f"{escaped(f.path)}:{f.count}" if counted else escaped(f.path) for f in hits.files)
    if hits.cut:
        text += f"\n[only the first {query.limit} are shown; narrow the search or raise max_results]"
    notes = _unseen("too large", hits.large) + _unseen("with a second hard link", hits.linked)
    text = "\n".join([text or "[no match]", *notes])
    structured: dict[str, object] = {"files": len(hits.files), "truncated": hits.cut}
    if query.mode is not Mode.FILES:
        structured["matches"] = sum(file.count for file in hits.files)
    structured["passed_over"] = [escaped(path) for path in (*hits.large, *hits.linked)]
    return Result(text=text, structured=structured)


def _unseen(why: str, paths: tuple[str, ...]) -> list[str]:
    """What was not looked into is said, so that no match does not read as: it is not there."""
    if not paths:
        return []
    more = f" and {len(paths) - 10:,} more" if len(paths) > 10 else ""
    return [f"[not searched, {why}: {', '.join(escaped(path) for path in paths[:10])}{more}]"]


def _file(file: FileHits, query: Query, *, numbers: bool) -> str:
    """A file's lines under its name: shorter than the name on each line."""
    lines = [escaped(file.path)]
    last = 0
    for line in file.lines:
        if last and line.number > last + 1 and (query.before or query.after):
            lines.append("--")
        lines.append((f"{line.number}{':' if line.match else '-'}" if numbers else "") + _short(line))
        last = line.number
    return "\n".join(lines)


def _short(line: Line) -> str:
    """A long line is shown around its match."""
    text = line.text
    if len(text) <= CHARACTERS_OF_LINE:
        return text
    start = max(0, len(text.encode()[: line.column].decode(errors="ignore")) - BEFORE_MATCH)
    end = start + CHARACTERS_OF_LINE
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''} [{len(text):,} characters]"
