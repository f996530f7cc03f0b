"""What single pages say and do, asked without a browser."""

import json
import re
import time

import pytest

from tests.faces.web.houses import HTMX, Visitor, words
from toolcrib.services.agents import Agents
from toolcrib.services.toolboxes import Toolboxes

ODD = """a/b "c" <i>d</i> & 'e' ?f=#g %41 é"""


async def _agent(visitor: Visitor, name: str, **definition: object):
    await visitor.house.crib.services[Agents].create(name, definition)  # type: ignore[union-attr]


async def test_odd_names_are_shown_as_they_are_and_lead_to_their_pages(visitor: Visitor):
    await visitor.house.crib.services[Toolboxes].create(ODD, ["read_file"], by="me")  # type: ignore[union-attr]
    for path in ("/toolboxes", "/compare-toolboxes", "/new-agent"):
        html = (await visitor.get(path)).text
        assert "<i>d</i>" not in html, path
        links = re.findall(r'href="(/toolboxes/a%2Fb[^"]*)"', html)
        assert ODD in words(html)
        for link in links:
            answer = await visitor.get(link.replace("&amp;", "&"))
            assert answer.status_code == 200, link
            assert ODD in words(answer.text)


async def test_ticks_are_tried_without_being_saved(visitor: Visitor):
    await _agent(visitor, "clerk")
    before = visitor.house.crib.view("clerk").names
    tried = await visitor.get("/agents/clerk/tools?try=1&boxes=research&q=web", part=True)
    told = words(tried.text)
    assert "browse_url" in told
    assert "Not saved yet" in told
    assert "read_file" not in told  # the filter
    assert visitor.house.crib.view("clerk").names == before


async def test_every_granted_tool_says_what_let_it_in(visitor: Visitor):
    told = await visitor.page("/agents/helper/tools")
    view = visitor.house.crib.view("helper")
    for name in view.names:
        assert name in told
    assert f"{len(view)} tools granted" in told


async def test_a_sub_agent_holds_less_and_the_tab_shows_it(visitor: Visitor):
    await _agent(visitor, "lead", toolboxes=["all"])
    main = await visitor.page("/agents/lead/tools")
    sub = await visitor.page("/agents/lead/tools?try=1&boxes=all&as=sub")
    assert "prompt_secret" in main
    assert "prompt_secret" not in sub


async def test_an_agent_of_the_file_is_not_changed_here(visitor: Visitor):
    answer = await visitor.post("/agents/helper/tools", {"boxes": "scout", "revision": "0"})
    assert answer.status_code == 422
    assert "is written in toolcrib.yaml" in words(answer.text)


async def test_who_saves_over_a_change_of_somebody_else_is_told(visitor: Visitor):
    await _agent(visitor, "shared")
    await visitor.post("/agents/shared/tools", {"boxes": "scout", "revision": "1"})
    answer = await visitor.post("/agents/shared/tools", {"boxes": "research", "revision": "1"}, part=True)
    assert answer.status_code == 422
    assert "was changed meanwhile" in answer.text


async def test_the_policy_of_an_agent_is_checked_before_it_is_saved(visitor: Visitor):
    await _agent(visitor, "clerk", toolboxes=["research"])
    wrong = await visitor.post("/agents/clerk/policy", {"deny": "browse_ur", "revision": "1"}, part=True)
    assert "browse_url" in wrong.text  # did you mean
    right = await visitor.post("/agents/clerk/policy", {"deny": "browse_url", "rate": "50", "revision": "1"})
    assert right.status_code == 303
    assert "browse_url" not in visitor.house.crib.view("clerk")
    assert "\u22121 denied by agent policy" in await visitor.page("/agents/clerk/policy")


@pytest.mark.parametrize(
    ("tool", "fields", "told"),
    [
        ("think", {"arg.thought": "well"}, "ok"),
        ("read_file", {"arg.path": "none", "arg.limit": "5"}, "not_found"),
        ("read_file", {"arg.path": "none", "arg.limit": "many"}, "invalid_args"),
        ("multi_edit", {"arg.path": "x", "arg.edits": "no json"}, "edits is no JSON"),
        ("multi_edit", {"arg.path": "x", "arg.edits": '[{"oldText": "a", "newText": "b"}]'}, "not_found"),
        ("task_todos", {"arg.todos": "[]"}, "ok"),
    ],
)
async def test_a_form_of_a_schema_becomes_a_call(visitor: Visitor, tool: str, fields: dict[str, str], told: str):
    answer = await visitor.post(f"/tools/{tool}", {"agent": "helper", **fields}, part=True)
    assert told in words(answer.text)


async def test_calls_from_the_page_stand_on_record_with_the_person(visitor: Visitor):
    await visitor.post("/tools/write_file", {"agent": "scout", "arg.path": "x", "arg.content": "y"}, part=True)
    line = (await visitor.house.crib.store.audit.entries()).entries[0]
    assert (line.agent, line.user, line.code) == ("scout", "you", "not_issued")
    told = await visitor.page(f"/record/{line.id}")
    assert "The tool did not run." in told
    assert "Refused not_issued" in told


async def test_the_record_pages_by_cursor_and_keeps_its_filters(visitor: Visitor):
    for _ in range(55):
        await visitor.house.crib.call("think", {"thought": "again"}, agent="helper")
    html = (await visitor.get("/record?agent=helper")).text
    older = re.search(r'href="(/record\?[^"]*cursor=[^"]+)"', html)
    assert older
    page = (await visitor.get(older[1].replace("&amp;", "&"))).text
    assert page.count('<tr id="call-') == 5
    assert "agent=helper" in older[1]
    assert (await visitor.get("/record?cursor=x")).status_code == 422


