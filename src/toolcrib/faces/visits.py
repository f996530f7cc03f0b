"""What the faces of a server share about a visit: the cookie, and where somebody comes from."""

from starlette.requests import HTTPConnection
from starlette.responses import Response

from toolcrib.services.people.signin import DAYS
from toolcrib.services.people.values import MadeSession

PLAIN, SECURE = "toolcrib", "__Host-toolcrib"


def cookie_name(*, secure: bool) -> str:
    """The cookie's name. By https the browser is told that no other host may have set it."""
    return SECURE if secure else PLAIN


def is_secure(connection: HTTPConnection) -> bool:
    """Whether this came by https, as far as is known behind a proxy."""
    house = getattr(connection.state, "house", None)
    return connection.url.scheme == "https" or bool(house is not None and house.secure)


def secret_of(connection: HTTPConnection) -> str:
    """What the cookie holds; "" without one."""
    return connection.cookies.get(cookie_name(secure=is_secure(connection)), "")


def remember(response: Response, connection: HTTPConnection, made: MadeSession) -> None:
    """Give the browser its cookie."""
    secure = is_secure(connection)
    response.set_cookie(
        cookie_name(secure=secure),
        made.secret,
        max_age=int(DAYS * 86_400),
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )


def forget(response: Response, connection: HTTPConnection) -> None:
    """Take the cookie away."""
    secure = is_secure(connection)
    response.delete_cookie(cookie_name(secure=secure), path="/", secure=secure, httponly=True, samesite="lax")


def address_of(connection: HTTPConnection) -> str:
    """Where it comes from, for counting tries."""
    return connection.client.host if connection.client else ""


def browser_of(connection: HTTPConnection) -> str:
    """What the browser calls itself."""
    return connection.headers.get("user-agent", "")[:200]
