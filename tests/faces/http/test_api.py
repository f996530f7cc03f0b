"""What programs do over HTTP: agents, tools, toolboxes, calls, approvals, the record, the vault, people."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from toolcrib.app.house import House
from toolcrib.services.people.principal import Role

V1 = "/api/v1"
Keyed = Callable[..., Awaitable[httpx2.AsyncClient]]


async def made(client: httpx2.AsyncClient, path: str, body: dict[str, Any], **headers: str) -> Any:
    told = await client.post(V1 + path, json=body, headers=headers)
    assert told.status_code in {200, 201, 202}, told.text
    return told.json()


async def got(client: httpx2.AsyncClient, path: str, **query: Any) -> Any:
    told = await client.get(V1 + path, params=query)
    assert told.status_code == 200, told.text
    return told.json()


def is_problem(told: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json"), told.text
    body = told.json()
    assert (body["status"], body["code"]) == (status, code)
    return body


@pytest.mark.meets("api:etag:edits")
async def test_an_agent_is_made_seen_changed_and_deleted(admin: httpx2.AsyncClient) -> None:
    new = await admin.post(f"{V1}/agents", json={"name": "robin", "definition": {"toolboxes": ["notes"]}})
    assert (new.status_code, new.headers["etag"]) == (201, '"1"')
    assert {one["name"] for one in (await got(admin, "/agents"))["items"]} >= {"robin", "helper"}
    body = {"definition": {"toolboxes": ["scout"]}}
    is_problem(await admin.put(f"{V1}/agents/robin", json=body), 428, "if_match_wanted")
    is_problem(await admin.put(f"{V1}/agents/robin", json=body, headers={"If-Match": '"9"'}), 412, "revision_conflict")
    changed = await admin.put(f"{V1}/agents/robin", json=body, headers={"If-Match": '"1"'})
    assert (changed.status_code, changed.headers["etag"]) == (200, '"2"')
    assert (await admin.delete(f"{V1}/agents/robin", headers={"If-Match": '"2"'})).status_code == 204
    is_problem(await admin.get(f"{V1}/agents/robin"), 404, "not_found")


async def test_an_agent_of_the_configuration_is_changed_in_the_configuration(admin: httpx2.AsyncClient) -> None:
    told = await admin.put(f"{V1}/agents/helper", json={"definition": {}}, headers={"If-Match": "*"})
    assert "toolcrib.yaml" in is_problem(told, 409, "AGENT_CONFIGURED_READONLY")["hint"]


async def test_a_preview_says_what_other_toolboxes_would_give_and_saves_nothing(admin: httpx2.AsyncClient) -> None:
    now = await got(admin, "/agents/scout/holding")
    assert now["gained"] == []
    then = await got(admin, "/agents/scout/holding", toolboxes=["scout", "notes"])
    assert "write_file" in then["gained"]
    held = {one["tool"]["name"]: one for one in then["holding"]["tools"]}
    assert any("notes" in why for why in held["write_file"]["by"])
    assert (await got(admin, "/agents/scout/holding"))["gained"] == []
    told = await admin.get(f"{V1}/agents/scout/holding", params={"toolboxes": "ntoes"})
    assert "notes" in is_problem(told, 404, "TOOLBOX_NOT_FOUND")["hint"]


async def test_why_a_tool_is_missing_and_what_to_change(admin: httpx2.AsyncClient) -> None:
    (told,) = await got(admin, "/agents/scout/explain", tool="write_file")
    assert (told["issued"], told["step"]) == (False, "grant")
    assert "toolbox" in told["change"]
    assert len(await got(admin, "/agents/scout/explain")) > 20


@pytest.mark.parametrize("form", ["openai", "anthropic", "gemini", "mcp"])
async def test_schemas_come_in_every_format(admin: httpx2.AsyncClient, form: str) -> None:
    assert await got(admin, "/agents/scout/tools", format=form)
    assert await got(admin, "/tools/read_file/schema", format=form)


async def test_tools_are_found_by_words_and_shown_whole(admin: httpx2.AsyncClient) -> None:
    assert (await got(admin, "/tools", query="read a file"))["items"][0]["name"] == "read_file"
    assert (await got(admin, "/tools/read_file"))["schema"]["properties"]["path"]
    holders = {one["agent"]: one["told"]["issued"] for one in await got(admin, "/tools/write_file/holders")}
    assert (holders["helper"], holders["scout"]) == (True, False)
    assert (await got(admin, "/search", q="read a file", agent="helper"))["tools"]
    is_problem(await admin.get(f"{V1}/tools/raed_file"), 404, "unknown_tool")


@pytest.mark.meets("api:paging:cursor")
async def test_lists_come_page_by_page(admin: httpx2.AsyncClient) -> None:
    names, cursor = [], None
    while True:
        page = await got(admin, "/tools", limit=7, **({"cursor": cursor} if cursor else {}))
        names += [one["name"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert names == [one["name"] for one in (await got(admin, "/tools"))["items"]]
    assert len(names) > 20
    is_problem(await admin.get(f"{V1}/tools", params={"cursor": "%%%"}), 409, "bad_cursor")


async def test_a_toolbox_is_made_compared_simulated_changed_and_deleted(admin: httpx2.AsyncClient) -> None:
    await made(admin, "/toolboxes", {"name": "mine", "tools": ["read_file", "glob"]})
    assert await got(admin, "/compare", a="mine", b="notes") == {
        "both": ["read_file"],
        "only_a": ["glob"],
        "only_b": ["write_file"],
    }
    await made(admin, "/agents", {"name": "robin", "definition": {"toolboxes": ["mine"]}})
    (change,) = await made(admin, "/simulate", {"toolbox": "mine", "tools": ["read_file"]})
    assert (change["agent"], change["loses"]) == ("robin", ["glob"])
    changed = await admin.patch(f"{V1}/toolboxes/mine", json={"add": ["explain_tool"]}, headers={"If-Match": '"1"'})
    assert sorted(changed.json()["tools"]) == ["explain_tool", "glob", "read_file"]
    late = await admin.patch(f"{V1}/toolboxes/mine", json={"add": ["think"]}, headers={"If-Match": '"1"'})
    is_problem(late, 412, "revision_conflict")
    assert (await admin.delete(f"{V1}/toolboxes/mine", headers={"If-Match": '"2"'})).status_code == 204
    told = await admin.delete(f"{V1}/toolboxes/all", headers={"If-Match": "*"})
    assert told.status_code == 409


async def test_a_call_runs_and_is_on_record_under_the_person(admin: httpx2.AsyncClient, workspace: Path) -> None:
    (workspace / "a.txt").write_text("hello", encoding="utf-8")
    told = await made(admin, "/calls", {"agent": "helper", "tool": "read_file", "arguments": {"path": "a.txt"}})
    assert (told["status"], "hello" in told["text"]) == ("done", True)
    (entry,) = await got(admin, f"/record/{told['id']}")
    assert (entry["user"], entry["tool"], entry["status"]) == ("Ada", "read_file", "done")
    page = await got(admin, "/record", tool="read_file", limit=1)
    assert page["items"][0]["id"] == told["id"]
    assert (await got(admin, "/record-check"))["ok"]
    lines = (await admin.get(f"{V1}/record-export")).text.splitlines()
    assert told["id"] in {json.loads(line)["id"] for line in lines}


async def test_a_refused_call_is_an_answer_with_its_reason(admin: httpx2.AsyncClient) -> None:
    told = await made(
        admin, "/calls", {"agent": "scout", "tool": "write_file", "arguments": {"path": "a", "content": ""}}
    )
    assert (told["status"], told["error"]["code"]) == ("refused", "not_issued")
    is_problem(await admin.post(f"{V1}/calls", json={"agent": "nobody", "tool": "think"}), 404, "unknown_agent")


async def test_a_call_that_wants_a_person_waits_and_runs_when_it_is_allowed(
    admin: httpx2.AsyncClient, workspace: Path
) -> None:
    body = {"agent": "helper", "tool": "write_file", "arguments": {"path": "private.txt", "content": "x"}}
    told = await admin.post(f"{V1}/calls", json=body)
    assert told.status_code == 202
    waits = told.json()
    assert (waits["status"], told.headers["location"]) == ("waits", f"{V1}/calls/{waits['id']}")
    (asked,) = (await got(admin, "/approvals", state="pending"))["items"]
    assert (asked["id"], asked["call"]) == (waits["approval"], waits["id"])
    answered = await made(admin, f"/approvals/{asked['id']}/answer", {"choice": "accept"})
    assert (answered["by"], answered["choice"]) == ("Ada", "accept")
    ended = await got(admin, f"/calls/{waits['id']}", wait=20)
    assert ended["status"] == "done"
    assert (workspace / "private.txt").read_text(encoding="utf-8") == "x"
    again = await admin.post(f"{V1}/approvals/{asked['id']}/answer", json={"choice": "deny"})
    assert again.status_code == 409


async def test_a_no_with_a_reason_reaches_the_call(admin: httpx2.AsyncClient, workspace: Path) -> None:
    body = {"agent": "helper", "tool": "write_file", "arguments": {"path": "private.txt", "content": "x"}}
    waits = (await admin.post(f"{V1}/calls", json=body)).json()
    await made(admin, f"/approvals/{waits['approval']}/answer", {"choice": "deny", "text": "not today"})
    ended = await got(admin, f"/calls/{waits['id']}", wait=20)
    assert (ended["status"], "not today" in json.dumps(ended)) == ("refused", True)
    assert not (workspace / "private.txt").exists()


async def test_a_call_that_waits_can_be_stopped(admin: httpx2.AsyncClient) -> None:
    body = {"agent": "helper", "tool": "write_file", "arguments": {"path": "private.txt", "content": "x"}}
    waits = (await admin.post(f"{V1}/calls", json=body)).json()
    told = await admin.delete(f"{V1}/calls/{waits['id']}")
    assert (told.status_code, told.json()["status"], told.json()["error"]["code"]) == (200, "cancelled", "cancelled")
    (entry,) = await got(admin, f"/record/{waits['id']}")
    assert entry["status"] == "cancelled"


async def test_what_a_call_changed_is_put_back(admin: httpx2.AsyncClient, workspace: Path) -> None:
    body = {"agent": "helper", "tool": "write_file", "arguments": {"path": "a.txt", "content": "x"}}
    told = await made(admin, "/calls", body)
    assert "can be undone" in (await got(admin, f"/calls/{told['id']}/undo"))["says"]
    await made(admin, f"/calls/{told['id']}/undo", {})
    assert not (workspace / "a.txt").exists()
    is_problem(await admin.post(f"{V1}/calls/nonsense/undo"), 409, "not_undoable")


async def test_a_call_with_a_key_runs_once(admin: httpx2.AsyncClient, workspace: Path) -> None:
    body = {"agent": "helper", "tool": "write_file", "arguments": {"path": "a.txt", "content": "x"}}
    first = await made(admin, "/calls", body, **{"Idempotency-Key": "k1"})
    (workspace / "a.txt").unlink()
    again = await made(admin, "/calls", body, **{"Idempotency-Key": "k1"})
    assert (first["status"], again["replayed"], (workspace / "a.txt").exists()) == ("done", True, False)


@pytest.mark.meets("api:key:idempotent")
async def test_a_post_with_a_key_is_done_once_and_answered_the_same(admin: httpx2.AsyncClient) -> None:
    body = {"label": "Grace"}
    first = await made(admin, "/invitations", body, **{"Idempotency-Key": "i1"})
    assert await made(admin, "/invitations", body, **{"Idempotency-Key": "i1"}) == first
    assert len((await got(admin, "/invitations"))["items"]) == 1
    told = await admin.post(f"{V1}/invitations", json={"label": "other"}, headers={"Idempotency-Key": "i1"})
    is_problem(told, 409, "key_reused")


async def test_a_secret_is_kept_listed_without_its_value_and_shown_only_on_request(
    admin: httpx2.AsyncClient, house: House
) -> None:
    put = await admin.put(f"{V1}/secrets/TOKEN", json={"value": "s3cr3t-v4lue-9911", "hosts": ["example.com"]})
    assert put.status_code == 200
    for told in (put.text, (await admin.get(f"{V1}/secrets")).text, (await admin.get(f"{V1}/record")).text):
        assert "s3cr3t-v4lue-9911" not in told
        assert "TOKEN" in told
    shown = await admin.post(f"{V1}/secrets/TOKEN/reveal")
    assert shown.json()["value"] == "s3cr3t-v4lue-9911"
    await house.crib.store.audit.settle()
    assert (await got(admin, "/record", tool="vault.reveal"))["items"][0]["user"] == "Ada"
    assert (await made(admin, "/scrub", {"text": "it is s3cr3t-v4lue-9911"}))["changed"]
    assert (await admin.delete(f"{V1}/secrets/TOKEN")).status_code == 204
    is_problem(await admin.delete(f"{V1}/secrets/TOKEN"), 404, "secret_not_found")


async def test_structured_entries_of_the_vault(admin: httpx2.AsyncClient) -> None:
    body = {"key": "mail", "entry_type": "credential", "value": {"username": "ada", "password": "p4ss-w0rd-zz"}}
    assert "p4ss" not in json.dumps(await made(admin, "/vault/entries", body))
    assert [one["key"] for one in (await got(admin, "/vault/entries"))["items"]] == ["mail"]
    assert (await made(admin, "/vault/entries/mail/reveal", {}))["value"]["password"] == "p4ss-w0rd-zz"
    assert (await made(admin, "/vault/rotate", {}))["rewrapped"] >= 1
    assert (await got(admin, "/vault/check"))["rows"] >= 1


async def test_a_wish_for_tools_is_answered_in_part(admin: httpx2.AsyncClient) -> None:
    wish = {"tool_names": ["glob", "explain_tool"], "reason": "to look around a little"}
    body = {"agent": "asker", "tool": "request_tool_access", "arguments": wish, "session": "s"}
    told = await made(admin, "/calls", body)
    assert told["status"] == "done", told
    (asked,) = (await got(admin, "/access", state="pending"))["items"]
    done = await made(admin, f"/access/{asked['id']}/decide", {"approve": ["glob"], "lifetime": "session"})
    assert (done["state"], done["granted"], done["decided_by"]) == ("approved", ["glob"], "Ada")
    (grant,) = (await got(admin, "/grants"))["items"]
    assert (await admin.delete(f"{V1}/grants/{grant['id']}")).json()["ended_by"] == "Ada"


async def test_verdicts_without_a_call(admin: httpx2.AsyncClient) -> None:
    assert (await made(admin, "/check/shell", {"command": "rm -rf /"}))["verdict"] == "deny"
    assert (await made(admin, "/check/shell", {"command": "ls -la"}))["verdict"] == "allow"
    assert (await made(admin, "/check/url", {"url": "http://169.254.169.254/"}))["verdict"] == "deny"
    assert (await made(admin, "/check/path", {"path": "../../etc/passwd"}))["verdict"] == "deny"
    assert (await made(admin, "/check/path", {"path": "a.txt", "op": "write"}))["verdict"] == "allow"


async def test_settings_setup_policy_and_status(admin: httpx2.AsyncClient) -> None:
    rows = {one["name"]: one["value"] for one in await got(admin, "/settings")}
    assert rows["TOOLCRIB_HOST"] == "127.0.0.1"
    assert {one["id"]: one["done"] for one in await got(admin, "/setup")}["agent"]
    assert (await got(admin, "/policy"))["floor"]
    assert isinstance(await got(admin, "/policy/lint"), list)
    status = await got(admin, "/status")
    assert (status["people"], status["trouble"]) == (1, [])


async def test_what_does_not_fit_is_a_problem_that_names_the_place_and_never_the_value(
    admin: httpx2.AsyncClient,
) -> None:
    told = await admin.put(f"{V1}/secrets/A", json={"value": 5, "nonsense": "hunter2hunter2"})
    body = is_problem(told, 422, "invalid_request")
    assert {one["where"] for one in body["problems"]} == {"body.value", "body.nonsense"}
    assert "hunter2" not in told.text
    broken = await admin.post(f"{V1}/agents", content=b"{", headers={"Content-Type": "application/json"})
    assert broken.status_code == 422
    is_problem(await admin.get(f"{V1}/nothing"), 404, "not_found")
    wrong = await admin.put(f"{V1}/calls", json={})
    is_problem(wrong, 405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"


async def test_a_body_that_is_too_long_is_not_read_to_the_end(admin: httpx2.AsyncClient) -> None:
    told = await admin.post(f"{V1}/scrub", content=b"x" * (3 << 20), headers={"Content-Type": "application/json"})
    is_problem(told, 413, "too_long")

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(300):
            yield b"x" * 10_000

    told = await admin.post(f"{V1}/scrub", content=pieces(), headers={"Content-Type": "application/json"})
    is_problem(told, 413, "too_long")


async def test_a_key_may_act_as_its_agents_only(keyed: Keyed) -> None:
    client = await keyed(agents=["scout"])
    is_problem(await client.post(f"{V1}/calls", json={"agent": "helper", "tool": "think"}), 403, "denied")
    assert (
        await client.post(f"{V1}/calls", json={"agent": "scout", "tool": "think", "arguments": {"thought": "x"}})
    ).status_code == 200
    narrow = await keyed(role=Role.VIEWER, scopes=["tools"])
    assert (await narrow.get(f"{V1}/tools")).status_code == 200
    is_problem(await narrow.get(f"{V1}/record"), 403, "scope_missing")
