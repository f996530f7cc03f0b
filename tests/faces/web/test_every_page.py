"""What holds for every page, whatever it shows."""

import re
from pathlib import Path

import pytest

from tests.faces.web.houses import Visitor, visiting
from toolcrib.faces import web
from toolcrib.faces.web.assets import FOLDER
from toolcrib.faces.web.places import places
from toolcrib.services.people.principal import allowed

PAGES = (
    "/", "/agents", "/new-agent", "/agents/helper", "/agents/helper/tools", "/agents/helper/policy",
    "/agents/helper/toolkits", "/agents/helper/runs", "/tools", "/tools/read_file", "/tools/run_shell", "/toolboxes",
    "/toolboxes/scout", "/toolboxes/notes", "/new-toolbox", "/new-toolbox?from=scout",
    "/compare-toolboxes?box=scout&box=notes", "/approvals", "/approvals/decided", "/approvals/rules",
    "/approvals/grants", "/record", "/record/verify", "/explain", "/explain?agent=scout&tool=write_file", "/policy",
    "/vault", "/new-secret", "/people", "/people/invitations", "/people/keys", "/people/me", "/mcp-servers",
    "/settings", "/settings/licences",
)  # fmt: skip
PARTS = (
    "/agents/helper/tools?try=1&boxes=scout", "/tools?q=file", "/compare-toolboxes?box=scout&box=notes",
    "/try-toolbox?name=x&tools=grep", "/approvals", "/record?agent=helper", "/explain?q=file",
    "/explain?agent=scout&tool=write_file", "/vault?q=x", "/waiting?session=x", "/record/verify",
)  # fmt: skip
TEMPLATES = sorted(Path(web.__file__).parent.rglob("*.html"))
OWN_SCRIPTS = ("page.js", "look.js")


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_answers_with_a_title_and_its_policy(visitor: Visitor, path: str):
    answer = await visitor.get(path)
    assert answer.status_code == 200
    assert re.search(r"<title>[^<]+ · Toolcrib</title>", answer.text)
    assert answer.text.count("<h1") == 1
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy


@pytest.mark.meets("page:fragment:whole")
@pytest.mark.parametrize("path", PARTS)
async def test_a_fragment_is_a_whole_page_for_whoever_runs_no_scripts(visitor: Visitor, path: str):
    part, whole = await visitor.get(path, part=True), await visitor.get(path)
    assert part.status_code == whole.status_code == 200
    assert "<html" not in part.text
    assert whole.text.lstrip().startswith("<!doctype html>")
    assert len(part.text) < len(whole.text)


@pytest.mark.parametrize("path", PAGES)
async def test_no_page_has_anything_inline_or_from_elsewhere(visitor: Visitor, path: str):
    html = (await visitor.get(path)).text
    assert not re.findall(r"<script(?![^>]*\ssrc=)[^>]*>", html)
    assert not re.findall(r"\son[a-z]+=|\sstyle=|hx-on", html)
    assert not re.findall(r"""(?:src|href|action)=["'](?:https?:)?//""", html)


@pytest.mark.parametrize("path", PAGES)
async def test_every_icon_is_in_the_sprite_and_every_id_is_there_once(visitor: Visitor, path: str):
    html = (await visitor.get(path)).text
    drawn = set(re.findall(r'<symbol id="([^"]+)"', (FOLDER / "icons.svg").read_text(encoding="utf-8")))
    assert set(re.findall(r'icons-[0-9a-f]+\.svg#([^"]+)"', html)) <= drawn
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert sorted(ids) == sorted(set(ids))


async def test_every_link_of_every_page_leads_somewhere(visitor: Visitor):
    seen: dict[str, str] = {}
    for path in PAGES:
        for link in re.findall(r'href="(/[^"]*)"', (await visitor.get(path)).text):
            seen.setdefault(link.replace("&amp;", "&").partition("#")[0], path)
    broken = {link: page for link, page in seen.items() if (await visitor.get(link)).status_code != 200}
    assert broken == {}


@pytest.mark.meets("page:empty:first-step")
async def test_an_empty_house_says_what_each_thing_is_for_and_offers_the_first_step(tmp_path: Path):
    async with visiting(tmp_path, config="{}\n") as visitor:
        for path, told, step in (
            ("/agents", "An agent is whoever calls tools", 'href="/new-agent"'),
            ("/toolboxes", "Put a handful of tools in a box", 'href="/new-toolbox"'),
            ("/approvals", "Nothing waits for you", 'href="/policy"'),
            ("/record", "Nothing on the record yet", 'href="/tools"'),
            ("/explain", "No agent to explain yet", 'href="/new-agent"'),
            ("/vault", "Nothing in the vault yet", 'href="/new-secret"'),
            ("/mcp-servers", "No MCP server", "/mcp-servers"),
        ):
            html = (await visitor.get(path)).text
            assert told in html, path
            assert step in html, path


@pytest.mark.meets("page:setup:next")
async def test_the_set_up_list_says_what_to_do_next(tmp_path: Path):
    async with visiting(tmp_path, config="{}\n") as visitor:
        assert "Make an agent An agent is whoever calls tools" in await visitor.page("/")
        await visitor.post("/agents", {"name": "first"})
        assert "Make an agent done" in await visitor.page("/")
        assert "Give it tools Tick toolboxes" in await visitor.page("/")


def test_every_route_says_who_may_use_it():
    routes = [route for place in places() for route in place.routes]
    assert [route.path for route in routes if allowed(route.endpoint) is None] == []  # type: ignore[union-attr]


def test_templates_and_own_scripts_stay_short():
    assert [path.name for path in TEMPLATES if len(path.read_text(encoding="utf-8").splitlines()) >= 200] == []
    assert sum((FOLDER / name).stat().st_size for name in OWN_SCRIPTS) < 15_000


async def test_files_are_kept_for_ever_under_the_hash_of_what_they_hold(visitor: Visitor):
    html = (await visitor.get("/")).text
    for path in sorted(set(re.findall(r'"(/assets/[^"#]+)', html))):
        answer = await visitor.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert (await visitor.get("/assets/page.js")).status_code == 404


def test_everything_that_is_vendored_has_its_licence():
    told = (FOLDER / "LICENCES.txt").read_text(encoding="utf-8")
    for part in ("htmx", "Basecoat", "Lucide", "Inter", "JetBrains Mono", "tailwindcss"):
        assert part in told


def test_the_pictures_are_of_the_page_and_small():
    picture = Path(__file__).parents[3] / "docs" / "picture.png"
    assert picture.exists()
    assert picture.stat().st_size < 200_000
