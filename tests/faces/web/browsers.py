"""A real browser before a real server, both in the loop of the tests."""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from tests.faces.web.houses import CONFIG
from toolcrib.app.house import House, open_house
from toolcrib.faces.serving.composition import Composition
from toolcrib.faces.serving.running import Server, listening

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
AXE = Path(__file__).parents[2] / "data" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def chromium() -> str:
    """The browser of this machine; without one the test is skipped, and says how to get it."""
    named = os.environ.get("TOOLCRIB_TEST_CHROMIUM", "")
    found = named or next((path for name in NAMES if (path := shutil.which(name))), "")
    if not found:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in TOOLCRIB_TEST_CHROMIUM")
    return found


class Desk:
    """One house, where it is, and a browser that watches itself for trouble."""

    def __init__(self, house: House, address: str, browser: Browser, workspace: Path) -> None:
        self.house = house
        self.address = address
        self.browser = browser
        self.workspace = workspace
        self.trouble: list[str] = []

    @asynccontextmanager
    async def page(self, *, dark: bool = False, phone: bool = False, **more: Any) -> AsyncGenerator[Page]:
        """An open page; what goes wrong in it is kept in `trouble`."""
        size = {"width": 390, "height": 844} if phone else {"width": 1280, "height": 860}
        context = await self.browser.new_context(
            viewport=size,  # type: ignore[arg-type]
            color_scheme="dark" if dark else "light",
            base_url=self.address,
            **more,
        )
        context.set_default_timeout(5000)
        self._watch(context)
        try:
            yield await context.new_page()
        finally:
            await context.close()

    def _watch(self, context: BrowserContext) -> None:
        context.on("weberror", lambda error: self.trouble.append(f"error: {error.error}"))
        context.on("console", lambda said: self._heard(said.type, said.text))
        context.on("request", lambda asked: self._asked(asked.url))

    def _heard(self, kind: str, text: str) -> None:
        # A refused form answers 422, which the browser notes by itself.
        if kind in {"error", "warning"} and "status of 422" not in text:
            self.trouble.append(f"console: {text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address, "data:")):
            self.trouble.append(f"asked of another host: {url}")


@asynccontextmanager
async def desk(tmp_path: Path, config: str = CONFIG, *, auth: str = "off") -> AsyncGenerator[Desk]:
    """A house with its server and a browser, until the tests are over."""
    path = chromium()
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir(exist_ok=True)
    workspace.mkdir(exist_ok=True)
    (home / "toolcrib.yaml").write_text(config, encoding="utf-8")
    opened = await open_house(home=str(home), workspace=str(workspace), auth=auth, env={})
    async with opened as house:
        composition = Composition(house)
        taken = listening("127.0.0.1", 0)
        server = Server(
            uvicorn.Config(
                composition.app, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=1
            )
        )
        async with composition.running(), async_playwright() as playwright:
            serving = house.begin(server.serve([taken]))
            browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
            try:
                host, port = taken.getsockname()
                yield Desk(house, f"http://{host}:{port}", browser, workspace)
            finally:
                await browser.close()
                house.events.close()
                server.should_exit = True
                await serving


async def axe(page: Page, *, colours: bool = False) -> list[str]:
    """What axe finds on a page; or only in its colours, where the rest was looked at already."""
    rules = {"type": "rule", "values": ["color-contrast"]} if colours else {"type": "tag", "values": RULES}
    script = "only => axe.run(document, {runOnly: only, resultTypes: ['violations'], elementRef: false})"
    await page.wait_for_function("!document.querySelector('.htmx-request')")  # what is being fetched is dimmed
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text(encoding="utf-8"))
    found = await page.evaluate(script, rules)
    return [f"{one['id']}: {one['nodes'][0]['html'][:140]}" for one in found["violations"]]
