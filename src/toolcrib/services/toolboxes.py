"""All toolboxes in one place: built in, written in the configuration, and made by people or agents on the shelf."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from toolcrib.core.errors import ToolFailed
from toolcrib.core.policy import Toolbox
from toolcrib.core.registry import Registry, UnknownName, near
from toolcrib.core.resolver import Resolver, Seat
from toolcrib.services.drawers import key_of
from toolcrib.services.shelf import Box, Shelf

NAME_MOST = 80
DESCRIPTION_MOST = 500
TOOLS_MOST = 1000
GAINS_SHOWN = 5


class Origin(StrEnum):
    """Where a toolbox comes from. Only those of the shelf can be changed here."""

    BUILTIN = "builtin"
    CONFIGURED = "configured"
    SHELF = "shelf"


class Shown(Struct, frozen=True, kw_only=True):
    """One toolbox as people and agents see it."""

    name: str
    origin: Origin
    description: str
    tools: tuple[str, ...]
    exact: bool
    grants: int  # how many of the tools that exist now it grants
    used_by: tuple[str, ...] = ()
    created_by: str = ""
    revision: int = 0


class Change(Struct, frozen=True, kw_only=True):
    """What is to change in a toolbox; None leaves it. `tools` replaces the list and wins over add and remove."""

    name: str | None = None
    description: str | None = None
    tools: Sequence[str] | None = None
    add: Sequence[str] = ()
    remove: Sequence[str] = ()
    exact: bool | None = None


class Toolboxes:
    """Lists and changes toolboxes. After each change `changed` is waited for, so that a new resolver is in force."""

    def __init__(
        self,
        current: Callable[[], Resolver],
        base: Callable[[], Mapping[str, Toolbox]],
        shelf: Shelf,
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        self._current = current
        self._base = base  # the built-in and the configured ones
        self._shelf = shelf
        self._changed = changed

    async def all(self) -> tuple[Shown, ...]:
        """Every toolbox, the built-in ones first. One of the shelf whose name the configuration took is left out."""
        base = {key_of(name): box for name, box in self._base().items()}
        order = sorted(base.values(), key=lambda box: (not box.builtin, box.name.lower()))
        own = [box for box in await self._shelf.all() if key_of(box.name) not in base]
        return (*map(self._fixed, order), *map(self._own, own))

    async def get(self, name: str) -> Shown:
        """The toolbox of that name. Refused with TOOLBOX_NOT_FOUND."""
        fixed = self._of_base(name)
        return self._fixed(fixed) if fixed else self._own(await self._found(name))

    async def create(
        self, name: str, tools: Sequence[str], *, description: str = "", exact: bool = False, by: str = ""
    ) -> Shown:
        """Put a new toolbox on the shelf."""
        name = self._free(_clean(name))
        box = Box(name=name, description=description, tools=self._checked(tools), exact=exact, created_by=by)
        self._refuse_own_gain(box, by)
        with_code = await _coded(self._shelf.create(box))
        await self._changed()
        return self._own(with_code)

    async def update(self, name: str, change: Change, *, by: str = "", revision: int | None = None) -> Shown:
        """Change a toolbox of the shelf, whole or not at all. `revision` is the one that was seen."""
        self._refuse_fixed(name, "changed")
        box = await self._found(name)
        after = replace(
            box,
            name=box.name if change.name is None else self._renamed(box, _clean(change.name)),
            description=box.description if change.description is None else change.description,
            tools=self._tools_after(box, change),
            exact=box.exact if change.exact is None else change.exact,
        )
        if after == box:
            raise ToolFailed(f"Nothing to change: the toolbox {box.name!r} is so already.", code="nothing_to_change")
        self._refuse_own_gain(after, by)
        saved = await _coded(
            self._shelf.update(box.name, after, revision=box.revision if revision is None else revision)
        )
        await self._changed()
        return self._own(saved)

    async def delete(self, name: str, *, revision: int | None = None) -> Shown:
        """Take a toolbox off the shelf, also when agents use it; `used_by` of what comes back names them."""
        self._refuse_fixed(name, "deleted")
        gone = self._own(await self._found(name))
        await _coded(self._shelf.delete(name, revision=revision))
        await self._changed()
        return gone

    def _fixed(self, box: Toolbox) -> Shown:
        origin = Origin.BUILTIN if box.builtin else Origin.CONFIGURED
        return self._shown(box.name, origin, box.description, box.tools, exact=box.exact)

    def _own(self, box: Box) -> Shown:
        shown = self._shown(box.name, Origin.SHELF, box.description, box.tools, exact=box.exact)
        return replace(shown, created_by=box.created_by, revision=box.revision)

    def _shown(self, name: str, origin: Origin, description: str, tools: tuple[str, ...], *, exact: bool) -> Shown:
        resolver = self._current()
        agents = resolver.grants.agents.values()
        return Shown(
            name=name,
            origin=origin,
            description=description,
            tools=tools,
            exact=exact,
            grants=resolver.mask(tools).bit_count(),
            used_by=tuple(sorted(one.name for one in agents if key_of(name) in map(key_of, one.toolboxes))),
        )

    def _of_base(self, name: str) -> Toolbox | None:
        return next((box for own, box in self._base().items() if key_of(own) == key_of(name)), None)

    async def _found(self, name: str) -> Box:
        box = await self._shelf.get(name)
        if box is None:
            known = [*self._base(), *(one.name for one in await self._shelf.all())]
            close = near(name, known)
            meant = f"Did you mean {' or '.join(close)}?" if close else "list_toolboxes shows those that exist."
            raise ToolFailed(f"There is no toolbox named {name!r}.", code="TOOLBOX_NOT_FOUND", hint=meant)
        return box

    def _refuse_fixed(self, name: str, done: str) -> None:
        box = self._of_base(name)
        if box is None:
            return
        if box.builtin:
            raise ToolFailed(
                f"The toolbox {box.name!r} is built in and cannot be {done}.",
                code="TOOLBOX_BUILTIN_READONLY",
                hint="Make one of your own with create_toolbox; it may list the same tools.",
            )
        raise ToolFailed(
            f"The toolbox {box.name!r} is written in toolcrib.yaml and cannot be {done} here.",
            code="TOOLBOX_CONFIGURED_READONLY",
            hint="Change it in toolcrib.yaml.",
        )

    def _refuse_own_gain(self, box: Box, by: str) -> None:
        """An agent may make toolboxes for others; it may not give itself more through one that it uses."""
        resolver = self._current()
        rules = resolver.grants.agents.get(by)
        if rules is None or key_of(box.name) not in map(key_of, rules.toolboxes):
            return
        gained = resolver.mask(box.tools) & ~resolver.view(Seat(agent=by)).issued
        if gained:
            names = ", ".join(resolver.registry.names_of(gained)[:GAINS_SHOWN])
            raise ToolFailed(
                f"Nothing was saved: you use the toolbox {box.name!r} yourself, and this would give you {names}.",
                code="TOOLBOX_OWN_GAIN",
                hint="Ask a person to change it, or ask for the tools with request_tool_access.",
            )

    def _free(self, name: str) -> str:
        if self._of_base(name):
            raise _taken(name)
        return name

    def _renamed(self, box: Box, name: str) -> str:
        return name if key_of(name) == key_of(box.name) else self._free(name)

    def _tools_after(self, box: Box, change: Change) -> tuple[str, ...]:
        if change.tools is not None:
            return self._checked(change.tools)
        registry = self._current().registry
        gone = {canonical(registry, entry) for entry in change.remove}
        kept = [entry for entry in box.tools if canonical(registry, entry) not in gone]
        # What stands in the box already is not checked again: a tool may have gone since, and must not block a change.
        return _bounded(dict.fromkeys((*kept, *self._checked(change.add))))

    def _checked(self, entries: Iterable[str]) -> tuple[str, ...]:
        """The entries by canonical name, each once; or a refusal that names all that mean nothing."""
        registry = self._current().registry
        wrong: list[UnknownName] = []
        for entry in entries:
            try:
                registry.check(entry)
            except UnknownName as unknown:
                wrong.append(unknown)
        if wrong:
            raise ToolFailed(
                f"Nothing was saved: {' '.join(one.what for one in wrong)}",
                code="TOOLBOX_UNKNOWN_TOOL",
                hint=" ".join(one.mend for one in wrong if one.mend) or "list_tools shows the names that exist.",
                data={"unknown": [{"name": one.name, "nearest": one.near} for one in wrong]},
            )
        return _bounded(dict.fromkeys(canonical(registry, entry) for entry in entries))


def as_toolbox(box: Box) -> Toolbox:
    """A toolbox of the shelf as the resolver reads it."""
    return Toolbox(name=box.name, tools=box.tools, description=box.description, exact=box.exact)


def merged(base: Mapping[str, Toolbox], own: Iterable[Box]) -> dict[str, Toolbox]:
    """Every toolbox by name. What is built in or configured wins over the shelf."""
    taken = set(map(key_of, base))
    return {**base, **{box.name: as_toolbox(box) for box in own if key_of(box.name) not in taken}}


def canonical(registry: Registry, entry: str) -> str:
    """An entry by the canonical name of its tool; signs, groups and patterns as they are, in small letters."""
    entry = entry.strip()
    known = registry.get(entry) or registry.reserved(entry)
    return known.name if known else entry.lower()


def _clean(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > NAME_MOST or not name.isprintable():
        raise ToolFailed(
            f"A toolbox needs a name of 1 to {NAME_MOST} printable characters.", code="TOOLBOX_NAME_REQUIRED"
        )
    return name


def _bounded(entries: Iterable[str]) -> tuple[str, ...]:
    made = tuple(entries)
    if len(made) > TOOLS_MOST:
        raise ToolFailed(f"A toolbox lists at most {TOOLS_MOST:,} names, and this has {len(made):,}.", code="too_many")
    return made


def _taken(name: str) -> ToolFailed:
    return ToolFailed(
        f"A toolbox named {name!r} exists already.", code="TOOLBOX_NAME_TAKEN", hint="Choose another name."
    )


async def _coded(saving: Awaitable[Box]) -> Box:
    """The shelf's refusals under the codes of the seed."""
    try:
        return await saving
    except ToolFailed as error:
        fault = error.as_fault()
        code = {"name_taken": "TOOLBOX_NAME_TAKEN", "not_found": "TOOLBOX_NOT_FOUND"}.get(fault.code)
        if code is None:
            raise
        raise ToolFailed(fault.message, code=code, hint=fault.hint) from None
