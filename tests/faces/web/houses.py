"""A house with a few agents, behind its door, in this process."""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx2

from toolcrib.app.house import House, open_house
from toolcrib.faces.serving.composition import Composition

CONFIG = """\
agents:
  helper: {description: Helps with everyday work, toolboxes: [all]}
  scout: {toolboxes: [scout]}
toolboxes:
  notes: {description: Notes and files, tools: [read_file, write_file]}
toolkits:
  release: {description: Cutting a release, tools: [run_shell, http_request]}
rules:
  - {tool: write_file, where: {path: "private*"}, action: ask, why: it is private}
"""
BASE = "http://127.0.0.1:8787"
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}


class Visitor:
    """Somebody with a browser that runs no scripts."""

    def __init__(self, house: House, client: httpx2.AsyncClient) -> None:
        self.house = house
        self.client = client

    async def get(self, path: str, *, part: bool = False) -> httpx2.Response:
        return await self.client.get(path, headers=HTMX if part else {})

    async def page(self, path: str, status: int = 200) -> str:
        """What a page says, as text; it must answer with that status."""
        answer = await self.get(path)
        assert answer.status_code == status, (path, answer.status_code, words(answer.text)[:300])
        return words(answer.text)

    async def post(self, path: str, fields: Mapping[str, Any] | None = None, *, part: bool = False) -> httpx2.Response:
        return await self.client.post(path, data=dict(fields or {}), headers=HTMX if part else {})


def words(html: str) -> str:
    """The text of a page in one line."""
    html = re.sub(r"<(script|style).*?</\1>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).strip()


@asynccontextmanager
async def visiting(tmp_path: Path, *, config: str = CONFIG, auth: str = "off", **more: Any) -> AsyncGenerator[Visitor]:
    """A house on a temporary home, and somebody who visits it."""
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir(exist_ok=True)
    workspace.mkdir(exist_ok=True)
    (home / "toolcrib.yaml").write_text(config, encoding="utf-8")
    opened = await open_house(home=str(home), workspace=str(workspace), auth=auth, env={}, **more)
    async with opened as house:
        composition = Composition(house)
        transport = httpx2.ASGITransport(app=composition.app, client=("127.0.0.1", 1234))
        async with composition.running(), httpx2.AsyncClient(transport=transport, base_url=BASE) as client:
            yield Visitor(house, client)
