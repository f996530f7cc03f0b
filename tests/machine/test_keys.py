"""The vault's key file: made once, whole, for its owner only; anything else is refused and left as it is."""

import asyncio
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from toolcrib.core.errors import ToolError
from toolcrib.machine.keys import FileKey, KeyringKey

ROOT = os.geteuid() == 0 if hasattr(os, "geteuid") else False


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the key is to be."""
    return tmp_path / "vault" / "key"


async def refused(code: str, path: Path) -> str:
    told = ""
    for doing in (FileKey(path).get("aa"), FileKey(path).make("aa")):
        with pytest.raises(ToolError) as caught:
            await doing
        assert caught.value.code == code, caught.value
        told = f"{caught.value.message} {caught.value.hint}"
    return told


@pytest.mark.meets("vault:key:modes")
async def test_a_key_is_made_for_its_owner_only_and_stays(path: Path) -> None:
    key = FileKey(path)
    assert await key.get("aa") is None
    made = await key.make("aa")
    assert len(made) == 32
    assert await key.make("aa") == await FileKey(path).get("bb") == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["key"]


@pytest.mark.meets("vault:key:modes")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o666, 0o604, 0o777])
async def test_a_key_file_that_others_can_reach_is_refused(path: Path, mode: int) -> None:
    made = await FileKey(path).make("aa")
    path.chmod(mode)
    told = await refused("vault_key_unsafe", path)
    assert f"mode {mode:04o}" in told
    assert "chmod 600" in told
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (mode, made)


@pytest.mark.meets("vault:key:modes")
@pytest.mark.parametrize("mode", [0o777, 0o755, 0o770, 0o701])
async def test_a_key_in_an_open_folder_is_refused(path: Path, mode: int) -> None:
    await FileKey(path).make("aa")
    path.parent.chmod(mode)
    assert "its folder is open to others" in await refused("vault_key_unsafe", path)
    assert path.exists()


async def test_no_key_is_made_in_an_open_folder(path: Path) -> None:
    path.parent.mkdir(mode=0o777)
    path.parent.chmod(0o777)
    await refused("vault_key_unsafe", path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.meets("vault:key:modes")
async def test_a_link_in_place_of_the_key_or_its_folder_is_refused(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "key"
    await FileKey(elsewhere).make("aa")
    path.parent.mkdir(mode=0o700)
    path.symlink_to(elsewhere)
    assert "it is a link" in await refused("vault_key_unsafe", path)
    path.unlink()
    path.symlink_to(tmp_path / "nowhere" / "key")
    await refused("vault_key_unsafe", path)
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(elsewhere.parent, target_is_directory=True)
    assert "its folder is a link" in await refused("vault_key_unsafe", path)


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
@pytest.mark.meets("vault:key:modes")
async def test_a_key_of_another_user_is_refused(path: Path) -> None:
    await FileKey(path).make("aa")
    os.chown(path, 65534, -1)
    assert "it belongs to another user" in await refused("vault_key_unsafe", path)
    os.chown(path.parent, 65534, -1)
    assert "its folder belongs to another user" in await refused("vault_key_unsafe", path)


@pytest.mark.parametrize("size", [0, 31, 33, 1_000_000])
async def test_a_key_of_another_length_is_refused(path: Path, size: int) -> None:
    path.parent.mkdir(mode=0o700)
    path.touch(mode=0o600)
    path.write_bytes(bytes(size))
    assert "not 32 bytes" in await refused("vault_key_wrong", path)
    assert path.stat().st_size == size


async def test_what_is_no_file_is_refused_and_not_waited_for(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    os.mkfifo(path, 0o600)
    await refused("vault_key_unsafe", path)
    path.unlink()
    path.mkdir(mode=0o700)
    await refused("vault_key_unsafe", path)


async def test_many_who_make_the_key_at_once_get_the_same(path: Path) -> None:
    made = await asyncio.gather(*(FileKey(path).make("aa") for _ in range(16)))
    assert len(set(made)) == 1
    assert [entry.name for entry in path.parent.iterdir()] == ["key"]


class Errors:
    """What a keyring raises."""

    __spec__ = None

    class KeyringError(Exception):
        """It cannot be used."""


class Locked:
    """A keyring that cannot be opened."""

    __spec__ = None
    errors = Errors

    def get_password(self, service: str, name: str) -> str:
        raise self.errors.KeyringError(f"{service} {name}")

    set_password = get_password


async def test_a_system_without_a_keyring_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    locked: Any = Locked()
    monkeypatch.setitem(sys.modules, "keyring", locked)
    monkeypatch.setitem(sys.modules, "keyring.errors", locked.errors)
    with pytest.raises(ToolError, match="no keyring, or it is locked"):
        await KeyringKey().get("aa")


async def test_without_the_package_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ToolError, match=r"toolcrib\[keyring\]"):
        await KeyringKey().get("aa")
