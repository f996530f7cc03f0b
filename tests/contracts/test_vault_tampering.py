"""What somebody can do who can write to the store and has no key: nothing that goes unseen."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contracts.conftest import Place as Store
from tests.contracts.vaults import KEY, Vault
from tests.examples import count
from toolcrib.core.errors import ToolError
from toolcrib.safety.envelope import EnvelopeCrypto
from toolcrib.services.vault.faults import VaultChanged
from toolcrib.services.vault.secrets import Wanted
from toolcrib.services.vault.values import Facts, Head, Place, Row, bound, read_facts

PLACE = Place("", "secret", "DB")


async def is_refused(doing: Any, value: str = "the-password") -> None:
    with pytest.raises(ToolError) as caught:
        await doing
    assert caught.value.code == "vault_changed"
    assert value not in str(caught.value)


def dump(store: Store) -> list[tuple[Any, ...]]:
    return store.ask("SELECT team, kind, name, facts, term, seal, body FROM tc_vault ORDER BY name")


@pytest.fixture
def sealed() -> tuple[Any, Row]:
    """Keys, and a row under them."""
    root, name, keys = EnvelopeCrypto().create(bytes(32), "aa")
    assert root
    assert name
    keys.take_term(1, keys.new_term(1))
    facts = Facts(place=PLACE, version=3, about="for mail", tools=("a",), hosts=("b.org",), by="anna", changed=1.5e9)
    return keys, keys.seal(facts, 1, b"the-password")


@pytest.mark.meets("vault:envelope:bound")
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_changed_bit_of_a_row_is_refused(sealed: tuple[Any, Row], data: st.DataObject) -> None:
    keys, row = sealed
    parts = {"facts": bound(row.facts).decode(), "seal": row.seal, "body": row.body}
    which = data.draw(st.sampled_from(sorted(parts)))
    raw = bytearray(parts[which].encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    parts[which] = raw.decode("latin-1")
    changed = Row(facts=read_facts(PLACE, parts["facts"]), term=1, seal=parts["seal"], body=parts["body"])
    count()
    with pytest.raises(VaultChanged):
        keys.open(changed)
    if which == "seal":
        with pytest.raises(VaultChanged):
            keys.rewrap(changed, 1)


def test_a_record_has_the_form_that_is_promised(sealed: tuple[Any, Row]) -> None:
    keys, row = sealed
    form, term, nonce, wrapped, ciphertext = row.record.split(".")
    assert (form, term, len(nonce), len(wrapped)) == ("v1", "1", 16, 80)
    assert ciphertext == row.body
    assert keys.open(row) == b"the-password"
    assert keys.seal(row.facts, 1, b"the-password").record != row.record  # a key and nonces of its own each time


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE tc_vault SET name = 'DC' WHERE name = 'DB'",
        "UPDATE tc_vault SET team = 'red' WHERE name = 'DB'",
        "UPDATE tc_vault SET kind = 'entry' WHERE name = 'DB'",
        "UPDATE tc_vault SET facts = replace(facts, 'true', 'false') WHERE name = 'DB'",
        "UPDATE tc_vault SET facts = replace(facts, 'only.org', 'evil.org') WHERE name = 'DB'",
        "UPDATE tc_vault SET facts = replace(facts, ',', ', ') WHERE name = 'DB'",
        "UPDATE tc_vault SET facts = '' WHERE name = 'DB'",
        "UPDATE tc_vault SET seal = '' WHERE name = 'DB'",
        "UPDATE tc_vault SET body = '' WHERE name = 'DB'",
        "UPDATE tc_vault SET term = 2 WHERE name = 'DB'",
        "UPDATE tc_vault SET seal = (SELECT v.seal FROM tc_vault v WHERE v.name = 'OTHER') WHERE name = 'DB'",
        "UPDATE tc_vault SET body = (SELECT v.body FROM tc_vault v WHERE v.name = 'OTHER') WHERE name = 'DB'",
        "UPDATE tc_vault SET facts = (SELECT v.facts FROM tc_vault v WHERE v.name = 'OTHER') WHERE name = 'DB'",
        "DELETE FROM tc_vault WHERE name = 'DB'",
        "DELETE FROM tc_vault_head",
        "UPDATE tc_vault_head SET total = replace(total, '1', '2'), mac = replace(mac, '1', '2')",
        "UPDATE tc_vault_head SET generation = 0",
        "UPDATE tc_vault_head SET vault = '00000000000000000000000000000000'",
    ],
)
@pytest.mark.meets("vault:envelope:bound")
async def test_a_changed_row_is_refused_by_who_knew_it(place: Store, change: str) -> None:
    vault = Vault(place.open())
    await vault.put("DB", "the-password")
    await vault.secrets.update("DB", _only("only.org"))
    await vault.put("OTHER", "another-password")
    place.execute(change)
    if "SET total" not in change and "SET vault" not in change:  # one that has the vault in hand has seen it whole
        await is_refused(vault.value("DB"))
    if "SET vault" not in change and change != "DELETE FROM tc_vault_head":  # then it is another one, or none
        await is_refused(Vault(place.open()).value("DB"))


@pytest.mark.meets("vault:envelope:bound")
async def test_an_old_version_put_back_is_refused_here_and_after_a_restart(place: Store) -> None:
    vault = Vault(place.open())
    await vault.put("OTHER", "another-password")
    await vault.put("DB", "old-password")
    old = dump(place)[0]
    await vault.put("DB", "new-password")
    place.execute(
        "UPDATE tc_vault SET facts = :facts, seal = :seal, body = :body WHERE name = 'DB'",
        facts=old[3],
        seal=old[5],
        body=old[6],
    )
    await is_refused(vault.value("DB"), "old-password")
    fresh = Vault(place.open())
    await is_refused(fresh.value("DB"), "old-password")
    assert "old-password" not in fresh.learned.values()


async def test_a_deleted_secret_put_back_is_refused(place: Store) -> None:
    vault = Vault(place.open())
    await vault.put("DB", "the-password")
    (row,) = dump(place)
    await vault.secrets.delete("DB")
    names = ("team", "kind", "name", "facts", "term", "seal", "body")
    place.execute(
        f"INSERT INTO tc_vault ({', '.join(names)}) VALUES ({', '.join(':' + name for name in names)})",
        **dict(zip(names, row, strict=True)),
    )
    await is_refused(vault.value("DB"))
    await is_refused(Vault(place.open()).value("DB"))


async def test_the_term_of_another_vault_is_refused(place: Store) -> None:
    vault = Vault(place.open())
    await vault.put("DB", "the-password")
    place.execute("UPDATE tc_vault_terms SET wrapped = replace(wrapped, substr(wrapped, 30, 1), 'A') || ''")
    place.execute("UPDATE tc_vault_terms SET wrapped = substr(wrapped, 1, 40) || 'AAAA' || substr(wrapped, 45, 60)")
    await is_refused(Vault(place.open()).value("DB"))
    assert await vault.value("DB") == "the-password"  # who has the key of the term in hand goes on


async def test_a_root_that_was_changed_is_refused(place: Store) -> None:
    await Vault(place.open()).put("DB", "the-password")
    place.execute("UPDATE tc_vault_head SET root = substr(root, 1, 40) || 'AAAA' || substr(root, 45, 60)")
    await is_refused(Vault(place.open()).value("DB"))


async def test_a_person_can_look_and_go_on_with_what_is_left(place: Store) -> None:
    vault = Vault(place.open())
    for name in ("A", "B", "C"):
        await vault.put(name, f"password-{name}")
    place.execute("DELETE FROM tc_vault WHERE name = 'B'")
    place.execute("UPDATE tc_vault SET body = 'AAAA' || substr(body, 5, 100) WHERE name = 'C'")
    looked = await Vault(place.open()).book.verify()
    assert (looked.ok, looked.whole, looked.rows, looked.broken) == (False, False, 2, ("C",))
    fresh = Vault(place.open())
    accepted = await fresh.book.verify(accept=True)
    assert (accepted.whole, accepted.broken) == (True, ("C",))
    assert await fresh.value("A") == await vault.value("A") == "password-A"
    await is_refused(fresh.value("C"))
    await fresh.put("C", "password-new")
    assert (await Vault(place.open()).book.verify()).ok


async def test_nothing_in_the_store_shows_a_value_or_a_key(place: Store) -> None:
    vault = Vault(place.open())
    await vault.put("DB", "the-password")
    every = repr(dump(place)) + repr(place.ask("SELECT * FROM tc_vault_terms"))
    every += repr(place.ask("SELECT * FROM tc_vault_head"))
    assert "the-password" not in every
    assert "dGhlLXBhc3N3b3Jk" not in every
    assert KEY not in every


def test_another_master_key_is_told_from_a_changed_head() -> None:
    root, name, _ = EnvelopeCrypto().create(bytes(32), "aa")
    head = Head(vault="aa", root=root, key=name)
    assert EnvelopeCrypto().unlock(bytes(31) + b"x", head) is None
    assert EnvelopeCrypto().unlock(bytes(32), head) is not None
    with pytest.raises(VaultChanged):
        EnvelopeCrypto().unlock(bytes(32), Head(vault="aa", root=root[:-4] + "AAAA", key=name))


def _only(host: str) -> Any:
    return Wanted(hosts=(host,))
