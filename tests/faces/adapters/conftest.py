"""The crib that the adapters are shown on: a tool of each kind, and an agent that holds all but one of them."""

import asyncio

import pytest

from toolcrib import Attachment, Crib, Result, ToolFailed, tool

KEY = "b8f1-4c77-9d02-ee31"


@tool(effect="read", parallel=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read", parallel=True)
async def find_person(name: str) -> dict[str, object]:
    """Find a person by name."""
    if name != "Ada":
        raise ToolFailed(f"There is no {name} here.", code="not_found", hint="Look for Ada.")
    return {"name": name, "key": KEY}


@tool(effect="read")
async def report() -> Result:
    """Give the report in words."""
    return Result(text="All is well.", structured={"ok": True})


@tool(effect="read")
async def draw_dot() -> Result:
    """Draw a dot."""
    return Result(text="A dot.", attachments=(Attachment("dot.png", "image/png", b"\x89PNG"),))


@tool(effect="destroy")
async def wipe() -> str:
    """Wipe everything."""
    return "wiped"


@tool(effect="write")
async def note(config: str, run_manager: str = "") -> str:
    """Write a note. Its arguments have names that frameworks like to use themselves."""
    return f"{config}{run_manager}"


class Steps:
    """A tool that says when it begins and ends, and one that may do so beside others."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def write_slowly(self, name: str) -> str:
        """Write, and let others go on meanwhile."""
        self.seen.append(f"{name} begins")
        for _ in range(5):
            await asyncio.sleep(0)
        self.seen.append(f"{name} ends")
        return name


OWN = [add, find_person, report, draw_dot, wipe, note]
HELD = ["add", "find_person", "report", "draw_dot", "note"]


@pytest.fixture
def crib() -> Crib:
    """In memory, with one secret that never leaves."""
    return Crib(OWN, agents={"helper": HELD, "boss": [*HELD, "wipe"]}, secrets={"KEY": KEY})
