"""The pages there are: each folder of `pages` says what it is called, where it stands and who may see it."""

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct
from starlette.routing import Mount, Route

from toolcrib.services.people.principal import Role

GROUPS = ("", "Agents", "Control", "Connections", "House")


class Page(Struct, frozen=True, kw_only=True):
    """One page of the navigation."""

    title: str
    icon: str
    path: str
    group: str = ""
    order: int = 0
    role: Role = Role.VIEWER
    scope: str = ""
    badge: str = ""  # the counter that stands beside it


class Place(Struct, frozen=True):
    """A folder of pages: its place in the navigation, if it has one, and its routes."""

    page: Page | None
    routes: Sequence[Route | Mount]


@cache
def places() -> tuple[Place, ...]:
    """Every folder of `pages`, in the order of the navigation."""
    found: list[Place] = []
    for module in pkgutil.iter_modules([str(Path(__file__).parent / "pages")], "toolcrib.faces.web.pages."):
        page = importlib.import_module(f"{module.name}.page")
        found.append(Place(page.PAGE, page.ROUTES))
    return tuple(sorted(found, key=lambda place: _order(place.page)))


def _order(page: Page | None) -> tuple[int, int]:
    return (GROUPS.index(page.group), page.order) if page else (len(GROUPS), 0)
