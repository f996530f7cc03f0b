"""An MCP server with everything that a test of MCP needs, on the official SDK, for both protocol eras.

    python -m tests.mcp_everything stdio
    python -m tests.mcp_everything http PORT

It holds what the conformance suite asks of a server under test, and a few tools with fields that get lost on the way.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import struct
import sys
import warnings
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.subscriptions import PromptsListChanged, ResourceUpdated, ToolsListChanged
from mcp_types import ClientCapabilities, SamplingMessage, TextContent

warnings.simplefilter("ignore", MCPDeprecationWarning)

Data = dict[str, Any]
OBJECT: Data = {"type": "object", "properties": {}}
SECRET = b"everything"
MODERN = "2026-07-28"
INSTRUCTIONS = "Call test_simple_text first."


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
).decode()
WAV = base64.b64encode(
    b"RIFF" + struct.pack("<I", 38) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    + b"data" + struct.pack("<I", 2) + b"\x80\x80"
).decode()  # fmt: skip


def text(words: str, **more: Any) -> Data:
    return {"content": [{"type": "text", "text": words}], **more}


def asks(requests: Data, state: str | None = None) -> Data:
    """A result that wants the client's input first."""
    wanted: Data = {"resultType": "input_required", "inputRequests": requests}
    return wanted if state is None else {**wanted, "requestState": state}


def form(message: str, **properties: Data) -> Data:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sample(prompt: str, most: int = 100) -> Data:
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": most}}


ROOTS: Data = {"method": "roots/list", "params": {}}
STRING: Data = {"type": "string"}
NAME = form("What is your name?", name=STRING)
CONFIRM = form("Please confirm", ok={"type": "boolean"})


def seal(words: str) -> str:
    """State that a client cannot change unseen."""
    body = base64.urlsafe_b64encode(words.encode()).decode()
    return f"{body}.{hmac.new(SECRET, body.encode(), hashlib.sha256).hexdigest()}"


def unseal(state: str | None) -> str | None:
    if state is None:
        return None
    body, _, mark = state.partition(".")
    if not hmac.compare_digest(mark, hmac.new(SECRET, body.encode(), hashlib.sha256).hexdigest()):
        raise MCPError(code=-32602, message="The requestState was changed on its way.")
    return base64.urlsafe_b64decode(body).decode()


class Round:
    """One call: its arguments, what the client answered so far, and the way back to the client."""

    def __init__(self, server: "Everything", ctx: Any, params: Any) -> None:
        self.server, self.ctx, self.session = server, ctx, ctx.session
        self.arguments: Data = getattr(params, "arguments", None) or {}
        answers = getattr(params, "input_responses", None) or {}
        self.answers: Data = {key: _plain(value) for key, value in answers.items()}
        self.state = getattr(params, "request_state", None)

    def answered(self, key: str, field: str) -> Any:
        """What the client filled in under a key, or None."""
        answer = self.answers.get(key)
        if not isinstance(answer, dict):
            return None
        content = answer.get("content") if field not in answer else answer
        return content.get(field) if isinstance(content, dict) else None

    def can(self, capability: str) -> bool:
        return getattr(self.session.client_capabilities or ClientCapabilities(), capability, None) is not None

    async def log(self, words: str) -> None:
        await self.session.send_log_message("info", words, related_request_id=self.ctx.request_id)

    async def elicit(self, message: str, schema: Data) -> Data:
        if not self.can("elicitation"):
            raise MCPError(code=-32600, message="The client cannot elicit.")
        answer = await self.session.elicit_form(message, schema, self.ctx.request_id)
        return {"action": answer.action, "content": answer.content}


def _plain(value: Any) -> Any:
    return value.model_dump(by_alias=True, mode="json", exclude_none=True) if hasattr(value, "model_dump") else value


Call = Callable[[Round], Awaitable[Data]]
TOOLS: dict[str, tuple[Data, Call]] = {}


def tool(schema: Data = OBJECT, **more: Any) -> Callable[[Call], Call]:
    def mark(call: Call) -> Call:
        name = more.pop("name", call.__name__)
        TOOLS[name] = ({"name": name, "description": call.__doc__ or name, "inputSchema": schema, **more}, call)
        return call

    return mark


def takes(*required: str, **properties: Data) -> Data:
    return {"type": "object", "properties": properties, "required": list(required)}


@tool()
async def test_simple_text(round_: Round) -> Data:
    """Gives a simple text."""
    return text("This is a simple text response for testing.")


@tool()
async def test_image_content(round_: Round) -> Data:
    """Gives an image."""
    return {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}


