"""Signing in at a server with OAuth. The SDK knows the flow; what it asks for is sent over connections of ours.

A server that is public may not send us to an address near by: what it names is asked only where it lies itself.
"""

import time
from collections.abc import Mapping
from typing import Any, Protocol

from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.machine.mcp.connection import Reply
from toolcrib.machine.mcp.origin import Network, Origin
from toolcrib.machine.mcp.streamable import lines_of
from toolcrib.safety.urls import BadUrl, read_url
from toolcrib.services.mcp.servers import Server

_STEPS = 40
_LEFT_OUT = frozenset({"host", "content-length", "connection", "accept-encoding", "user-agent"})


class Wallet(Protocol):
    """Where tokens are kept: two texts for each server and identity."""

    async def get(self, what: str) -> str:
        """The text; "" for none."""
        ...

    async def put(self, what: str, text: str) -> None:
        """Keep a text."""
        ...


class Person(Protocol):
    """Who signs in."""

    @property
    def back(self) -> str:
        """The address to which the browser comes back."""
        ...

    async def open(self, url: str) -> None:
        """Have a page opened. Raises ToolFailed where nobody can."""
        ...

    async def came_back(self) -> Mapping[str, str]:
        """What the browser came back with: code, state, iss."""
        ...


class OAuth:
    """The signature of one server and identity."""

    def __init__(self, server: Server, network: Network, wallet: Wallet, person: Person) -> None:
        self._server = server
        self._network = network
        self._wallet = wallet
        self._person = person
        self._origins: dict[tuple[str, str, int], Origin] = {}
        self._provider: Any = None
        self._failures = 0

    async def header(self) -> str:
        """The Authorization header; "" before somebody has signed in."""
        if self._provider is None and not await self._wallet.get("tokens"):
            return ""  # nothing is imported for a server that never asked
        context = (await self._made()).context
        return f"Bearer {context.current_tokens.access_token}" if context.is_token_valid() else ""

    async def challenged(self, reply: Reply, headers: Mapping[str, str]) -> bool:
        """Go through the flow as the refusal wants it. Whether there is another token now."""
        if reply.status == 403 and b"insufficient_scope" not in reply.headers.get(b"www-authenticate", b""):
            return False
        self._failures += 1
        if self._failures > 3:
            self._failures = 0
            return False
        http, provider = heavy("httpx2"), await self._made()
        request = http.Request("POST", self._server.url, headers=dict(headers))
        before = _token(provider)
        flow = provider.async_auth_flow(request)
        try:
            asked = await anext(flow)
            for _ in range(_STEPS):
                if asked is not request:
                    answer = await self._fetch(asked)
                elif _token(provider) != before:
                    break  # there is another token: the request itself is sent by whoever asked
                else:
                    answer = _response(reply, request)
                asked = await flow.asend(answer)
        except StopAsyncIteration:
            return False
        except (heavy("mcp.client.auth").OAuthFlowError, heavy("pydantic").ValidationError) as error:
            raise self._refused(str(error)) from None
        finally:
            await flow.aclose()
        return True

    async def close(self) -> None:
        """Close the connections that the flow used."""
        for origin in self._origins.values():
            await origin.close()

    async def _made(self) -> Any:  # noqa: ANN401 - the SDK's provider
        if self._provider is None:
            auth, shapes = heavy("mcp.client.auth"), heavy("mcp.shared.auth")
            given = self._server.oauth
            metadata = shapes.OAuthClientMetadata(
                client_name="Toolcrib",
                redirect_uris=[self._person.back],
                grant_types=["authorization_code", "refresh_token"],
                response_types=["code"],
                scope=given.get("scope"),
            )
            self._provider = auth.OAuthClientProvider(
                self._server.url,
                metadata,
                _Storage(self._wallet, given, self._person.back),
                self._person.open,
                self._code,
                client_metadata_url=given.get("client_metadata_url"),
            )
            await self._provider._initialize()  # noqa: SLF001 - else a kept token waits for the first refusal
            if (kept := self._provider.context.current_tokens) is not None:
                until = float(await self._wallet.get("until") or 0)
                self._provider.context.token_expiry_time = until or None
                del kept
        return self._provider

    async def _code(self) -> Any:  # noqa: ANN401 - the SDK's result
        found = await self._person.came_back()
        if not found.get("code"):
            raise self._refused(found.get("error_description") or found.get("error") or "nobody agreed")
        result = heavy("mcp.shared.auth").AuthorizationCodeResult
        return result(code=found["code"], state=found.get("state"), iss=found.get("iss"))

    async def _fetch(self, request: Any) -> Any:  # noqa: ANN401 - httpx2's
        try:
            url = read_url(str(request.url))
        except BadUrl as error:
            raise self._refused(f"it names an address that cannot be asked: {error}") from None
        origin = self._origins.get(url.origin)
        if origin is None:
            near = await Origin(read_url(self._server.url), self._network).is_near()
            origin = self._origins[url.origin] = Origin(url, self._network, near=near)
        body = await request.aread()
        headers = {name: value for name, value in request.headers.items() if name not in _LEFT_OUT}
        reply = await origin.ask(request.method, url.target, lines_of(headers), body)
        return _response(reply, request)

    def _refused(self, why: str) -> ToolFailed:
        return ToolFailed(
            f"Signing in at {self._server.name} did not work: {why}.",
            code="not_signed_in",
            hint=f"Sign in with: toolcrib mcp login {self._server.name}",
        )


class _Storage:
    """The SDK's port for tokens, over the wallet."""

    def __init__(self, wallet: Wallet, given: Mapping[str, str], back: str) -> None:
        self._wallet = wallet
        self._given = given
        self._back = back

    async def get_tokens(self) -> Any:  # noqa: ANN401
        kept = await self._wallet.get("tokens")
        return heavy("mcp.shared.auth").OAuthToken.model_validate_json(kept) if kept else None

    async def set_tokens(self, tokens: Any) -> None:  # noqa: ANN401
        await self._wallet.put("tokens", tokens.model_dump_json(exclude_none=True))
        await self._wallet.put("until", str(time.time() + tokens.expires_in) if tokens.expires_in else "0")

    async def get_client_info(self) -> Any:  # noqa: ANN401
        shape = heavy("mcp.shared.auth").OAuthClientInformationFull
        if self._given.get("client_id"):
            method = self._given.get("token_endpoint_auth_method")
            known = {
                "client_id": self._given["client_id"],
                "client_secret": self._given.get("client_secret"),
                "redirect_uris": [self._back],
                "token_endpoint_auth_method": method
                or ("client_secret_post" if self._given.get("client_secret") else "none"),
            }
            return shape.model_validate({key: value for key, value in known.items() if value})
        kept = await self._wallet.get("client")
        return shape.model_validate_json(kept) if kept else None

    async def set_client_info(self, client_info: Any) -> None:  # noqa: ANN401
        await self._wallet.put("client", client_info.model_dump_json(exclude_none=True))


def _token(provider: Any) -> str:  # noqa: ANN401
    tokens = provider.context.current_tokens
    return tokens.access_token if tokens is not None else ""


def _response(reply: Reply, request: Any) -> Any:  # noqa: ANN401
    headers = [(name, value) for name, value in reply.headers.items() if name != b"content-encoding"]
    return heavy("httpx2").Response(reply.status, headers=headers, content=reply.body, request=request)
