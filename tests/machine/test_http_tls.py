"""TLS: the certificate belongs to the name, while the connection goes to the address that was checked."""

import asyncio
import ssl
from collections.abc import Sequence

import pytest
import trustme

from tests.machine.webserver import answer, serving
from toolcrib.core.errors import ToolError
from toolcrib.machine.http import LocalHttp
from toolcrib.services.http import Network, Outgoing

pytestmark = pytest.mark.meets("net:tls:name")
NAME, OTHER = "a.example", "b.example"


class Ends:
    """A server's side and a client's side of TLS, with a certificate for one name."""

    def __init__(self, *names: str) -> None:
        authority = trustme.CA()
        self.named: list[str | None] = []
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*names).configure_cert(self.server)
        self.server.sni_callback = lambda _socket, name, _context: self.named.append(name)
        self._authority = authority

    def client(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self._authority.configure_trust(context)
        return context


async def here(_: str) -> Sequence[str]:
    return ("127.0.0.1",)


@pytest.fixture
def network() -> Network:
    return Network(allow_private=("127.0.0.1",))


async def test_the_name_is_sent_and_checked_though_the_address_is_connected_to(network: Network):
    ends = Ends(NAME)
    async with serving(answer("safe"), ends.server) as server:
        http = LocalHttp(network, dns=here, tls=ends.client)
        came = await http.send(Outgoing(url=server.url(host=NAME)))
        await http.close()
    assert (came.body, came.address, ends.named) == (b"safe", "127.0.0.1", [NAME])
    assert server.asked[0].headers["host"] == f"{NAME}:{server.port}"


@pytest.mark.parametrize("host", [OTHER, "127.0.0.1"])
async def test_another_name_at_the_same_address_is_not_trusted(network: Network, host: str):
    ends = Ends(NAME)
    async with serving(answer("secret"), ends.server) as server:
        http = LocalHttp(network, dns=here, tls=ends.client)
        with pytest.raises(ToolError) as caught:
            await http.send(Outgoing(url=server.url(host=host), headers=(("Authorization", "Bearer t"),)))
        await http.close()
    assert caught.value.as_fault().code == "tls_failed"
    assert server.asked == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(network: Network):
    ends = Ends(NAME)
    async with serving(answer("secret"), ends.server) as server:
        http = LocalHttp(network, dns=here)
        with pytest.raises(ToolError, match="certificate") as caught:
            await http.send(Outgoing(url=server.url(host=NAME)))
        await http.close()
    assert caught.value.as_fault().code == "tls_failed"
    assert server.asked == []


async def test_a_kept_connection_is_not_used_for_another_name(network: Network):
    ends = Ends(NAME, OTHER)
    async with serving(answer("ok"), ends.server) as server:
        http = LocalHttp(network, dns=here, tls=ends.client)
        for host in (NAME, OTHER, NAME):
            await http.send(Outgoing(url=server.url(host=host)))
        await http.close()
    assert (ends.named, server.connections) == ([NAME, OTHER], 2)


async def test_what_speaks_no_tls_is_a_coded_error(network: Network):
    async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    listening = await asyncio.start_server(plain, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    http = LocalHttp(network, dns=here)
    with pytest.raises(ToolError) as caught:
        await http.send(Outgoing(url=f"https://{NAME}:{port}/", seconds=5))
    await http.close()
    listening.close()
    assert caught.value.as_fault().code == "tls_failed"