@tool()
async def test_audio_content(round_: Round) -> Data:
    """Gives a sound."""
    return {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}


def embedded(uri: str, kind: str, words: str) -> Data:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


@tool()
async def test_embedded_resource(round_: Round) -> Data:
    """Gives a resource inside of its result."""
    return {
        "content": [
            embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
        ]
    }


@tool()
async def test_multiple_content_types(round_: Round) -> Data:
    """Gives text, an image and a resource."""
    return {
        "content": [
            {"type": "text", "text": "Multiple content types test:"},
            {"type": "image", "data": PNG, "mimeType": "image/png"},
            embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ]
    }


@tool()
async def test_tool_with_logging(round_: Round) -> Data:
    """Logs three times while it works."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await round_.log(words)
        await asyncio.sleep(0.05)
    return text("The tool with logging has run.")


@tool()
async def test_logging_tool(round_: Round) -> Data:
    """Logs once."""
    await round_.log("a line of log")
    return text("logged")


@tool()
async def test_tool_with_progress(round_: Round) -> Data:
    """Reports its progress."""
    for done in (0, 50, 100):
        await round_.session.report_progress(done, 100, f"{done} of 100")
        await asyncio.sleep(0.05)
    return text("The tool with progress has run.")


@tool(takes("prompt", prompt={"type": "string", "description": "What to ask the model"}))
async def test_sampling(round_: Round) -> Data:
    """Asks the client's model."""
    prompt = str(round_.arguments["prompt"])
    if round_.ctx.protocol_version >= MODERN:
        answer = round_.answers.get("sample")
        if not isinstance(answer, dict):
            return asks({"sample": sample(prompt)})
        return text(f"LLM response: {answer['content']['text']}")
    message = SamplingMessage(role="user", content=TextContent(text=prompt))
    got = await round_.session.create_message([message], max_tokens=100, related_request_id=round_.ctx.request_id)
    return text(f"LLM response: {getattr(got.content, 'text', '')}")


USER = takes(
    "username",
    "email",
    username={"type": "string", "description": "User's response"},
    email={"type": "string", "description": "User's email address"},
)


@tool(takes("message", message={"type": "string", "description": "What to show the person"}))
async def test_elicitation(round_: Round) -> Data:
    """Asks the person at the client."""
    message = str(round_.arguments["message"])
    if round_.ctx.protocol_version >= MODERN:
        answer = round_.answers.get("user")
        if not isinstance(answer, dict):
            return asks(
                {"user": {"method": "elicitation/create", "params": {"message": message, "requestedSchema": USER}}}
            )
    else:
        answer = await round_.elicit(message, USER)
    return text(f"User response: action={answer['action']}, content={json.dumps(answer.get('content'))}")


async def _elicited(round_: Round, message: str, **properties: Data) -> Data:
    schema = {"type": "object", "properties": properties, "required": []}
    if round_.ctx.protocol_version >= MODERN:
        answer = round_.answers.get("form")
        if not isinstance(answer, dict):
            return asks(
                {"form": {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}}
            )
    else:
        answer = await round_.elicit(message, schema)
    return text(f"Elicitation completed: action={answer['action']}, content={json.dumps(answer.get('content'))}")


@tool()
async def test_elicitation_sep1034_defaults(round_: Round) -> Data:
    """Asks with a default for every primitive type."""
    return await _elicited(
        round_,
        "Please check the defaults",
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )


def titled(*titles: str) -> list[Data]:
    return [{"const": f"value{i}", "title": title} for i, title in enumerate(titles, 1)]


OPTIONS = ["option1", "option2", "option3"]


@tool()
async def test_elicitation_sep1330_enums(round_: Round) -> Data:
    """Asks with every kind of choice."""
    return await _elicited(
        round_,
        "Please choose",
        untitledSingle={"type": "string", "enum": OPTIONS},
        titledSingle={"type": "string", "oneOf": titled("First Option", "Second Option", "Third Option")},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        titledMulti={"type": "array", "items": {"anyOf": titled("First Choice", "Second Choice", "Third Choice")}},
    )


@tool()
async def test_error_handling(round_: Round) -> Data:
    """Always fails."""
    return text("This tool intentionally returns an error for testing", isError=True)


@tool(takes("region", region={"type": "string", "x-mcp-header": "Region"}, size={"type": "integer"}))
async def test_x_mcp_header(round_: Round) -> Data:
    """Takes an argument that is mirrored in a header."""
    return text(f"region={round_.arguments['region']}")


