"""Standing rules: their patterns can be changed, and they can be taken away."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.faces.web.forms import form
from toolcrib.faces.web.frame import answering, done, house, principal
from toolcrib.services.people.principal import Role, allows

PATTERN = "where."
LIST = "/approvals/rules"


@allows(Role.OPERATOR, "approvals")
@answering
async def change(request: Request) -> Response:
    """Give a rule other patterns."""
    filled = await form(request)
    where = {name.removeprefix(PATTERN): value for name, value in filled.items() if name.startswith(PATTERN) and value}
    await house(request).crib.approvals.change_rule(request.path_params["rule"], where, by=principal(request).name)
    return done(request, LIST, "Saved. Calls that it does not fit ask again.")


@allows(Role.OPERATOR, "approvals")
@answering
async def delete(request: Request) -> Response:
    """Take a rule away."""
    gone = await house(request).crib.approvals.delete_rule(request.path_params["rule"])
    return done(request, LIST, f"The rule is gone; {gone.tool} asks again.")


ROUTES = [
    Route("/approvals/rules/{rule}", change, methods=["POST"]),
    Route("/approvals/rules/{rule}/delete", delete, methods=["POST"]),
]
