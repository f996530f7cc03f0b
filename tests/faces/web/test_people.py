"""Signing in, the first visit, invitations, people and keys."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.faces.web.browsers import Desk, axe, desk
from tests.faces.web.houses import HTMX, Visitor, visiting
from toolcrib.services.people.principal import Role

NAME, PASSWORD = "Ada", "correct horse battery"
FORM = {"name": NAME, "password": PASSWORD}


@pytest.fixture
async def stranger(tmp_path: Path) -> AsyncIterator[Visitor]:
    async with visiting(tmp_path, auth="on") as found:
        yield found


async def _token(visitor: Visitor, path: str = "/people/me") -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', (await visitor.get(path)).text)
    assert found
    return found[1]


async def _admin(visitor: Visitor) -> None:
    """Make the first admin by the link that was printed."""
    answer = await visitor.post(f"/start/{visitor.house.people.signin.first_run()}", FORM)
    assert answer.status_code == 303


async def test_a_stranger_is_led_to_the_sign_in_and_back(stranger: Visitor):
    await _admin(stranger)
    stranger.client.cookies.clear()
    answer = await stranger.client.get("/agents?x=1", headers={"accept": "text/html"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=%2Fagents%3Fx%3D1"
    page = await stranger.get(answer.headers["location"])
    assert 'value="/agents?x=1"' in page.text
    entered = await stranger.post("/login", {**FORM, "next": "/agents?x=1"})
    assert entered.headers["location"] == "/agents?x=1"
    assert "helper" in await stranger.page("/agents")


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example"])
async def test_after_the_sign_in_nobody_is_sent_elsewhere(stranger: Visitor, to: str):
    await _admin(stranger)
    stranger.client.cookies.clear()
    assert (await stranger.post("/login", {**FORM, "next": to})).headers["location"] == "/"


async def test_a_wrong_password_says_so_and_keeps_the_name(stranger: Visitor):
    await _admin(stranger)
    stranger.client.cookies.clear()
    answer = await stranger.post("/login", {**FORM, "password": "wrong"})
    assert answer.status_code == 422
    assert "The name or the password is wrong" in answer.text
    assert 'value="Ada"' in answer.text
    assert "wrong" not in re.findall(r'type="password"[^>]*', answer.text)[0]


async def test_the_first_visit_makes_the_admin_once(stranger: Visitor):
    link = f"/start/{stranger.house.people.signin.first_run()}"
    assert "You become the admin" in await stranger.page(link)
    assert "At least 10" in (await stranger.page(link))
    short = await stranger.post(link, {"name": NAME, "password": "short"})
    assert short.status_code == 422
    assert "10 to 256 characters" in short.text
    assert (await stranger.post(link, FORM)).status_code == 303
    assert "Ada admin" in await stranger.page("/")
    stranger.client.cookies.clear()
    assert "This link does not hold" in await stranger.page(link)


async def test_a_form_without_its_token_does_nothing(stranger: Visitor):
    await _admin(stranger)
    answer = await stranger.post("/agents", {"name": "sneaked"})
    assert answer.status_code == 403
    assert "sneaked" not in stranger.house.crib.resolver.grants.agents
    token = await _token(stranger)
    assert (await stranger.post("/agents", {"name": "honest", "csrf": token})).status_code == 303
    assert "honest" in stranger.house.crib.resolver.grants.agents


async def test_an_invitation_is_shown_once_and_used_once(stranger: Visitor):
    await _admin(stranger)
    token = await _token(stranger)
    made = await stranger.post("/people/invitations", {"role": "viewer", "days": "3", "csrf": token}, part=True)
    link = re.search(r"http://[^<\s]+(/join/[^<\s]+)", made.text)
    assert link
    assert link[1] not in (await stranger.get("/people/invitations")).text
    stranger.client.cookies.clear()
    assert "You are invited" in await stranger.page(link[1])
    joined = await stranger.post(link[1], {"name": "Bob", "password": PASSWORD})
    assert joined.status_code == 303
    assert "Bob viewer" in await stranger.page("/")
    stranger.client.cookies.clear()
    assert "This link does not hold" in await stranger.page(link[1])


async def test_a_viewer_looks_and_changes_nothing(stranger: Visitor):
    await _admin(stranger)
    made = await stranger.house.people.invitations.make(by=NAME, role=Role.VIEWER)
    stranger.client.cookies.clear()
    await stranger.post(f"/join/{made.secret}", {"name": "Bob", "password": PASSWORD})
    for path in ("/", "/agents", "/agents/helper/tools", "/tools/read_file", "/approvals", "/record", "/vault"):
        html = (await stranger.get(path)).text
        assert 'href="/new-' not in html, path
    token = await _token(stranger)
    for path in ("/agents", "/tools/read_file", "/vault", "/toolboxes", "/people/invitations"):
        answer = await stranger.post(path, {"name": "x", "csrf": token})
        assert answer.status_code == 403, path
    assert (await stranger.get("/people/invitations")).status_code == 403


async def test_the_last_admin_stays_one(stranger: Visitor):
    await _admin(stranger)
    (ada,) = await stranger.house.people.persons.all()
    fields = {"role": "viewer", "revision": str(ada.revision), "csrf": await _token(stranger)}
    answer = await stranger.post(f"/people/{ada.id}", fields, part=True)
    assert answer.status_code == 422
    assert "There would be no admin left" in answer.text


async def test_signing_out_ends_the_visit(stranger: Visitor):
    await _admin(stranger)
    answer = await stranger.post("/signout", {"csrf": await _token(stranger)})
    assert answer.headers["location"] == "/login"
    assert (await stranger.client.get("/agents", headers={"accept": "text/html"})).status_code == 303


async def test_changing_the_password_asks_for_the_old_one_and_signs_out(stranger: Visitor):
    await _admin(stranger)
    token = await _token(stranger)
    new = {"new": "another good password", "again": "another good password", "csrf": token}
    wrong = await stranger.post("/people/me", {"old": "no", **new}, part=True)
    assert "The old password is wrong" in wrong.text
    answer = await stranger.post("/people/me", {"old": PASSWORD, **new})
    assert answer.headers["location"] == "/login"
    assert (await stranger.post("/login", {"name": NAME, "password": new["new"]})).headers["location"] == "/"


async def test_a_key_opens_the_pages_that_its_scopes_name(stranger: Visitor):
    await _admin(stranger)
    (ada,) = await stranger.house.people.persons.all()
    made = await stranger.house.people.keys.make(name="k", person=ada.id, role=Role.VIEWER, scopes=["record"])
    stranger.client.cookies.clear()
    bearer = {"authorization": f"Bearer {made.secret}"}
    assert (await stranger.client.get("/record", headers=bearer)).status_code == 200
    assert (await stranger.client.get("/vault", headers=bearer)).status_code == 403


async def test_how_to_use_a_key_is_what_its_scopes_allow(stranger: Visitor):
    await _admin(stranger)
    said = {"name": "k", "role": "operator", "scopes": "mcp", "agents": "helper", "csrf": await _token(stranger)}
    made = await stranger.post("/people/keys", said, part=True)
    assert "claude mcp add --transport http toolcrib http://" in made.text
    assert "/mcp/helper --header" in made.text
    assert "/api/v1" not in made.text


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crib(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    async with desk(tmp_path_factory.mktemp("people"), auth="on") as found:
        yield found


@pytest.mark.asyncio(loop_scope="module")
async def test_from_the_first_link_to_a_key_that_works(crib: Desk):
    crib.trouble.clear()
    async with crib.page(bypass_csp=True, reduced_motion="reduce") as page:
        await page.goto(f"/start/{crib.house.people.signin.first_run()}")
        assert await axe(page) == []
        await page.get_by_label("Your name").fill(NAME)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("Welcome, Ada")
        await page.get_by_role("link", name="People and keys").click()
        await page.get_by_role("link", name="API keys").click()
        await page.get_by_label("What it is for").fill("the builds")
        await page.get_by_role("checkbox", name="agents").check()
        await page.get_by_role("button", name="Make key").click()
        key = await page.locator("#secret").inner_text()
        assert key.startswith("tcb_")
        await expect(page.get_by_role("row", name="the builds")).to_be_visible()  # the list knows it at once
        await page.get_by_text("How to use it").click()
        await expect(page.locator("#made")).to_contain_text("/api/v1/agents")
        assert await axe(page) == []
        await page.goto("/people/keys")
        await expect(page.get_by_role("row", name="the builds")).to_contain_text("operator agents")
        assert key not in await page.content()
        answer = await page.request.get("/api/v1/agents", headers={"authorization": f"Bearer {key}", "cookie": ""})
        assert answer.status == 200
        for path in ("/people", "/people/invitations", "/people/keys", "/people/me"):
            await page.goto(path)
            assert await axe(page) == [], path
        page.on("dialog", lambda asked: asked.accept())
        await page.goto("/people/keys")
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.get_by_role("status")).to_contain_text("opens nothing any more")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        assert await axe(page) == []
        await page.get_by_label("Name").fill(NAME)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    assert crib.trouble == []


async def test_what_programs_send_without_a_token_is_refused_where_a_cookie_is(stranger: Visitor):
    await _admin(stranger)
    answer = await stranger.client.post("/rotate-vault", headers={**HTMX, "x-csrf-token": "guessed"})
    assert answer.status_code == 403
