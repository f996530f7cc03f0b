"""Who gets in: every route says who may use it, and nobody else comes through."""

import re
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx2
import pytest
from starlette.routing import BaseRoute, Mount, Route

from tests.faces.conftest import PASSWORD, Clients
from toolcrib.app.house import House
from toolcrib.faces.serving.composition import Composition
from toolcrib.faces.serving.hosts import Hosts, same_origin
from toolcrib.services.people.principal import Role, allowed

V1 = "/api/v1"
OPEN = re.compile(r"/healthz|/readyz|/metrics|/api/v1/(session|setup|join)|/login.*|/signout|/start/.*|/join/.*|/logout|/static.*"
                  r"|/oidc/.*|/assets.*|/favicon.*|/\.well-known/.*|/mcp.*")  # fmt: skip
Keyed = Callable[..., Awaitable[httpx2.AsyncClient]]


def every(routes: Any) -> Iterator[BaseRoute]:
    yield from routes


def routes_of(house: House) -> list[BaseRoute]:
    return [route for part in Composition(house).door.parts for route in part.routes]


@pytest.mark.meets("auth:route:closed")
async def test_every_route_says_who_may_and_only_a_few_let_everybody_in(house: House) -> None:
    silent, free = [], []
    for route in routes_of(house):
        said = allowed(route.app if isinstance(route, Mount) else getattr(route, "endpoint", None))
        path = str(getattr(route, "path", ""))
        if said is None:
            silent.append(path)
        elif said.role is None and not OPEN.fullmatch(path):
            free.append(path)
    assert (silent, free) == ([], [])


@pytest.mark.meets("auth:route:closed")
async def test_nothing_but_health_and_the_sign_in_answers_without_a_session(house: House, clients: Clients) -> None:
    client = clients()
    answered = []
    for route in routes_of(house):
        if not isinstance(route, Route):
            continue
        path = re.sub(r"\{[^}]*\}", "x", route.path)
        for method in route.methods or ():
            told = await client.request(method, path)
            if told.status_code not in {401, 403, 404, 303} and not OPEN.fullmatch(path):
                answered.append((method, path, told.status_code))
    assert answered == []


async def test_a_wrong_key_an_ended_key_and_a_revoked_key_open_nothing(
    house: House, clients: Clients, keyed: Keyed, admin: httpx2.AsyncClient
) -> None:
    for word in ("Bearer tcb_x_y", "Bearer ", "Basic eDp5", "Bearer tcb__"):
        assert (await clients(headers={"Authorization": word}).get(f"{V1}/agents")).status_code == 401
    client = await keyed()
    assert (await client.get(f"{V1}/agents")).status_code == 200
    (key,) = (await admin.get(f"{V1}/keys")).json()["items"]
    assert "secret" not in key
    await admin.delete(f"{V1}/keys/{key['id']}")
    assert (await client.get(f"{V1}/agents")).status_code == 401


async def test_a_key_never_does_more_than_its_owner(house: House, keyed: Keyed, admin: httpx2.AsyncClient) -> None:
    client = await keyed(role=Role.ADMIN)
    other = await house.people.signin.join(
        (await house.people.invitations.make(by="Ada", role=Role.ADMIN)).secret, "Grace", PASSWORD
    )
    assert (await client.get(f"{V1}/invitations")).status_code == 200
    me = (await admin.get(f"{V1}/session")).json()["id"]
    await house.people.persons.change(me, role=Role.VIEWER)
    assert (await client.get(f"{V1}/invitations")).status_code == 403
    assert other.person.role is Role.ADMIN


@pytest.mark.meets("auth:csrf:checked")
async def test_what_changes_something_needs_the_token_of_the_visit(admin: httpx2.AsyncClient) -> None:
    token = admin.headers.pop("X-CSRF-Token")
    body = {"name": "robin"}
    told = await admin.post(f"{V1}/agents", json=body)
    assert (told.status_code, told.json()["code"]) == (403, "bad_csrf")
    told = await admin.post(f"{V1}/agents", json=body, headers={"X-CSRF-Token": "wrong"})
    assert told.status_code == 403
    told = await admin.post(f"{V1}/agents", json=body, headers={"X-CSRF-Token": token})
    assert told.status_code == 201


