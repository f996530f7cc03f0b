"""Toolboxes: the lists that people write; compared, and tried before they are saved."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.policy import Toolbox
from toolcrib.core.registry import UnknownName
from toolcrib.core.resolver import Resolver
from toolcrib.faces.web.forms import Form, form
from toolcrib.faces.web.frame import answering, done, house, principal, render, service
from toolcrib.faces.web.links import toolbox_link
from toolcrib.faces.web.places import Page
from toolcrib.services.advice.holding import Facts, facts_of, known_box, with_toolbox
from toolcrib.services.advice.past import counted
from toolcrib.services.advice.simulate import simulate
from toolcrib.services.people.principal import Role, allows
from toolcrib.services.toolboxes import Change, Origin, Toolboxes, canonical

PAGE = Page(title="Toolboxes", icon="package", path="/toolboxes", group="Agents", order=2, scope="toolboxes")


@allows(Role.VIEWER, "toolboxes")
async def index(request: Request) -> Response:
    """Every toolbox."""
    await house(request).crib.refresh()
    found = await service(request, Toolboxes).all()
    own = [box for box in found if box.origin is not Origin.BUILTIN]
    builtin = [box for box in found if box.origin is Origin.BUILTIN]
    return await render(request, "toolboxes/list.html", title="Toolboxes", own=own, builtin=builtin)


async def _one(request: Request) -> dict[str, Any]:
    crib = house(request).crib
    await crib.refresh()
    box = await service(request, Toolboxes).get(request.path_params["name"])
    held = crib.resolver.registry.tools_of(crib.resolver.mask(box.tools))
    return {
        "title": box.name,
        "box": box,
        "held": [facts_of(crib.resolver.registry, tool) for tool in held],
        "own": box.origin is Origin.SHELF,
    }


@allows(Role.VIEWER, "toolboxes")
@answering
async def one(request: Request) -> Response:
    """One toolbox."""
    return await render(request, "toolboxes/one.html", **await _one(request))


def _choices(resolver: Resolver, entries: tuple[str, ...]) -> dict[str, Any]:
    """What can be ticked, what is, and the entries that are no single tool."""
    registry = resolver.registry
    named = {canonical(registry, entry) for entry in entries}
    domains: dict[str, list[tuple[Facts, bool]]] = {}
    for tool in registry.tools:
        domains.setdefault(tool.domain, []).append((facts_of(registry, tool), tool.name in named))
    extra = [entry for entry in entries if registry.get(entry) is None]
    return {"domains": sorted(domains.items()), "extra": extra}


@allows(Role.OPERATOR, "toolboxes")
@answering
async def new(request: Request) -> Response:
    """The form for a new one; `from` copies another."""
    crib = house(request).crib
    await crib.refresh()
    copied = request.query_params.get("from", "")
    box = known_box(crib.resolver, copied) if copied else Toolbox(name="", tools=())
    facts: dict[str, Any] = {"box": box, "was": "", "name": f"{box.name} of mine" if copied else "", "changes": []}
    return await render(
        request, "toolboxes/edit.html", title="New toolbox", **facts, **_choices(crib.resolver, box.tools)
    )


@allows(Role.OPERATOR, "toolboxes")
@answering
async def edit(request: Request) -> Response:
    """The form for one that is there."""
    known = await _one(request)
    box = known["box"]
    facts: dict[str, Any] = {"box": box, "was": box.name, "name": box.name, "changes": []}
    return await render(
        request, "toolboxes/edit.html", title=box.name, **facts, **_choices(house(request).crib.resolver, box.tools)
    )


def _entries(filled: Form) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*filled.many("tools"), *filled.lines("extra"))))


@allows(Role.OPERATOR, "toolboxes")
@answering
async def trial(request: Request) -> Response:
    """Who would gain and lose what with a toolbox as it stands in the form. Nothing is saved."""
    crib, filled = house(request).crib, Form(request.query_params)
    await crib.refresh()
    was, entries = filled.text("was"), _entries(filled)
    registry = crib.resolver.registry
    after = with_toolbox(
        crib.resolver,
        was or filled.text("name") or "new",
        entries,
        exact=filled.ticked("exact"),
        renamed=filled.text("name"),
    )
    changes = simulate(crib.resolver, after, await counted(crib.store.audit))
    return await render(
        request,
        "toolboxes/tried.html",
        part="toolboxes/changes.html",
        title="Trial",
        changes=changes,
        grants=registry.names_of(registry.mask(entries)),
        wrong=_wrong(crib.resolver, entries),
        tried=True,
    )


def _wrong(resolver: Resolver, entries: tuple[str, ...]) -> list[UnknownName]:
    found: list[UnknownName] = []
    for entry in entries:
        try:
            resolver.registry.check(entry)
        except UnknownName as unknown:
            found.append(unknown)
    return found


@allows(Role.OPERATOR, "toolboxes")
@answering
async def create(request: Request) -> Response:
    """Make one."""
    filled = await form(request)
    made = await service(request, Toolboxes).create(
        filled.needed("name", "The name"),
        _entries(filled),
        description=filled.text("description"),
        exact=filled.ticked("exact"),
        by=principal(request).name,
    )
    return done(request, toolbox_link(made.name), f"{made.name} is there, with {made.grants} tools.")


@allows(Role.OPERATOR, "toolboxes")
@answering
async def save(request: Request) -> Response:
    """Change one."""
    filled = await form(request)
    change = Change(
        name=filled.needed("name", "The name"),
        description=filled.text("description"),
        tools=_entries(filled),
        exact=filled.ticked("exact"),
    )
    saved = await service(request, Toolboxes).update(request.path_params["name"], change, by=principal(request).name)
    return done(request, toolbox_link(saved.name), "Saved. It holds from the next call on.")


@allows(Role.OPERATOR, "toolboxes")
@answering
async def delete(request: Request) -> Response:
    """Take one away."""
    gone = await service(request, Toolboxes).delete(request.path_params["name"])
    used = f" It was used by {', '.join(gone.used_by)}." if gone.used_by else ""
    return done(request, "/toolboxes", f"{gone.name} is deleted.{used}")


@allows(Role.VIEWER, "toolboxes")
@answering
async def compare(request: Request) -> Response:
    """Two toolboxes or more side by side."""
    crib = house(request).crib
    await crib.refresh()
    resolver = crib.resolver
    names = list(dict.fromkeys(request.query_params.getlist("box")))[:4]
    boxes = [known_box(resolver, name) for name in names]
    masks = [resolver.box(box.name) for box in boxes]
    together = 0
    for mask in masks:
        together |= mask
    rows = [
        (facts_of(resolver.registry, tool), [bool(mask & resolver.registry.bits((tool,))) for mask in masks])
        for tool in resolver.registry.tools_of(together)
    ]
    differs = [row for row in rows if not all(row[1])]
    return await render(
        request,
        "toolboxes/compare.html",
        part="toolboxes/compared.html",
        title="Compare toolboxes",
        every=await service(request, Toolboxes).all(),
        boxes=boxes,
        names=[box.name for box in boxes],
        rows=[*differs, *(row for row in rows if all(row[1]))],
        differs=len(differs),
    )


ROUTES = [
    Route("/toolboxes", index, methods=["GET"]),
    Route("/toolboxes", create, methods=["POST"]),
    Route("/new-toolbox", new, methods=["GET"]),
    Route("/compare-toolboxes", compare, methods=["GET"]),
    Route("/try-toolbox", trial, methods=["GET"]),
    Route("/toolboxes/{name:path}/edit", edit, methods=["GET"]),
    Route("/toolboxes/{name:path}/edit", save, methods=["POST"]),
    Route("/toolboxes/{name:path}/delete", delete, methods=["POST"]),
    Route("/toolboxes/{name:path}", one, methods=["GET"]),
]
