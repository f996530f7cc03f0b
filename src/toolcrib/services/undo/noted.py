"""What is kept in the store and can be put back: to-do lists, documents, toolboxes, agents, loaded toolkits.

Each stands before the port of the same name and notes what a call changes; each can put it back.
"""

from collections.abc import Sequence

import msgspec

from toolcrib.services.content.documents import Documents
from toolcrib.services.drawers import Drawers, Kept, Kind, key_of
from toolcrib.services.loaded import KitState, LoadedKits
from toolcrib.services.todos import Todo, Todos
from toolcrib.services.undo.notes import Change, Entry, Restorer, changed_since, noted

_todos = msgspec.json.Decoder(tuple[Todo, ...]).decode
_pair = msgspec.json.Decoder(tuple[str, str]).decode
_triple = msgspec.json.Decoder(tuple[str, str, str]).decode
_names = msgspec.json.Decoder(tuple[str, ...]).decode
_kept = msgspec.json.Decoder(Kept).decode


class NotedTodos:
    """To-do lists."""

    def __init__(self, todos: Todos) -> None:
        self._todos = todos

    async def get(self, agent: str, session: str) -> tuple[Todo, ...]:
        return await self._todos.get(agent, session)

    async def put(self, agent: str, session: str, todos: Sequence[Todo]) -> None:
        before, place = _json(await self.get(agent, session)), _json((agent, session))
        change = Change(kind="todos", place=place, before=before, after=_json(tuple(todos)))
        await noted(change, self._todos.put(agent, session, todos))

    async def look(self, entry: Entry) -> str:
        return _stands(entry, _json(await self.get(*_pair(entry.place))), "the to-do list was changed")

    async def restore(self, entry: Entry, *, force: bool) -> str:
        await _checked(self, entry, force=force)
        todos = _todos(entry.before or "[]")
        await self.put(*_pair(entry.place), todos)
        return f"put back the to-do list of {_pair(entry.place)[0]}: {len(todos)} items"


class NotedKits:
    """Loaded toolkits."""

    def __init__(self, kits: LoadedKits) -> None:
        self._kits = kits

    async def get(self, agent: str, session: str) -> KitState | None:
        return await self._kits.get(agent, session)

    async def put(self, agent: str, session: str, names: Sequence[str], notes: Sequence[str] = ()) -> None:
        place, before = _json((agent, session)), await self._now(agent, session)
        change = Change(kind="toolkits", place=place, before=before, after=_json(tuple(names)))
        await noted(change, self._kits.put(agent, session, names, notes))

    async def look(self, entry: Entry) -> str:
        return _stands(entry, await self._now(*_pair(entry.place)), "the loaded toolkits were changed")

    async def restore(self, entry: Entry, *, force: bool) -> str:
        await _checked(self, entry, force=force)
        names = _names(entry.before or "[]")
        await self.put(*_pair(entry.place), names)
        return f"loaded again, from the next request on: {', '.join(names) or 'no toolkit'}"

    async def _now(self, agent: str, session: str) -> str:
        kept = await self._kits.get(agent, session)
        return _json(kept.names if kept else ())


