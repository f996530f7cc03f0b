"""Figures for Prometheus: calls by tool and outcome, never by argument; and how long the API takes."""

from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.app.house import House
from toolcrib.core.call import Record
from toolcrib.services.approvals.requests import State
from toolcrib.services.people.principal import Role, allows

UNKNOWN = "(unknown)"  # a tool's name that a caller made up is no label
_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0, 300.0)


class Times:
    """How long the calls of one tool took."""

    __slots__ = ("buckets", "total")

    def __init__(self) -> None:
        self.buckets = [0] * (len(_SECONDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        self.buckets[bisect_left(_SECONDS, seconds)] += 1
        self.total += seconds


class Calls(Collector):
    """Figures of calls. They are plain numbers until somebody asks: a call must not pay for locks and labels."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], int] = {}
        self._times: dict[str, Times] = {}

    def add(self, tool: str, status: str, code: str, seconds: float) -> None:
        """Count a call."""
        key = (tool, status, code)
        self._counts[key] = self._counts.get(key, 0) + 1
        times = self._times.get(tool)
        if times is None:
            times = self._times[tool] = Times()
        times.add(seconds)

    def collect(self) -> Iterator[Metric]:
        """What Prometheus reads."""
        ended = CounterMetricFamily(
            "toolcrib_calls", "Calls by tool and how they ended.", labels=["tool", "status", "code"]
        )
        for key, count in self._counts.items():
            ended.add_metric(key, count)
        yield ended
        took = HistogramMetricFamily("toolcrib_call_seconds", "How long calls took.", labels=["tool"])
        bounds = [*map(str, _SECONDS), "+Inf"]
        for tool, times in self._times.items():
            filled = list(zip(bounds, map(float, accumulate(times.buckets)), strict=True))
            took.add_metric([tool], filled, times.total)
        yield took


class Metrics:
    """The figures of one house."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.registry = registry = CollectorRegistry()
        self._calls = Calls()
        registry.register(self._calls)
        self._requests = Counter(
            "toolcrib_http_requests", "Requests by face, method and status.", ["face", "method", "status"],
            registry=registry,
        )  # fmt: skip
        self._watching = Gauge("toolcrib_event_listeners", "Who watches the events now.", registry=registry)
        self._waiting = Gauge("toolcrib_approvals_waiting", "Calls that wait for a person.", registry=registry)
        self._agents = Gauge("toolcrib_agents", "Agents that there are.", registry=registry)
        house.crib.listeners.append(self.called)

    def called(self, record: Record) -> None:
        """Count a call."""
        known = self._house.crib.resolver.registry.get(record.tool)
        self._calls.add(known.name if known else UNKNOWN, record.status.value, record.code, record.seconds)

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
