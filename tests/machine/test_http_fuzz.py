"""Whatever a server sends, the answer is an answer or an error with a code."""

import asyncio
from asyncio import StreamWriter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.machine.webserver import serving
from toolcrib.core.errors import ToolError
from toolcrib.machine.http import LocalHttp
from toolcrib.services.http import Incoming, Network, Outgoing

PARTS = [
    b"HTTP/1.1 ", b"HTTP/1.0 ", b"HTTP/9.9 ", b"200 OK", b"204", b"302 Found", b"100 Continue", b"101 X", b"999", b"\r\n", b"\n",
    b"Content-Length: ", b"Content-Encoding: ", b"Transfer-Encoding: ", b"Location: ", b"Content-Type: ", b"Connection: close",
    b"gzip", b"deflate", b"chunked", b"identity", b"5", b"-1", b"99999999999999999999999", b"0\r\n\r\n", b"a\r\n0123456789\r\n",
    b"/x", b"//[", b"http://127.0.0.1:1/", b"\x1f\x8b\x08\x00", b"\xff", b"\x00", b" ", b":", b"text/html; charset=utf-7", b"words",
]  # fmt: skip
HEAD = b"HTTP/1.1 200 OK\r\n"
SAID = st.one_of(
    st.lists(st.sampled_from(PARTS), max_size=14).map(b"".join),
    st.lists(st.sampled_from(PARTS), max_size=14).map(lambda parts: HEAD + b"".join(parts)),
    st.binary(max_size=80).map(lambda data: HEAD + b"Content-Encoding: gzip\r\n\r\n" + data),
    st.binary(max_size=80),
)


async def asked(said: bytes) -> Incoming | str:
    async def saying(writer: StreamWriter) -> None:
        writer.write(said)
        await writer.drain()

    async with serving(lambda _: saying) as server:
        http = LocalHttp(Network(allow_private=("127.0.0.1",)))
        try:
            return await http.send(Outgoing(url=server.url(), seconds=5, limit=1000))
        except ToolError as error:
            return error.as_fault().code
        finally:
            await http.close()


@given(SAID)
@settings(deadline=None)
@pytest.mark.meets("net:limits:size-time")
def test_any_bytes_are_an_answer_or_an_error_with_a_code(said: bytes):
    found = asyncio.run(asked(said))
    if isinstance(found, str):
        assert found in {"bad_response", "url_refused", "too_many_redirects", "not_reachable", "tls_failed"}
    else:
        assert 200 <= found.status <= 999
        assert len(found.body) <= 1000