async def test_an_export_has_what_was_filtered_as_json_lines(visitor: Visitor):
    await visitor.house.crib.call("think", {"thought": "one"}, agent="helper")
    await visitor.house.crib.call("write_file", {"path": "a", "content": ""}, agent="scout")
    answer = await visitor.get("/record/export.jsonl?agent=scout")
    assert "attachment" in answer.headers["content-disposition"]
    assert [json.loads(line)["tool"] for line in answer.text.splitlines()] == ["write_file"]


async def test_a_command_is_shown_in_its_parts_and_a_file_with_its_lines(visitor: Visitor):
    crib = visitor.house.crib
    (await crib.call("write_file", {"path": "private.txt", "content": "x"}, agent="nobody"))
    waits = [
        visitor.house.begin(crib.call("run_shell", {"command": "rm -rf a && make b"}, agent="helper", session="s")),
        visitor.house.begin(
            crib.call("write_file", {"path": "private.txt", "content": "one\ntwo\n"}, agent="helper", session="s")
        ),
    ]
    until = time.monotonic() + 10
    while len(await crib.approvals.list()) < len(waits):
        assert time.monotonic() < until
        await crib.call("think", {"thought": "of waiting"}, agent="helper")
    told = await visitor.page("/approvals")
    assert "Its parts rm -rf a make b" in told
    assert "Would create private.txt +2 \u22120" in told
    assert "+one +two" in told
    for wait in waits:
        wait.cancel()


async def test_a_wish_for_tools_is_granted_for_a_while(visitor: Visitor):
    crib = visitor.house.crib
    await _agent(visitor, "asker", tools=["request_tool_access"])
    wished = {"tool_names": ["glob"], "reason": "to look through the notes of the talks"}
    assert (await crib.call("request_tool_access", wished, agent="asker", session="s")).error is None
    told = await visitor.page("/approvals")
    assert "asker asks for tools" in told
    (wish,) = await crib.store.access.requests()
    nothing = await visitor.post(f"/approvals/wishes/{wish.id}", {"answer": "grant"}, part=True)
    assert "Tick at least one tool" in nothing.text
    fields = {"answer": "grant", "tools": "glob", "lifetime": "until", "seconds": "3600"}
    assert (await visitor.post(f"/approvals/wishes/{wish.id}", fields)).status_code == 303
    assert (await crib.call("glob", {"pattern": "*"}, agent="asker", session="s")).ok
    assert "glob until" in await visitor.page("/approvals/grants")
    (grant,) = await crib.store.access.grants()
    await visitor.post(f"/approvals/grants/{grant.id}/revoke")
    assert "revoked by you" in await visitor.page("/approvals/grants")


async def test_a_secret_is_never_in_a_page_unless_asked_for(visitor: Visitor):
    fields = {"key": "TOKEN", "value": "a-secret-of-some-length", "hosts": "api.example.org"}
    assert (await visitor.post("/vault", fields)).status_code == 303
    for path in ("/", "/vault", "/vault/TOKEN", "/record"):
        assert "a-secret-of-some-length" not in (await visitor.get(path)).text
    assert "api.example.org" in await visitor.page("/vault")
    shown = await visitor.post("/vault/TOKEN/reveal", part=True)
    assert "a-secret-of-some-length" in shown.text
    assert shown.headers["cache-control"] == "no-store"
    kept = await visitor.post("/vault/TOKEN", {"value": "", "description": "changed"})
    assert kept.status_code == 303
    assert "a-secret-of-some-length" in (await visitor.post("/vault/TOKEN/reveal", part=True)).text
    assert "Rotated" in words((await visitor.client.post("/rotate-vault", follow_redirects=True)).text)
    assert (await visitor.post("/vault/TOKEN/delete")).status_code == 303
    assert (await visitor.get("/vault/TOKEN")).status_code == 404


async def test_an_unknown_name_in_a_toolbox_is_said_before_and_refused_at_save(visitor: Visitor):
    tried = await visitor.get("/try-toolbox?name=x&tools=grep&extra=read_fil", part=True)
    assert "Did you mean read_file" in tried.text
    saved = await visitor.post("/toolboxes", {"name": "x", "extra": "read_fil"}, part=True)
    assert saved.status_code == 422
    assert "read_file" in saved.text


async def test_the_stream_tells_what_happens_after_the_page_was_made(visitor: Visitor):
    events = visitor.house.events
    assert f"/live?after={events.last}" in (await visitor.get("/record")).text


async def test_the_look_is_kept_and_leads_back_only_here(visitor: Visitor):
    answer = await visitor.post("/settings/look", {"look": "dark", "back": "//evil.example"})
    assert answer.headers["location"] == "/"
    assert '<html lang="en" data-look="dark" class="dark">' in (await visitor.get("/")).text


async def test_nobody_else_may_frame_or_post_to_a_page(visitor: Visitor):
    answer = await visitor.client.post("/agents", data={"name": "x"}, headers={"origin": "http://evil.example", **HTMX})
    assert answer.status_code == 403
    assert "frame-ancestors 'none'" in (await visitor.get("/")).headers["content-security-policy"]