@tool()
async def test_missing_capability(round_: Round) -> Data:
    """Needs a client that can sample."""
    if not round_.can("sampling"):
        raise MCPError(
            code=-32021, message="The client cannot sample.", data={"requiredCapabilities": {"sampling": {}}}
        )
    return text("The client can sample.")


@tool()
async def test_streaming_elicitation(round_: Round) -> Data:
    """Asks the person; in the newer era with a result."""
    name = round_.answered("user_name", "name")
    return text(f"Hello, {name}!") if isinstance(name, str) else asks({"user_name": NAME})


@tool()
async def test_input_required_result_elicitation(round_: Round) -> Data:
    """Wants a name first."""
    name = round_.answered("user_name", "name")
    return text(f"Hello, {name}!") if isinstance(name, str) else asks({"user_name": NAME})


@tool()
async def test_input_required_result_sampling(round_: Round) -> Data:
    """Wants the model's word first."""
    answer = round_.answers.get("capital_question")
    if not isinstance(answer, dict):
        return asks({"capital_question": sample("What is the capital of France?")})
    return text(str(answer["content"]["text"]))


@tool()
async def test_input_required_result_list_roots(round_: Round) -> Data:
    """Wants the client's roots first."""
    roots = round_.answered("client_roots", "roots")
    if not isinstance(roots, list):
        return asks({"client_roots": ROOTS})
    return text(f"Roots: {', '.join(root['uri'] for root in roots)}")


@tool()
async def test_input_required_result_request_state(round_: Round) -> Data:
    """Wants a yes, and its own state back."""
    state = unseal(round_.state)
    if state is None or "confirm" not in round_.answers:
        return asks({"confirm": CONFIRM}, seal("first"))
    return text(f"state-ok: {state}")


@tool()
async def test_input_required_result_tampered_state(round_: Round) -> Data:
    """The same, for a client that changes the state."""
    return await test_input_required_result_request_state(round_)


@tool()
async def test_input_required_result_multiple_inputs(round_: Round) -> Data:
    """Wants three things at once."""
    wanted = {"user_name": NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
    if unseal(round_.state) is None or not set(wanted) <= set(round_.answers):
        return asks(wanted, seal("three"))
    return text(f"{round_.answers['greeting']['content']['text']} {round_.answered('user_name', 'name')}")


@tool()
async def test_input_required_result_multi_round(round_: Round) -> Data:
    """Wants one thing, and then another."""
    state = unseal(round_.state)
    name = round_.answered("step1", "name")
    if state is None and not isinstance(name, str):
        return asks({"step1": form("Step 1: What is your name?", name=STRING)}, seal("round 1"))
    if state == "round 1":
        again = form("Step 2: What is your favorite color?", color=STRING)
        return asks({"step2": again}, seal(f"round 2 {name}"))
    color = round_.answered("step2", "color")
    return text(f"{str(state).removeprefix('round 2 ')} likes {color}.")


@tool()
async def test_input_required_result_capabilities(round_: Round) -> Data:
    """Asks only for what the client can do."""
    wanted: Data = {}
    if round_.can("sampling"):
        wanted["greeting"] = sample("Generate a greeting", 50)
    if round_.can("elicitation"):
        wanted["user_name"] = NAME
    if not wanted or set(wanted) <= set(round_.answers):
        return text("Nothing more is needed.")
    return asks(wanted)


ADDRESS = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
SCHEMA_2020: Data = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@tool(SCHEMA_2020)
async def json_schema_2020_12_tool(round_: Round) -> Data:
    """Tool with JSON Schema 2020-12 features."""
    return text(json.dumps(round_.arguments))


@tool()
async def test_reconnection(round_: Round) -> Data:
    """Closes its stream in the middle, and answers when the client comes back."""
    if round_.ctx.close_sse_stream is not None:
        await round_.ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    return text("The client came back.")


@tool(
    takes("a", "b", a={"type": "integer", "minimum": 0}, b={"type": "integer"}),
    name="sum_up",
    title="Sum up",
    annotations={"title": "Add two numbers", "readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    outputSchema={"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]},
    _meta={"example.org/colour": "green", "example.org/nested": {"list": [1, 2.5, None]}},
)
async def sum_up(round_: Round) -> Data:
    """Adds, with every field that a tool may have."""
    total = round_.arguments["a"] + round_.arguments["b"]
    return text(str(total), structuredContent={"sum": total}, _meta={"example.org/took": 0.25})


@tool(takes("seconds", seconds={"type": "number"}))
async def wait(round_: Round) -> Data:
    """Waits, and says so."""
    await asyncio.sleep(float(round_.arguments["seconds"]))
    return text("waited")


