"""The to-do list of the task at hand."""

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from annotated_types import Len
from typing_extensions import TypedDict

from toolcrib.core.call import Caller, Result
from toolcrib.core.errors import ToolFailed
from toolcrib.core.tool import Effect
from toolcrib.services.todos import Progress, Todo, Todos
from toolcrib.tools.thinking.family import family

SIGNS = {Progress.PENDING: "[ ]", Progress.IN_PROGRESS: "[>]", Progress.COMPLETED: "[x]"}


class Item(TypedDict):
    """One thing to do, in a few words, and how far it is."""

    content: Annotated[str, Len(1, 500)]
    status: NotRequired[Literal["pending", "in_progress", "completed"]]


@family.tool(Effect.WRITE, undoable=True)
async def task_todos(
    lists: Todos, me: Caller, *, todos: Annotated[list[Item], Len(0, 30), "The whole list, in order"]
) -> Result:
    """Write your to-do list for this task. It replaces the whole list each time.

    At most one item is in_progress. Mark items completed as soon as they are; an empty list clears it.
    """
    made = [Todo(item["content"], Progress(item.get("status", "pending"))) for item in todos]
    doing = [todo.content for todo in made if todo.status is Progress.IN_PROGRESS]
    if len(doing) > 1:
        raise ToolFailed(
            f"Nothing was saved: {len(doing)} items are in_progress, and one at a time may be.",
            code="too_many_in_progress",
            hint="Leave one in_progress and set the others to pending or completed.",
        )
    await lists.put(me.agent, me.session, made)
    return Result(text=_text(made), structured={"todos": made, **_counts(made)})


def _counts(todos: Sequence[Todo]) -> dict[str, int]:
    return {status.value: sum(todo.status is status for todo in todos) for status in Progress}


def _text(todos: Sequence[Todo]) -> str:
    if not todos:
        return "The list is empty."
    done = sum(todo.status is Progress.COMPLETED for todo in todos)
    lines = (f"{SIGNS[todo.status]} {todo.content}" for todo in todos)
    return "\n".join([f"{done} of {len(todos)} completed.", *lines])