async def test_a_page_of_another_site_changes_nothing(admin: httpx2.AsyncClient, clients: Clients) -> None:
    for header in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        told = await admin.post(f"{V1}/agents", json={"name": "robin"}, headers=header)
        assert (told.status_code, told.json()["code"]) == (403, "foreign_origin")
        told = await clients().post(f"{V1}/session", json={"name": "Ada", "password": PASSWORD}, headers=header)
        assert told.status_code == 403
    own = await admin.post(f"{V1}/agents", json={"name": "robin"}, headers={"Origin": "http://127.0.0.1:8765"})
    assert own.status_code == 201


async def test_only_names_of_this_server_are_answered(clients: Clients) -> None:
    client = clients()
    told = await client.get("/readyz", headers={"Host": "evil.example"})
    assert (told.status_code, told.json()["code"]) == (421, "unknown_host")
    for host in ("localhost:8765", "127.0.0.1", "[::1]:8765", "10.0.0.7"):
        assert (await client.get("/readyz", headers={"Host": host})).status_code == 200


def test_names_of_hosts_and_origins() -> None:
    hosts = Hosts(["crib.lan"], "https://Crib.example.org/x", "myhost")
    assert all(map(hosts.knows, ("crib.lan:80", "CRIB.example.org", "myhost", "a.localhost")))
    assert not any(map(hosts.knows, ("", "crib.lan.evil.example", "evil", "[::", "a@evil")))
    assert same_origin("https://crib.lan", "crib.lan")
    assert same_origin("http://crib.lan:8765", "crib.lan:8765")
    assert not same_origin("http://crib.lan:8765", "crib.lan:8766")
    assert not same_origin("http://evil", "crib.lan")


async def test_a_closed_account_is_out_at_once(house: House, admin: httpx2.AsyncClient, clients: Clients) -> None:
    invited = (await admin.post(f"{V1}/invitations", json={"role": "operator"})).json()
    grace = clients()
    told = await grace.post(f"{V1}/join", json={"token": invited["token"], "name": "Grace", "password": PASSWORD})
    assert (told.status_code, told.json()["role"]) == (201, "operator")
    again = await clients().post(f"{V1}/join", json={"token": invited["token"], "name": "Eve", "password": PASSWORD})
    assert again.json()["code"] == "bad_invitation"
    person = told.json()["id"]
    closed = await admin.patch(f"{V1}/people/{person}", json={"closed": True}, headers={"If-Match": "*"})
    assert closed.status_code == 200, closed.text
    assert (await grace.get(f"{V1}/agents")).status_code == 401
    told = await clients().post(f"{V1}/session", json={"name": "Grace", "password": PASSWORD})
    assert told.status_code == 401


async def test_the_last_admin_stays_one(admin: httpx2.AsyncClient) -> None:
    me = (await admin.get(f"{V1}/session")).json()["id"]
    told = await admin.patch(f"{V1}/people/{me}", json={"role": "viewer"}, headers={"If-Match": "*"})
    assert (told.status_code, told.json()["code"]) == (409, "last_admin")


async def test_signing_out_ends_the_visit_and_another_password_ends_all(
    admin: httpx2.AsyncClient, clients: Clients
) -> None:
    visit = clients()
    told = await visit.post(f"{V1}/session", json={"name": "ada", "password": PASSWORD})
    cookie = told.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=lax", "Path=/"))
    other = clients()
    await other.post(f"{V1}/session", json={"name": "Ada", "password": PASSWORD})
    out = await visit.delete(f"{V1}/session", headers={"X-CSRF-Token": told.json()["csrf"]})
    assert out.status_code == 204
    assert (await visit.get(f"{V1}/session")).status_code == 401
    assert (await other.get(f"{V1}/session")).status_code == 200
    me = told.json()["id"]
    wrong = await admin.put(f"{V1}/people/{me}/password", json={"password": "another good one", "old": "no"})
    assert wrong.status_code == 401
    done = await admin.put(f"{V1}/people/{me}/password", json={"password": "another good one", "old": PASSWORD})
    assert done.status_code == 204
    assert (await other.get(f"{V1}/session")).status_code == 401


