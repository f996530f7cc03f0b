"""What the door says to those who do not get in: problem+json, or the way to the sign-in for a person's browser."""

from collections.abc import Iterable
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import Message, Scope

from toolcrib.faces.http.problem import problem
from toolcrib.services.people.principal import Allowed, Principal

LOGIN = "/login"
_STANDING = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class Refusals:
    """Answers of the door. `page` is whether there is a page with a sign-in."""

    def __init__(self, *, page: bool, challenge: str = 'Bearer realm="toolcrib"') -> None:
        self._page = page
        self.challenge = challenge

    def misdirected(self, host: str) -> Response:
        """The server is not called that."""
        shown = host if len(host) < 100 and host.isprintable() else "that name"
        return problem(
            421,
            f"This server is not called {shown!r}.",
            code="unknown_host",
            hint="If it should be, put the name under `server: hosts:` in toolcrib.yaml.",
        )

    def missing(self, scope: Scope) -> Response:
        """There is nothing there, for anybody."""
        del scope
        return problem(404, "There is nothing here.", code="not_found", hint="The API is under /api/v1.")

    def wrong_method(self, methods: Iterable[str]) -> Response:
        """There is something, and it cannot be asked like that."""
        named = ", ".join(sorted(methods))
        return problem(405, f"This takes {named}.", code="method_not_allowed", headers={"Allow": named})

    def stranger(self, scope: Scope, headers: Headers) -> Response:
        """Nobody knows who it is."""
        if self._page and scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            query = scope["query_string"].decode("latin-1")
            wanted = quote(scope["path"] + (f"?{query}" if query else ""), safe="")
            return RedirectResponse(f"{LOGIN}?next={wanted}", 303)
        return problem(
            401,
            "Sign in first.",
            code="sign_in_first",
            hint="Send a key as `Authorization: Bearer tcb_...`, or POST /api/v1/session.",
            headers={"WWW-Authenticate": self.challenge},
        )

    def forbidden(self, principal: Principal, rule: Allowed) -> Response:
        """It is known who it is, and they may not."""
        role = rule.role.value if rule.role is not None else ""
        if principal.scopes is not None and rule.scope and rule.scope not in principal.scopes:
            return problem(403, f"This key does not hold the scope {rule.scope!r}.", code="scope_missing")
        what = f"This takes the role {role}, and {principal.name} comes as {principal.role.value}."
        return problem(403, what, code="role_missing", hint="Ask an admin.")

    def foreign(self) -> Response:
        """A page of another site sent it."""
        return problem(403, "A page of another site sent this, so nothing was done.", code="foreign_origin")

    def unproved(self) -> Response:
        """The token is missing or wrong."""
        return problem(
            403,
            "The token that proves where this comes from is missing or wrong. Nothing was done.",
            code="bad_csrf",
            hint="GET /api/v1/session gives it; send it as X-CSRF-Token. On the page: load it again.",
        )

    def too_long(self, most: int) -> Response:
        """More than is read."""
        return problem(
            413, f"The body is longer than {most:,} bytes.", code="too_long", headers={"Connection": "close"}
        )

    def harden(self, message: Message) -> None:
        """Headers that every answer has."""
        headers = MutableHeaders(raw=message.setdefault("headers", []))
        for name, value in _STANDING.items():
            headers.setdefault(name, value)