@tool(takes("file", "line", file={"type": "string"}, line={"type": "string"}))
async def write_down(round_: Round) -> Data:
    """Writes a line into a file, so that it shows how often it ran."""
    with Path(round_.arguments["file"]).open("a", encoding="utf-8") as file:  # noqa: ASYNC230 - a line
        file.write(round_.arguments["line"] + "\n")
    await asyncio.sleep(0.01)
    return text("written")


@tool()
async def test_trigger_tool_change(round_: Round) -> Data:
    """Adds a tool, or takes it away again."""
    await round_.server.change_tools(round_.session)
    return text("The tools have changed.")


@tool()
async def test_trigger_prompt_change(round_: Round) -> Data:
    """Says that the prompts have changed."""
    await round_.server.bus.publish(PromptsListChanged())
    if round_.ctx.protocol_version < MODERN:
        await round_.session.send_prompt_list_changed()
    return text("The prompts have changed.")


@tool()
async def test_trigger_resource_update(round_: Round) -> Data:
    """Says that the watched resource has changed."""
    uri = "test://watched-resource"
    await round_.server.bus.publish(ResourceUpdated(uri=uri))
    if round_.ctx.protocol_version < MODERN and uri in round_.server.watched:
        await round_.session.send_resource_updated(uri)
    return text("The resource has changed.")


EXTRA = {"name": "a_new_tool", "description": "Was not there before.", "inputSchema": OBJECT}

RESOURCES: list[Data] = [
    {
        "uri": "test://static-text",
        "name": "static-text",
        "title": "Static text",
        "description": "A text that never changes.",
        "mimeType": "text/plain",
        "_meta": {"example.org/kept": True},
    },
    {
        "uri": "test://static-binary",
        "name": "static-binary",
        "description": "An image that never changes.",
        "mimeType": "image/png",
    },
    {
        "uri": "test://watched-resource",
        "name": "watched",
        "description": "A resource that can be watched.",
        "mimeType": "text/plain",
    },
]
TEMPLATES: list[Data] = [
    {
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "Data by id.",
        "mimeType": "application/json",
    }
]


def arg(name: str, about: str) -> Data:
    return {"name": name, "description": about, "required": True}


PROMPTS: list[Data] = [
    {"name": "test_simple_prompt", "description": "A prompt without arguments.", "title": "Simple"},
    {
        "name": "test_prompt_with_arguments",
        "description": "A prompt with two arguments.",
        "arguments": [arg("arg1", "The first"), arg("arg2", "The second")],
    },
    {
        "name": "test_prompt_with_embedded_resource",
        "description": "A prompt with a resource.",
        "arguments": [arg("resourceUri", "Which resource")],
    },
    {"name": "test_prompt_with_image", "description": "A prompt with an image."},
    {"name": "test_input_required_result_prompt", "description": "A prompt that wants input first."},
]


def said(*contents: Data) -> Data:
    return {"messages": [{"role": "user", "content": content} for content in contents]}


def whole(handler: Callable[[Any, Any], Awaitable[Data]]) -> Callable[[Any, Any], Awaitable[Any]]:
    """A handler whose results say that they are complete, where the era wants that."""

    async def handle(ctx: Any, params: Any) -> Any:
        result = await handler(ctx, params)
        return {"resultType": "complete", **result} if ctx.protocol_version >= MODERN else result

    return handle