async def test_the_first_run_link_works_once(house: House, clients: Clients, admin: httpx2.AsyncClient) -> None:
    told = await clients().post(f"{V1}/setup", json={"token": "x", "name": "Eve", "password": PASSWORD})
    assert told.json()["code"] == "bad_first_run"
    token = house.people.signin.first_run()
    told = await clients().post(f"{V1}/setup", json={"token": token, "name": "Eve", "password": PASSWORD})
    assert (told.status_code, told.json()["code"]) == (409, "already_set_up")


async def test_guessing_is_slowed_down_and_the_person_still_comes_in(
    house: House, clients: Clients, admin: httpx2.AsyncClient
) -> None:
    client = clients()
    codes = [
        (await client.post(f"{V1}/session", json={"name": "Ada", "password": f"wrong {i}"})).status_code
        for i in range(8)
    ]
    assert codes[:5] == [401] * 5
    assert 429 in codes
    told = await client.post(f"{V1}/session", json={"name": "Ada", "password": "x"})
    assert int(told.headers["retry-after"]) >= 1
    made = await house.people.signin.enter("Ada", PASSWORD, address="10.9.8.7")
    assert made.person.name == "Ada"


async def test_an_unknown_name_takes_as_long_as_a_wrong_password(house: House, admin: httpx2.AsyncClient) -> None:
    signin = house.people.signin
    spent: dict[str, list[float]] = {"Ada": [], "nobody": []}
    for i in range(4):
        for name, seconds in spent.items():
            began = time.process_time()
            with pytest.raises(Exception, match="wrong"):
                await signin.enter(name, f"wrong {i}", address=f"10.0.0.{i}")
            seconds.append(time.process_time() - began)
    assert min(spent["nobody"]) > min(spent["Ada"]) / 3


async def test_cookies_by_https_are_bound_to_the_host(home: Any, workspace: Any) -> None:
    from toolcrib.app.house import open_house

    async with await open_house(home=str(home), workspace=str(workspace), url="https://crib.example", env={}) as house:
        composition = Composition(house)
        token = house.people.signin.first_run()
        transport = httpx2.ASGITransport(app=composition.app)
        async with httpx2.AsyncClient(transport=transport, base_url="https://crib.example") as client:
            told = await client.post(f"{V1}/setup", json={"token": token, "name": "Ada", "password": PASSWORD})
            assert told.headers["set-cookie"].startswith("__Host-toolcrib=")
            assert "Secure" in told.headers["set-cookie"]
            assert (await client.get(f"{V1}/session")).json()["name"] == "Ada"


async def test_with_sign_in_off_whoever_reaches_the_port_may_do_all_but_no_other_site(
    home: Any, workspace: Any
) -> None:
    from toolcrib.app.house import open_house

    async with await open_house(home=str(home), workspace=str(workspace), auth="off", env={}) as house:
        transport = httpx2.ASGITransport(app=Composition(house).app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
            assert (await client.post(f"{V1}/agents", json={"name": "robin"})).status_code == 201
            told = await client.post(f"{V1}/agents", json={"name": "r2"}, headers={"Origin": "http://evil.example"})
            assert told.status_code == 403


@pytest.mark.meets("auth:roles:three")
async def test_each_role_may_do_what_it_says_and_no_more(
    house: House, admin: httpx2.AsyncClient, clients: Clients
) -> None:
    who: dict[str, httpx2.AsyncClient] = {"admin": admin}
    for role in (Role.VIEWER, Role.OPERATOR):
        invited = (await admin.post(f"{V1}/invitations", json={"role": role.value})).json()
        client = clients()
        body = {"token": invited["token"], "name": f"the {role.value}", "password": PASSWORD}
        client.headers["X-CSRF-Token"] = (await client.post(f"{V1}/join", json=body)).json()["csrf"]
        who[role.value] = client
    asked = {
        ("GET", "/agents"): {"viewer", "operator", "admin"},
        ("GET", "/secrets"): {"viewer", "operator", "admin"},
        ("POST", "/toolboxes"): {"operator", "admin"},
        ("POST", "/calls"): {"operator", "admin"},
        ("POST", "/secrets/x/reveal"): {"admin"},
        ("GET", "/invitations"): {"admin"},
    }
    for (method, path), may in asked.items():
        for role, client in who.items():
            told = await client.request(method, f"{V1}{path}")
            assert (told.status_code != 403) == (role in may), (method, path, role, told.text)
