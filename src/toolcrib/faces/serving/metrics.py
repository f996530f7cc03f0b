"""Figures for Prometheus: calls by tool and outcome, never by argument; and how long the API takes."""

from collections.abc import Awaitable, Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.app.house import House
from toolcrib.core.call import Record
from toolcrib.services.approvals.requests import State
from toolcrib.services.people.principal import Role, allows

UNKNOWN = "(unknown)"  # a tool's name that a caller made up is no label
_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0, 300.0)


class Metrics:
    """The figures of one house."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.registry = registry = CollectorRegistry()
        self._calls = Counter(
            "toolcrib_calls", "Calls by tool and how they ended.", ["tool", "status", "code"], registry=registry
        )
        self._seconds = Histogram(
            "toolcrib_call_seconds", "How long calls took.", ["tool"], buckets=_SECONDS, registry=registry
        )
        self._requests = Counter(
            "toolcrib_http_requests", "Requests by face, method and status.", ["face", "method", "status"],
            registry=registry,
        )  # fmt: skip
        self._watching = Gauge("toolcrib_event_listeners", "Who watches the events now.", registry=registry)
        self._waiting = Gauge("toolcrib_approvals_waiting", "Calls that wait for a person.", registry=registry)
        self._agents = Gauge("toolcrib_agents", "Agents that there are.", registry=registry)
        self._known: dict[tuple[str, str, str], tuple[Counter, Histogram]] = {}  # looking labels up costs
        house.crib.listeners.append(self.called)

    def called(self, record: Record) -> None:
        """Count a call."""
        known = self._house.crib.resolver.registry.get(record.tool)
        tool = known.name if known else UNKNOWN
        key = tool, record.status.value, record.code
        counters = self._known.get(key)
        if counters is None:
            counters = self._known[key] = self._calls.labels(*key), self._seconds.labels(tool)
        counters[0].inc()
        counters[1].observe(record.seconds)

    def requested(self, face: str, method: str, status: int) -> None:
        """Count a request. A method that nobody knows is no label."""
        known = method if method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} else "other"
        self._requests.labels(face, known, str(status)).inc()

    async def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        self._watching.set(self._house.events.watched)
        self._agents.set(len(self._house.crib.resolver.grants.agents))
        self._waiting.set(len(await self._house.crib.store.approvals.requests(state=State.PENDING, limit=1000)))
        return generate_latest(self.registry)

    def routes(self) -> list[Route]:
        """Where they are asked for: with a key that may see the settings, or any viewer."""
        return [Route("/metrics", _endpoint(self.text))]


def _endpoint(text: Callable[[], Awaitable[bytes]]) -> Callable[[Request], Awaitable[Response]]:
    @allows(Role.VIEWER, "settings")
    async def metrics(request: Request) -> Response:
        """The figures."""
        del request
        return Response(await text(), media_type=CONTENT_TYPE_LATEST)

    return metrics
