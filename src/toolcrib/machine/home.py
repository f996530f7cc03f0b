"""The home folder: where it is, what its toolcrib.yaml says, and the folders in it."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.heavy import heavy
from toolcrib.services.config.reading import read_config
from toolcrib.services.config.values import Config
from toolcrib.services.settings import Settings, read_settings
from toolcrib.services.store import StoreError

CONFIG, DATABASE, RESULTS, COPIES = "toolcrib.yaml", "toolcrib.db", "results", "undo"
LOCK = "server.lock"
_OTHER_HOME = "Name another with --home."


def find(env: Mapping[str, str], overrides: Mapping[str, str | None]) -> tuple[Settings, Config]:
    """The settings in force and the configuration, both read; nothing is written."""
    first = read_settings(env, overrides, read_file=_read)
    home = Path(first.home).expanduser() if first.home else default_home()
    path = Path(first.config).expanduser() if first.config else home / CONFIG
    config = Config(source=str(path))
    if first.config or _is_there(home, path):
        config = read_config(_read(str(path)), source=str(path), env=env)
    server = config.server
    said = {
        "store": config.store,
        "workspace": config.workspace,
        "audit": config.audit,
        "host": server.host,
        "port": "" if server.port is None else str(server.port),
        "auth": server.auth,
        "url": server.url,
    }
    settings = read_settings(env, overrides, configured=said, read_file=_read)
    store = settings.store or f"sqlite:///{home / DATABASE}"
    workspace = settings.workspace or os.curdir
    if settings.workspace and settings.sources["workspace"] == CONFIG:
        workspace = _from(path, workspace)
    agents = {
        name: replace(rules, workspace=_from(path, rules.workspace)) if rules.workspace else rules
        for name, rules in config.agents.items()
    }
    settings = replace(settings, home=str(home), config=str(path), store=store, workspace=workspace)
    return settings, replace(config, agents=agents)


def _from(config: Path, folder: str) -> str:
    """A relative folder in a configuration is meant from its file, wherever the program was started."""
    return str(config.parent / Path(folder).expanduser())


def _is_there(home: Path, path: Path) -> bool:
    """Whether the home holds a configuration. A home that cannot be one is said, not taken for an empty one."""
    try:
        if home.exists() and not home.is_dir():
            raise StoreError(f"The home {home} is no folder.", hint="Name a folder with --home.")
        return path.exists()
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreError(f"The home folder {home} cannot be looked into: {why}.", hint=_OTHER_HOME) from None


def default_home() -> Path:
    """The platform's data folder."""
    return Path(heavy("platformdirs").user_data_dir("toolcrib"))


def make(home: str) -> None:
    """The home folder, readable for this user only."""
    try:
        Path(home).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreError(f"The home folder {home} cannot be made: {why}.", hint=_OTHER_HOME) from None


class Occupied(StoreError):
    """Another server works in this home."""

    code = "home_in_use"


class Occupation:
    """A home with a server in it. The lock ends with the process, however that ends."""

    def __init__(self, home: str) -> None:
        path = Path(home) / LOCK
        try:
            self._file = path.open("a+", encoding="utf-8")
        except OSError as error:
            why = error.strerror or str(error)
            raise StoreError(f"The home folder {home} cannot be written: {why}.", hint=_OTHER_HOME) from None
        try:
            heavy("fcntl").flock(self._file, heavy("fcntl").LOCK_EX | heavy("fcntl").LOCK_NB)
        except OSError:
            self._file.seek(0)
            who = self._file.read().strip()
            self._file.close()
            raise Occupied(
                f"A server works in the home {home} already{f' ({who})' if who else ''}.",
                hint="Open that one, stop it, or name another home with --home.",
            ) from None

    def says(self, text: str) -> None:
        """Write down who it is, for the one who comes next."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(text)
        self._file.flush()

    def end(self) -> None:
        """Leave."""
        self._file.seek(0)
        self._file.truncate()
        self._file.close()


def served_at(home: str) -> str:
    """The address of the server that works in a home; "" while there is none."""
    try:
        with (Path(home) / LOCK).open(encoding="utf-8") as file:
            try:
                heavy("fcntl").flock(file, heavy("fcntl").LOCK_SH | heavy("fcntl").LOCK_NB)
            except OSError:
                return file.read().rpartition(" ")[2].strip()
    except OSError:
        pass
    return ""


def results(home: str) -> Path:
    """Where long results are kept."""
    return Path(home) / RESULTS


def copies(home: str) -> Path:
    """Where the contents are kept that files had before calls changed them."""
    return Path(home) / COPIES


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        problem = Problem("", f"It cannot be read: {error.strerror or error}.", "Check the path.")
        raise BadConfig([problem], path) from None
    except UnicodeDecodeError:
        raise BadConfig([Problem("", "It is not UTF-8 text.", "Save it as UTF-8.")], path) from None
