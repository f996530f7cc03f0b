"""What servers offer beside tools: each caller sees what its own session offers."""

import sys
from pathlib import Path
from typing import Any

from tests.mcp.conftest import crib_with, until
from toolcrib.core.call import Caller
from toolcrib.faces.mcp.exchange import Cleaning
from toolcrib.faces.mcp.upstream import Upstream

# Lists one resource, which is its own; what is watched of it is written down.
OWN = """
import json, os, sys
ERA, NOTED = sys.argv[1:]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    told = {"id": asked["id"]}
    offered = {"capabilities": {"resources": {"subscribe": True}}, "serverInfo": {"name": "own", "version": "1"}}
    if asked["method"] == "initialize":
        told["result"] = {"protocolVersion": "2025-11-25", **offered}
    elif asked["method"] == "server/discover" and ERA == "new":
        told["result"] = {"supportedVersions": ["2026-07-28"], **offered}
    elif asked["method"] == "resources/list":
        told["result"] = {"resources": [{"uri": f"pid://{os.getpid()}", "name": "own"}]}
    elif asked["method"] == "subscriptions/listen":
        with open(NOTED, "a") as out:
            out.write(f"{os.getpid()} {asked['params']['notifications']['resourceSubscriptions']}\\n")
        continue
    else:
        told["error"] = {"code": -32601, "message": "No"}
    print(json.dumps({"jsonrpc": "2.0", **told}), flush=True)
"""


def caller(session: str) -> Caller:
    return Caller(agent="helper", user="", session=session, channel="mcp")


def server(folder: Path, era: str) -> dict[str, Any]:
    (folder / "own.py").write_text(OWN)
    args = [str(folder / "own.py"), era, str(folder / "noted")]
    return {"s": {"command": sys.executable, "args": args, "keep": "session"}}


async def warm(upstream: Upstream, *callers: Caller) -> None:
    for one in callers:
        await (await upstream.session("s", one)).request("resources/list", {})


async def test_a_list_of_one_session_is_not_shown_to_another(tmp_path: Path):
    async with crib_with(server(tmp_path, "old")) as crib:
        assert crib.mcp is not None
        upstream = Upstream(crib.mcp, Cleaning(crib.clean), 0.5)
        first, second = caller("one"), caller("two")
        await warm(upstream, first, second)
        seen = [
            [one.own for one in await upstream.resources(who, ["s"], alone=False)] for who in (first, second, first)
        ]
        assert seen[0] == seen[2] != seen[1]
        assert [len(one) for one in seen] == [1, 1, 1]
        await upstream.close()


async def test_what_one_session_watches_is_not_moved_to_another(tmp_path: Path):
    noted = tmp_path / "noted"
    async with crib_with(server(tmp_path, "new")) as crib:
        assert crib.mcp is not None
        upstream = Upstream(crib.mcp, Cleaning(crib.clean), 0.5)
        mine, theirs = [await upstream.session("s", caller(name)) for name in ("one", "two")]
        await warm(upstream, caller("one"), caller("two"))
        await upstream.watching.change(mine, "a://mine", on=True)
        await upstream.watching.change(theirs, "a://theirs", on=True)
        lines = await until(lambda: noted.exists() and len(noted.read_text().splitlines()) >= 2 and noted.read_text())
        watched = dict(line.split(" ", 1) for line in lines.splitlines())
        assert sorted(watched.values()) == ["['a://mine']", "['a://theirs']"]
        await upstream.close()
