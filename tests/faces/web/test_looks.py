"""Every page in light, in dark and on a phone: nothing for axe to find, nothing that scrolls sideways, no trouble."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page

from tests.faces.web.browsers import Desk, axe, desk
from tests.faces.web.test_every_page import PAGES
from toolcrib.services.vault.secrets import Wanted

pytestmark = pytest.mark.asyncio(loop_scope="module")
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crib(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    async with desk(tmp_path_factory.mktemp("looks")) as found:
        await _lived_in(found)
        yield found


async def _lived_in(found: Desk) -> None:
    """A house where something has happened, and something waits."""
    crib, long = found.house.crib, "a-name-that-somebody-chose-because-it-was-fun-and-very-long-too"
    for path, content in (("notes/today.md", "- one\n- two\n"), ("private/plan.md", "secret\n")):
        call = crib.call("write_file", {"path": path, "content": content}, agent="helper", session=long)
        found.house.begin(call)
    await crib.call("read_file", {"path": f"{long}/{long}"}, agent="scout", session=long)
    await crib.call("run_shell", {"command": "ls"}, agent="nobody", session=long)
    await crib.call(
        "request_tool_access", {"tool_names": ["run_shell"], "reason": "to build it"}, agent="helper", session="w"
    )
    await crib.vault.secrets.create(long.upper(), Wanted(value="a-value-of-some-length", description="For the tests"))
    found.house.begin(crib.call("run_shell", {"command": "rm -rf build && make"}, agent="helper", session="sh"))
    for _ in range(100):
        if len(await crib.approvals.list()) == 2:
            return
        await crib.call("think", {"thought": "of waiting"}, agent="helper")


async def _looked_at(page: Page, path: str) -> dict[str, list[str]]:
    """What is wrong with a page as it stands, in light and in dark, and as wide as a phone."""
    wrong = {f"{path}, light": await axe(page)}
    await page.emulate_media(color_scheme="dark")
    await page.wait_for_function("document.documentElement.classList.contains('dark')")
    wrong[f"{path}, dark"] = await axe(page, colours=True)
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size({"width": 390, "height": 844})
    wrong[f"{path}, phone"] = await axe(page)
    if await page.evaluate(WIDE) > 0:
        wrong[f"{path}, phone"].append("it scrolls sideways")
    await page.set_viewport_size({"width": 1280, "height": 860})
    return {where: found for where, found in wrong.items() if found}


@pytest.mark.meets("page:axe:clean", "page:offline:vendored")
async def test_axe_finds_nothing_on_any_page_in_light_in_dark_and_on_a_phone(crib: Desk):
    crib.trouble.clear()
    found: dict[str, list[str]] = {}
    last = (await crib.house.crib.store.audit.entries()).entries[0].id
    # The page's own policy stays on everywhere else; here axe itself has to be let in.
    async with crib.page(bypass_csp=True, reduced_motion="reduce") as page:
        for path in (*PAGES, f"/record/{last}", "/agents/nobody"):
            await page.goto(path)
            found |= await _looked_at(page, path)
    assert found == {}
    assert [one for one in crib.trouble if "404" not in one] == []


async def test_axe_finds_nothing_where_things_are_opened(crib: Desk):
    async with crib.page(bypass_csp=True, reduced_motion="reduce") as page:
        await page.goto("/approvals")
        for key in ("Always…", "Edit", "Respond", "Deny"):
            await page.locator("article summary", has_text=key).first.click()
            assert await _looked_at(page, key) == {}
        await page.goto("/agents/scout/tools")
        await page.get_by_role("checkbox", name="research").check()
        await page.get_by_text("Not saved yet").wait_for()
        assert await _looked_at(page, "a tick") == {}


async def test_axe_finds_nothing_in_the_drawer(crib: Desk):
    async with crib.page(phone=True, bypass_csp=True, reduced_motion="reduce") as page:
        await page.goto("/agents")
        await page.get_by_role("button", name="Menu").click()
        assert await axe(page) == []
