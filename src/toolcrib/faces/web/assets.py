"""Styles, scripts, fonts and icons: files of this package under names that hold the hash of what is in them.

So a browser may keep them for ever, and asks for a new one when it changed.
"""

import mimetypes
from functools import cache
from hashlib import sha256
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from toolcrib.services.people.principal import allows

FOLDER = Path(__file__).parent / "files"
PREFIX = "/assets/"
KEPT = "public, max-age=31536000, immutable"
SERVED = {".css", ".js", ".svg", ".woff2"}
mimetypes.add_type("font/woff2", ".woff2")


class Asset(Struct, frozen=True):
    """One file as it is served."""

    name: str
    data: bytes
    media_type: str


@cache
def _assets() -> dict[str, Asset]:
    """Every file by the name that pages use. Styles come last: they name fonts by their hashed names."""
    made: dict[str, Asset] = {}
    paths = [path for path in FOLDER.iterdir() if path.suffix in SERVED]
    for path in sorted(paths, key=lambda path: (path.suffix == ".css", path.name)):
        data = path.read_bytes()
        if path.suffix == ".css":
            for name, asset in made.items():
                data = data.replace(f'url("{name}")'.encode(), f'url("{PREFIX}{asset.name}")'.encode())
        hashed = f"{path.stem}-{sha256(data).hexdigest()[:12]}{path.suffix}"
        made[path.name] = Asset(hashed, data, mimetypes.guess_type(path.name)[0] or "application/octet-stream")
    return made


@cache
def _by_hash() -> dict[str, Asset]:
    return {asset.name: asset for asset in _assets().values()}


@cache
def asset(name: str) -> str:
    """The address of a file."""
    return PREFIX + _assets()[name].name


@allows(None)
async def serve(request: Request) -> Response:
    """One file. What it holds never changes under its name."""
    found = _by_hash().get(request.path_params["name"])
    if found is None:
        return PlainTextResponse("There is no such file.\n", status_code=404)
    headers = {"Cache-Control": KEPT, "X-Content-Type-Options": "nosniff"}
    return Response(found.data, media_type=found.media_type, headers=headers)


def asset_route() -> Route:
    """The route of all files."""
    return Route(f"{PREFIX}{{name}}", serve, methods=["GET"])
