"""The operations of all nouns as one FastAPI application. Its routes are flat, so that the door can see each."""

from collections.abc import Iterable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute

from toolcrib import __version__
from toolcrib.app.house import House
from toolcrib.core.errors import CribError
from toolcrib.faces.http import (
    agents,
    approvals,
    calls,
    health,
    oidc,
    people,
    record,
    session,
    settings,
    toolboxes,
    tools,
    vault,
)
from toolcrib.faces.http.document import document
from toolcrib.faces.http.problem import of_error, problem
from toolcrib.faces.http.routing import Operation

NOUNS = (session, agents, tools, calls, toolboxes, approvals, record, vault, people, settings)
SHOWN = 8  # problems of one request that are listed


def operations() -> Iterable[Operation]:
    """Every operation, in the order of the document."""
    return [row for noun in NOUNS for row in noun.operations.rows]


def application(house: House | None = None) -> FastAPI:
    """The API. Without a house it only describes itself."""
    app = FastAPI(
        title="Toolcrib", version=__version__, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.state.house = house
    app.router.routes.extend([*health.routes(), *oidc.routes()])
    for row in operations():
        app.add_api_route(
            row.path,
            row.endpoint,
            methods=[row.method],
            status_code=row.status,
            tags=[row.tag],
            response_model=None,
            operation_id=row.endpoint.__name__,
        )
    app.add_exception_handler(RequestValidationError, _misfit)
    app.add_exception_handler(CribError, _refused)
    app.add_exception_handler(HTTPException, _http)
    return app


def described() -> dict[str, object]:
    """The OpenAPI document."""
    return document(application(), operations())


def routes(app: FastAPI) -> list[BaseRoute]:
    """What the door looks at."""
    return list(app.router.routes)


async def _refused(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, CribError)  # noqa: S101 - registered for it
    return of_error(error)


async def _http(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    code = "too_long" if error.status_code == 413 else ""
    return problem(error.status_code, str(error.detail), code=code, headers=error.headers)


async def _misfit(request: Request, error: Exception) -> Response:
    """What does not fit the document. What was sent is not sent back: it may be a password."""
    del request
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it
    found = [{"where": ".".join(str(part) for part in one["loc"]), "what": str(one["msg"])} for one in error.errors()][
        :SHOWN
    ]
    detail = " ".join(f"{one['where']}: {one['what']}." for one in found)
    return problem(422, detail, code="invalid_request", more={"problems": found})