class NotedDocuments:
    """Context files and memory files."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, agent: str, user: str, path: str) -> str | None:
        return await self._documents.get(agent, user, path)

    async def put(self, agent: str, user: str, path: str, content: str) -> None:
        change = await self._change(agent, user, path, content)
        await noted(change, self._documents.put(agent, user, path, content))

    async def delete(self, agent: str, user: str, path: str) -> bool:
        change = await self._change(agent, user, path, None)
        return await noted(change, self._documents.delete(agent, user, path))

    async def paths(self, agent: str, user: str, prefix: str = "") -> tuple[str, ...]:
        return await self._documents.paths(agent, user, prefix)

    async def look(self, entry: Entry) -> str:
        place = _triple(entry.place)
        now = await self.get(*place)
        return _stands(entry, None if now is None else _json(now), f"{place[2]} was changed")

    async def restore(self, entry: Entry, *, force: bool) -> str:
        await _checked(self, entry, force=force)
        place = _triple(entry.place)
        if entry.before is None:
            await self.delete(*place)
            return f"removed {place[2]}, which the call had made"
        await self.put(*place, msgspec.json.decode(entry.before, type=str))
        return f"put back {place[2]}"

    async def _change(self, agent: str, user: str, path: str, content: str | None) -> Change:
        before = await self.get(agent, user, path)
        return Change(
            kind="document",
            place=_json((agent, user, path)),
            before=None if before is None else _json(before),
            after=None if content is None else _json(content),
        )


class NotedDrawers:
    """Toolboxes and agents that people and agents made."""

    def __init__(self, drawers: Drawers) -> None:
        self._drawers = drawers

    async def all(self, kind: Kind) -> tuple[Kept, ...]:
        return await self._drawers.all(kind)

    async def get(self, kind: Kind, name: str) -> Kept | None:
        return await self._drawers.get(kind, name)

    async def version(self) -> int:
        return await self._drawers.version()

    async def create(self, kind: Kind, made: Kept) -> Kept:
        return await noted(_drawn(kind, made.name, None, made), self._drawers.create(kind, made))

    async def update(self, kind: Kind, name: str, made: Kept, *, revision: int) -> Kept:
        change = _drawn(kind, name, await self.get(kind, name), made)
        return await noted(change, self._drawers.update(kind, name, made, revision=revision))

    async def delete(self, kind: Kind, name: str, *, revision: int | None = None) -> Kept:
        change = _drawn(kind, name, await self.get(kind, name), None)
        return await noted(change, self._drawers.delete(kind, name, revision=revision))

    async def look(self, entry: Entry) -> str:
        now, was, left = await self._now(entry), _read(entry.before), _read(entry.after)
        if _same(now, left):
            return "after"
        if _same(now, was):
            return "before"
        name = (left or was or Kept(name=entry.place)).name
        return f"the {entry.kind} {name} was {'made again' if left is None else 'changed' if now else 'deleted'}"

    async def restore(self, entry: Entry, *, force: bool) -> str:
        await _checked(self, entry, force=force)
        kind, now, was = Kind(entry.kind), await self._now(entry), _read(entry.before)
        if was is None:
            if now is not None:
                await self.delete(kind, now.name, revision=now.revision)
            return f"deleted the {kind} {entry.place}, which the call had made"
        if now is None:
            await self.create(kind, was)
        else:
            await self.update(kind, now.name, was, revision=now.revision)
        return f"put back the {kind} {was.name}"

    async def _now(self, entry: Entry) -> Kept | None:
        kind, left = Kind(entry.kind), _read(entry.after)
        found = await self.get(kind, left.name) if left is not None else None
        return found or await self.get(kind, entry.place)


def restorers(
    todos: NotedTodos, kits: NotedKits, documents: NotedDocuments, drawers: NotedDrawers
) -> dict[str, Restorer]:
    """Each by the kind that its changes have."""
    kept: dict[str, Restorer] = dict.fromkeys(map(str, Kind), drawers)
    return {"todos": todos, "toolkits": kits, "document": documents, **kept}


async def _checked(restorer: Restorer, entry: Entry, *, force: bool) -> None:
    stands = await restorer.look(entry)
    if not force and stands != "after":
        raise changed_since(entry, stands)


def _stands(entry: Entry, now: str | None, otherwise: str) -> str:
    return "after" if now == entry.after else "before" if now == entry.before else otherwise


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _drawn(kind: Kind, name: str, before: Kept | None, after: Kept | None) -> Change:
    return Change(
        kind=kind.value,
        place=key_of(name),
        before=None if before is None else _json(before),
        after=None if after is None else _json(after),
    )


def _read(text: str | None) -> Kept | None:
    return None if text is None else _kept(text)


def _same(one: Kept | None, other: Kept | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.name, one.body) == (other.name, other.body)
