"""Spans: one a call, with names and outcomes, and nothing of what was said."""

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from toolcrib.app import Crib
from toolcrib.faces.serving.tracing import listener, wanted


async def test_each_call_is_a_span_without_its_contents() -> None:
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    async with Crib(native=True, agents={"a": ["all"]}) as crib:
        crib.listeners.append(listener(provider.get_tracer("test")))
        await crib.call("think", {"thought": "a private thought"}, agent="a", session="s")
        await crib.call("read_file", {"path": "no-such-file"}, agent="a")
    done, failed = kept.get_finished_spans()
    assert done.name == "execute_tool think"
    assert dict(done.attributes or {})["gen_ai.agent.name"] == "a"
    assert (failed.status.is_ok, dict(failed.attributes or {})["error.type"]) == (False, "workspace_missing")
    assert "private thought" not in done.to_json() + failed.to_json()
    assert (done.end_time or 0) >= (done.start_time or 0)


def test_spans_are_sent_only_where_the_environment_says() -> None:
    assert wanted({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"})
    assert not wanted({})
    assert not wanted({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"})
