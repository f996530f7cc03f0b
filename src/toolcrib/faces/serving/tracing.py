"""Spans for OpenTelemetry: one for each call, named as the conventions for tools have it. Contents stay at home.

They are sent where OTEL_EXPORTER_OTLP_ENDPOINT says, when the extra `otel` is installed.
"""

from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.core.call import Record, Status
from toolcrib.core.heavy import heavy

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
NANOSECONDS = 1_000_000_000


def wanted(env: Mapping[str, str]) -> bool:
    """Whether spans are to be sent anywhere."""
    return any(env.get(name) for name in ENDPOINTS) and env.get("OTEL_SDK_DISABLED", "").lower() != "true"


def exporting(version: str) -> tuple[Callable[[Record], None], Callable[[], None]]:
    """Who hears of each call and sends a span, and how it ends. Raises ModuleNotFoundError without the extra."""
    sdk = heavy("opentelemetry.sdk.trace", "otel")
    batch = heavy("opentelemetry.sdk.trace.export", "otel").BatchSpanProcessor
    exporter = heavy("opentelemetry.exporter.otlp.proto.http.trace_exporter", "otel").OTLPSpanExporter()
    resource = heavy("opentelemetry.sdk.resources", "otel").Resource.create({"service.name": "toolcrib"})
    provider = sdk.TracerProvider(resource=resource)
    provider.add_span_processor(batch(exporter))
    return listener(provider.get_tracer("toolcrib", version)), provider.shutdown


def listener(tracer: Any) -> Callable[[Record], None]:  # noqa: ANN401 - OpenTelemetry's
    """Makes a span out of each record."""

    def heard(record: Record) -> None:
        begun = int(record.at * NANOSECONDS)
        span = tracer.start_span(f"execute_tool {record.tool}", start_time=begun, attributes=_told(record))
        if record.status is Status.FAILED:
            status = heavy("opentelemetry.trace")
            span.set_status(status.StatusCode.ERROR, record.code)
        span.end(begun + int(record.seconds * NANOSECONDS))

    return heard


def _told(record: Record) -> dict[str, str | int]:
    told: dict[str, str | int] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": record.tool,
        "gen_ai.tool.call.id": record.id,
        "gen_ai.agent.name": record.caller.agent,
        "toolcrib.status": record.status.value,
        "toolcrib.result.bytes": record.size,
    }
    if record.caller.session:
        told["gen_ai.conversation.id"] = record.caller.session
    if record.code:
        told["error.type"] = record.code
    return told