class Everything:
    """The server: its handlers, and what its clients watch."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.watched: set[str] = set()
        self.more_tools = False
        hint = CacheHint(ttl_ms=1000, scope="public")
        cached = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
        self.server: Server[Any] = Server(  # pyright: ignore[reportDeprecated] - older clients set the level
            "everything",
            version="1.0.0",
            instructions=INSTRUCTIONS,
            cache_hints=dict.fromkeys(cached, hint),
            on_list_tools=whole(self.list_tools),
            on_call_tool=whole(self.call_tool),
            on_list_resources=whole(self.list_resources),
            on_list_resource_templates=whole(self.list_templates),
            on_read_resource=whole(self.read_resource),
            on_subscribe_resource=whole(self.subscribe),
            on_unsubscribe_resource=whole(self.unsubscribe),
            on_subscriptions_listen=ListenHandler(self.bus),
            on_list_prompts=whole(self.list_prompts),
            on_get_prompt=whole(self.get_prompt),
            on_completion=whole(self.complete),
            on_set_logging_level=whole(self.set_level),
        )

    async def change_tools(self, session: Any) -> None:
        self.more_tools = not self.more_tools
        await self.bus.publish(ToolsListChanged())
        if session.protocol_version < MODERN:
            await session.send_tool_list_changed()

    async def list_tools(self, *_: Any) -> Any:
        return {"tools": [told for told, _ in TOOLS.values()] + ([EXTRA] if self.more_tools else [])}

    async def call_tool(self, ctx: Any, params: Any) -> Any:
        if params.name == EXTRA["name"] and self.more_tools:
            return text("new")
        if params.name not in TOOLS:
            raise MCPError(code=-32602, message=f"Unknown tool: {params.name}")
        return await TOOLS[params.name][1](Round(self, ctx, params))

    async def list_resources(self, *_: Any) -> Any:
        return {"resources": RESOURCES}

    async def list_templates(self, *_: Any) -> Any:
        return {"resourceTemplates": TEMPLATES}

    async def read_resource(self, _: Any, params: Any) -> Any:
        uri = str(params.uri)
        if uri == "test://static-binary":
            return {"contents": [{"uri": uri, "mimeType": "image/png", "blob": PNG}]}
        words = {
            "test://static-text": "This is the content of the static text resource.",
            "test://watched-resource": "The content of the watched resource.",
        }
        if uri in words:
            return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": words[uri]}]}
        if uri.startswith("test://template/") and uri.endswith("/data"):
            one = uri.removeprefix("test://template/").removesuffix("/data")
            data = json.dumps({"id": one, "templateTest": True, "data": f"Data for ID: {one}"}, separators=(",", ":"))
            return {"contents": [{"uri": uri, "mimeType": "application/json", "text": data}]}
        raise MCPError(code=-32602, message="Resource not found", data={"uri": uri})

    async def subscribe(self, _: Any, params: Any) -> Any:
        self.watched.add(str(params.uri))
        return {}

    async def unsubscribe(self, _: Any, params: Any) -> Any:
        self.watched.discard(str(params.uri))
        return {}

    async def set_level(self, *_: Any) -> Any:
        return {}

    async def list_prompts(self, *_: Any) -> Any:
        return {"prompts": PROMPTS}

    async def get_prompt(self, ctx: Any, params: Any) -> Any:
        given: Data = params.arguments or {}
        image = {"type": "image", "data": PNG, "mimeType": "image/png"}
        match params.name:
            case "test_simple_prompt":
                return said({"type": "text", "text": "This is a simple prompt for testing."})
            case "test_prompt_with_arguments":
                words = f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
                return said({"type": "text", "text": words})
            case "test_prompt_with_embedded_resource":
                resource = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
                return said(resource, {"type": "text", "text": "Please process the embedded resource above."})
            case "test_prompt_with_image":
                return said(image, {"type": "text", "text": "Please analyze the image above."})
            case "test_input_required_result_prompt":
                context = Round(self, ctx, params).answered("user_context", "context")
                if not isinstance(context, str):
                    return asks({"user_context": form("What context should the prompt use?", context=STRING)})
                return said({"type": "text", "text": f"Context: {context}"})
            case _:
                pass
        raise MCPError(code=-32602, message=f"Unknown prompt: {params.name}")

    async def complete(self, _: Any, params: Any) -> Any:
        values = [word for word in ("paris", "park", "party", "test") if word.startswith(params.argument.value)]
        return {"completion": {"values": values, "total": len(values), "hasMore": False}}

    def options(self) -> Any:
        return self.server.create_initialization_options(
            NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        )

    async def stdio(self) -> None:
        """Over standard input and output. Sessions of the handshake era only, where the environment says so."""
        async with stdio_server() as (read, write):
            if "MCP_OLD" in os.environ:
                await serve_loop(self.server, read, write, lifespan_state={}, init_options=self.options())
            else:
                await self.server.run(read, write, self.options())

    def app(self) -> Any:
        """The server over HTTP. Its sessions say in the handshake that lists may change."""
        if "MCP_OLD" in os.environ:
            self.server.middleware.append(_old)
        options, self.server.create_initialization_options = self.options(), lambda *_, **__: options
        return self.server.streamable_http_app()


async def _old(ctx: Any, call_next: Any) -> Any:
    """A server that does not know the newer era."""
    if ctx.method == "server/discover":
        raise MCPError(code=-32601, message="Method not found")
    return await call_next(ctx)


def main(arguments: list[str]) -> None:
    if arguments[0] == "stdio":
        asyncio.run(Everything().stdio())
    else:
        uvicorn.run(Everything().app(), host="127.0.0.1", port=int(arguments[1]), log_level="error")


if __name__ == "__main__":
    main(sys.argv[1:])
