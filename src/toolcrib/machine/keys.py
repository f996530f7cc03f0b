"""Where the vault's master key is: a file of its own, the environment, the system's keyring, or a passphrase.

A key file is 32 bytes, for its owner only, in a folder for its owner only. Anything wider is refused, not mended: who
could read it has read it.
"""

import os
import stat
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolcrib.core.heavy import heavy
from toolcrib.safety.envelope import KEY, passphrase_key
from toolcrib.services.vault.faults import KeyUnsafe, KeyWrong, VaultError

_FOLLOW_NOTHING = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = _FOLLOW_NOTHING | getattr(os, "O_DIRECTORY", 0)
_OTHERS = 0o077
_SERVICE = "toolcrib vault"


class FileKey:
    """A key in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def where(self) -> str:
        return f"the key file {self._path}"

    async def get(self, vault: str) -> bytes | None:
        del vault
        return await heavy("asyncio").to_thread(self._read)

    async def make(self, vault: str) -> bytes:
        del vault
        return await heavy("asyncio").to_thread(self._made)

    def _made(self) -> bytes:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self._unsafe(f"its folder cannot be made: {error.strerror}") from None
        found = self._read()
        if found is None:
            self._write()
            found = self._read()
        if found is None:
            raise self._unsafe("it was made, and is gone again")
        return found

    def _write(self) -> None:
        """Whole or not at all, and never over another: a draft beside it gets its name."""
        folder = self._folder()
        draft = f".{self._path.name}.{os.getpid()}.{os.urandom(4).hex()}"
        try:
            made = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _FOLLOW_NOTHING, 0o600, dir_fd=folder)
            with os.fdopen(made, "wb") as file:
                file.write(os.urandom(KEY))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was quicker: its key is the one
                os.link(draft, self._path.name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        except OSError as error:
            raise self._unsafe(f"it cannot be written: {error.strerror}") from None
        finally:
            with suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            os.close(folder)

    def _read(self) -> bytes | None:
        try:
            folder = self._folder()
        except FileNotFoundError:
            return None
        try:
            opened = os.open(self._path.name, os.O_RDONLY | os.O_NONBLOCK | _FOLLOW_NOTHING, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unsafe(self._why(error, folder)) from None
        finally:
            os.close(folder)
        try:
            self._check(os.fstat(opened), "it", stat.S_ISREG, "chmod 600")
            key = os.read(opened, KEY + 1)
        finally:
            os.close(opened)
        if len(key) != KEY:
            raise KeyWrong(
                f"The vault's key was not used ({self.where}): it is not {KEY} bytes long.",
                hint="Put the right file back, from your copy.",
            )
        return key

    def _folder(self) -> int:
        try:
            folder = os.open(self._path.parent, os.O_RDONLY | _FOLDER)
        except FileNotFoundError:
            raise
        except OSError:
            raise self._unsafe("its folder is a link, is no folder, or cannot be opened") from None
        try:
            self._check(os.fstat(folder), "its folder", stat.S_ISDIR, "chmod 700")
        except KeyUnsafe:
            os.close(folder)
            raise
        return folder

    def _why(self, error: OSError, folder: int) -> str:
        with suppress(OSError):
            if stat.S_ISLNK(os.stat(self._path.name, dir_fd=folder, follow_symlinks=False).st_mode):
                return "it is a link, and who can change the link can change the key"
        return f"it cannot be opened: {error.strerror}"

    def _check(self, found: os.stat_result, what: str, kind: Callable[[int], bool], mend: str) -> None:
        if not kind(found.st_mode):
            raise self._unsafe(f"{what} is of another kind")
        if os.name != "posix":
            return
        if found.st_uid != os.geteuid():
            raise self._unsafe(f"{what} belongs to another user")
        if found.st_mode & _OTHERS:
            mode = stat.S_IMODE(found.st_mode)
            raise self._unsafe(f"{what} is open to others (mode {mode:04o})", f"Close it to them ({mend}), and ")

    def _unsafe(self, why: str, mend: str = "") -> KeyUnsafe:
        hint = "if others may have read it, make new secrets." if mend else "Put the key where only you can reach it."
        return KeyUnsafe(f"The vault's key was not used ({self.where}): {why}.", hint=mend + hint)


class GivenKey:
    """A key as text, from the environment or a file that it names: 32 bytes in base64 or hexadecimal."""

    def __init__(self, text: str, where: str = "TOOLCRIB_VAULT_KEY") -> None:
        self._text = text.strip()
        self.where = where

    async def get(self, vault: str) -> bytes | None:
        del vault
        key = _decoded(self._text)
        if key is None:
            raise KeyWrong(
                f"The vault's key was not used ({self.where}): it is not {KEY} bytes in base64 or hexadecimal.",
                hint="Make one: head -c 32 /dev/urandom | base64",
            )
        return key

    async def make(self, vault: str) -> bytes:
        return await self.get(vault) or b""


class PassphraseKey:
    """A key out of a passphrase. Each vault makes another key of it."""

    where = "the passphrase"

    def __init__(self, passphrase: str) -> None:
        self._passphrase = passphrase

    async def get(self, vault: str) -> bytes | None:
        return await heavy("asyncio").to_thread(passphrase_key, self._passphrase, bytes.fromhex(vault))

    async def make(self, vault: str) -> bytes:
        return await self.get(vault) or b""


class KeyringKey:
    """A key in the keyring of the system, where it has one."""

    where = "the system's keyring"

    async def get(self, vault: str) -> bytes | None:
        return await heavy("asyncio").to_thread(self._read, vault)

    async def make(self, vault: str) -> bytes:
        return await heavy("asyncio").to_thread(self._made, vault)

    def _read(self, vault: str) -> bytes | None:
        keyring = _keyring()
        try:
            found = keyring.get_password(_SERVICE, vault)
        except keyring.errors.KeyringError:
            raise _no_keyring() from None
        return None if found is None else _decoded(found)

    def _made(self, vault: str) -> bytes:
        keyring = _keyring()
        made = os.urandom(KEY)
        try:
            keyring.set_password(_SERVICE, vault, b64encode(made).decode())
        except keyring.errors.KeyringError:
            raise _no_keyring() from None
        return made


class ProcessKey:
    """A key that ends with this process, for a vault that does too."""

    where = "this process"

    def __init__(self) -> None:
        self._key = os.urandom(KEY)

    async def get(self, vault: str) -> bytes | None:
        del vault
        return self._key

    async def make(self, vault: str) -> bytes:
        del vault
        return self._key


class NoKey:
    """No key, for a crib that was given a store and no key."""

    where = "no key was given"

    async def get(self, vault: str) -> bytes | None:
        del vault

    async def make(self, vault: str) -> bytes:
        del vault
        raise VaultError("There is no vault here: this crib was given no key for it.", hint="Give it a `vault_key`.")


def _decoded(text: str) -> bytes | None:
    with suppress(ValueError):
        if len(key := bytes.fromhex(text)) == KEY:
            return key
    with suppress(NotBase64, ValueError):
        if (
            len(key := b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True))
            == KEY
        ):
            return key
    return None


def _keyring() -> Any:  # noqa: ANN401 - a module
    try:
        keyring = heavy("keyring", "keyring")
    except ModuleNotFoundError as error:
        raise VaultError(f"The vault's key cannot be read: {error}.") from None
    heavy("keyring.errors")
    return keyring


def _no_keyring() -> VaultError:
    return VaultError(
        "The vault's key cannot be reached: this system has no keyring, or it is locked.",
        hint="Unlock it, or keep the key in a file: vault: {key: file}.",
    )
