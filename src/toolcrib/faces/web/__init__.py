"""The web page: what a person would rather see than type. Rendered here, with htmx for what changes while one looks."""

from starlette.routing import Mount, Route

from toolcrib.faces.web.assets import asset_route
from toolcrib.faces.web.places import places


def routes() -> list[Route | Mount]:
    """What the server mounts: every page, and the files that they need."""
    return [asset_route(), *(route for place in places() for route in place.routes)]
