"""The settings of the program itself, as a table.

Each may be given as TOOLCRIB_..., a secret one also as TOOLCRIB_..._FILE, the path of a file that holds it. Some may
stand in toolcrib.yaml as well.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.registry import near

PREFIX, FILE = "TOOLCRIB_", "_FILE"
SOURCE = "environment"
# Variables of the start script. They are not settings, and not mistakes either.
_SCRIPT = ("TOOLCRIB_VENV", "TOOLCRIB_PYTHON", "TOOLCRIB_SCRIPT")


class Setting(Struct, frozen=True, kw_only=True):
    """One setting, as a row of the table."""

    key: str
    words: str
    default: str = ""  # in force when nobody says anything
    shown: str = ""  # the default in words, where it is worked out
    choices: tuple[str, ...] = ()
    secret: bool = False
    in_config: bool = False  # toolcrib.yaml has it too

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return PREFIX + self.key.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting(key="home", words="The folder where everything is kept", shown="the platform's data folder"),
    Setting(key="config", words="The configuration file", shown="toolcrib.yaml in the home folder"),
    Setting(
        key="store",
        words="sqlite:///path or postgresql://...",
        shown="toolcrib.db in the home folder",
        secret=True,
        in_config=True,
    ),
    Setting(key="workspace", words="The folder that file tools work in", shown="the current folder", in_config=True),
    Setting(
        key="audit",
        words="strict: a call waits until its record is on the disk",
        default="grouped",
        choices=("grouped", "strict"),
        in_config=True,
    ),
    Setting(key="vault_key", words="The vault's key: 32 bytes in base64", shown="a key file", secret=True),
    Setting(key="vault_passphrase", words="A passphrase that the vault's key is made of", shown="none", secret=True),
    Setting(key="host", words="The address that `toolcrib up` listens on", default="127.0.0.1", in_config=True),
    Setting(key="port", words="Its port; 0 takes a free one", default="8765", in_config=True),
    Setting(
        key="auth",
        words="off: nobody signs in, which only loopback allows",
        default="on",
        choices=("on", "off"),
        in_config=True,
    ),
    Setting(
        key="url",
        words="How people reach the server, where that differs from where it listens",
        shown="where it listens",
        in_config=True,
    ),
    Setting(key="oidc_issuer", words="The sign-in provider's address, for OpenID Connect", shown="none"),
    Setting(key="oidc_client_id", words="What the provider calls this server", shown="none"),
    Setting(key="oidc_client_secret", words="The secret that it gave this server", shown="none", secret=True),
    Setting(
        key="oidc_role",
        words="The role of whoever comes from there for the first time",
        default="viewer",
        choices=("viewer", "operator", "admin"),
    ),
    Setting(
        key="log",
        words="How much is logged to standard error",
        default="warning",
        choices=("debug", "info", "warning", "error"),
    ),
    Setting(key="color", words="Colours in the terminal", default="auto", choices=("auto", "always", "never")),
)


class Row(Struct, frozen=True):
    """A setting as it is shown: a secret only says that it is set."""

    name: str
    value: str
    source: str
    words: str


class Settings(Struct, frozen=True, kw_only=True):
    """The settings in force. `sources` says for each where it comes from."""

    home: str
    config: str
    store: str
    workspace: str
    audit: str
    vault_key: str
    vault_passphrase: str
    host: str
    port: str
    auth: str
    url: str
    oidc_issuer: str
    oidc_client_id: str
    oidc_client_secret: str
    oidc_role: str
    log: str
    color: str
    sources: Mapping[str, str] = {}
    notes: tuple[Problem, ...] = ()

    def rows(self) -> list[Row]:
        """Every setting with its variable, its value, where that comes from, and what it is for."""
        return [self._row(setting) for setting in SETTINGS]

    def _row(self, setting: Setting) -> Row:
        value: str = getattr(self, setting.key)
        source = self.sources[setting.key]
        if setting.secret and value and source != "default":
            value = "(set)"
        choices = f" ({', '.join(setting.choices)})" if setting.choices else ""
        file = f"; or the path of a file that holds it in {setting.variable}{FILE}" if setting.secret else ""
        return Row(setting.variable, value or f"({setting.shown})", source, setting.words + choices + file)


def read_settings(
    env: Mapping[str, str],
    overrides: Mapping[str, str | None] | None = None,
    *,
    configured: Mapping[str, str] | None = None,
    read_file: Callable[[str], str] | None = None,
) -> Settings:
    """The settings: the command line first, then the environment, then toolcrib.yaml, then the defaults.

    `read_file` gives the text of a `..._FILE`. A value that is not allowed, and a file that cannot be read, are
    BadConfig; a TOOLCRIB_ variable that means nothing is a note.
    """
    reading = _Reading(env, read_file)
    values: dict[str, str] = {}
    sources: dict[str, str] = {}
    for setting in SETTINGS:
        said = (overrides or {}).get(setting.key)
        value, source = (said, "command line") if said is not None else reading.environment(setting)
        if value is None and setting.in_config and (value := (configured or {}).get(setting.key) or None):
            source = "toolcrib.yaml"
        if value is not None and setting.choices and value not in setting.choices:
            reading.refuse(source, setting, value)
        values[setting.key] = setting.default if value is None else value
        sources[setting.key] = "default" if value is None else source
    if reading.problems:
        raise BadConfig(reading.problems, SOURCE)
    return Settings(**values, sources=sources, notes=_unknown(env))


class _Reading:
    """What the environment says, and what is wrong with it."""

    def __init__(self, env: Mapping[str, str], read_file: Callable[[str], str] | None) -> None:
        self._env = env
        self._read_file = read_file
        self.problems: list[Problem] = []

    def environment(self, setting: Setting) -> tuple[str | None, str]:
        """The value and the variable that gave it. An empty variable is as good as none."""
        value = self._env.get(setting.variable) or None
        path = self._env.get(setting.variable + FILE) if setting.secret else None
        if not path:
            return value, setting.variable
        if value is not None:
            what = f"{setting.variable} is set too, and only one of them can hold."
            self.problems.append(Problem(setting.variable + FILE, what, "Unset one of them."))
            return value, setting.variable
        return self._from_file(setting.variable + FILE, path), setting.variable + FILE

    def _from_file(self, variable: str, path: str) -> str | None:
        if self._read_file is None:
            self.problems.append(Problem(variable, "Files cannot be read here."))
            return None
        try:
            text = self._read_file(path).strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not text"
            self.problems.append(Problem(variable, f"{path} cannot be read: {why}."))
            return None
        if not text:
            self.problems.append(Problem(variable, f"{path} is empty."))
        return text or None

    def refuse(self, where: str, setting: Setting, value: str) -> None:
        """Note a value that the setting cannot have."""
        place = where if where.startswith(PREFIX) else f"{where}, {setting.key}"
        what = f"This must be {' or '.join(setting.choices)}, and it is {value!r}."
        close = near(value, setting.choices, 1)
        self.problems.append(Problem(place, what, f"Did you mean {close[0]}?" if close else ""))


def _unknown(env: Mapping[str, str]) -> tuple[Problem, ...]:
    """Variables that look like settings and are none: a typing mistake would otherwise pass in silence."""
    known = {setting.variable for setting in SETTINGS} | {s.variable + FILE for s in SETTINGS if s.secret}
    found: list[Problem] = []
    for name in sorted(env):
        if name.upper().startswith(PREFIX) and name not in known and name not in _SCRIPT:
            close = near(name, known, 1)
            mend = f"Did you mean {close[0]}?" if close else "`toolcrib config env` lists them."
            found.append(Problem(name, "This variable is no setting of Toolcrib.", mend))
    return tuple(found)
