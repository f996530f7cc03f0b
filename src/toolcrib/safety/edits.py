r"""Exact, literal edits of text. An edit fits in one place or is refused, and changes nothing but what it matched.

`\n` in oldText also matches the file's `\r\n`, since a model is shown plain line ends; what it puts in then ends
its lines as the file does at that place.
"""

import difflib
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from toolcrib.core.errors import ToolFailed

LINES_NAMED = 10
LINES_COMPARED = 5000
ALIKE = 0.6


class Replacement(Struct, frozen=True):
    """One replacement that is asked for."""

    old: str
    new: str
    everywhere: bool = False


class Edited(Struct, frozen=True):
    """The text after an edit, how often it was made, and the line of the first."""

    content: str
    count: int
    line: int


def apply(content: str, edit: Replacement) -> Edited:
    """Make one edit. It must fit exactly once, unless it is meant everywhere."""
    if not edit.old:
        raise ToolFailed("oldText is empty.", code="bad_edit", hint="Give the text to replace, exactly as it stands.")
    if edit.old == edit.new:
        raise ToolFailed("oldText and newText are the same: there is nothing to change.", code="bad_edit")
    finder = _finder(content, edit.old)
    # Two places are enough to refuse; overlapping ones count, for which of them is meant is not clear either.
    places = list(_places(finder, content, overlapping=not edit.everywhere))
    if not places:
        raise _not_found(content, edit.old)
    if len(places) > 1 and not edit.everywhere:
        raise _ambiguous(content, places)
    parts: list[str] = []
    done = 0
    for start, end in places:
        parts += content[done:start], _with_ends(content, start, end, edit)
        done = end
    parts.append(content[done:])
    return Edited("".join(parts), len(places), content.count("\n", 0, places[0][0]) + 1)


def apply_all(content: str, edits: Sequence[Replacement]) -> tuple[str, list[Edited]]:
    """Make edits one after the other, each on the result of the one before: all of them or none."""
    done: list[Edited] = []
    for index, edit in enumerate(edits):
        try:
            edited = apply(content, edit)
        except ToolFailed as error:
            fault = error.as_fault()
            raise ToolFailed(
                f"Edit {index + 1} of {len(edits)} failed, so none was made. {fault.message}",
                code=fault.code,
                hint=fault.hint,
                data={**fault.data, "failedEditIndex": index},
            ) from None
        done.append(edited)
        content = edited.content
    return content, done


def _finder(content: str, old: str) -> re.Pattern[str]:
    exact = re.compile(re.escape(old))
    if "\n" not in old or "\r\n" not in content:
        return exact
    if "\r\n" in old and exact.search(content):
        return exact
    return re.compile("\r?\n".join(re.escape(part) for part in re.split("\r?\n", old)))


def _places(finder: re.Pattern[str], content: str, *, overlapping: bool) -> Iterator[tuple[int, int]]:
    at = 0
    while found := finder.search(content, at):
        start, end = found.span()
        yield start, end
        # A match that begins inside the one before, at "\n" of its "\r\n", would be the same place.
        at = end if not overlapping else start + (2 if content.startswith("\r\n", start) else 1)


def _with_ends(content: str, start: int, end: int, edit: Replacement) -> str:
    """The new text, with the line ends that the file has at this place."""
    if "\n" not in edit.new or "\r\n" in edit.new:
        return edit.new
    at = content.find("\n", start)
    if at < 0:
        at = content.rfind("\n", 0, end)
    return edit.new.replace("\n", "\r\n") if at > 0 and content[at - 1] == "\r" else edit.new


def _ambiguous(content: str, places: Sequence[tuple[int, int]]) -> ToolFailed:
    lines = [content.count("\n", 0, start) + 1 for start, _ in places[:LINES_NAMED]]
    more = f" and {len(places) - LINES_NAMED} more" if len(places) > LINES_NAMED else ""
    return ToolFailed(
        f"oldText matches {len(places)} locations (lines {', '.join(map(str, lines))}{more}).",
        code="ambiguous_match",
        hint="Add the lines around it to oldText so that it fits one place, or set replaceAll to change them all.",
        data={"matches": len(places), "lines": lines},
    )


def _not_found(content: str, old: str) -> ToolFailed:
    hint = "Read the file again and copy the text exactly, blanks included."
    near = _nearest(content, old)
    if near:
        number, line = near
        hint = f"The nearest is line {number}: {line[:200]!r}. {hint}"
    return ToolFailed(
        "oldText not found in file. It must match exactly, including blanks and line ends.",
        code="no_match",
        hint=hint,
        data={"nearestLine": near[0]} if near else None,
    )


def _nearest(content: str, old: str) -> tuple[int, str] | None:
    """The line most like the first line of oldText that says something."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")[:500]
    lines = content.splitlines()
    for number, line in enumerate(lines, 1):
        if wanted and line.strip() == wanted:
            return number, line
    best, found = ALIKE, None
    matcher = difflib.SequenceMatcher(None, "", wanted, autojunk=False)
    for number, line in enumerate(lines[:LINES_COMPARED], 1):
        matcher.set_seq1(line.strip()[:500])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (alike := matcher.ratio()) > best:
            best, found = alike, (number, line)
    return found
