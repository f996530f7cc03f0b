"""What a path means before any disk is asked: a system tree, a start-up file, a credential, a device, the workspace."""

import posixpath
import re

from toolcrib.safety.shell.marks import LOOSE, UNKNOWN, as_expression, globbed, plain, vague
from toolcrib.safety.shell.names import names

TEMP = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - names that commands use
_SYSTEM = frozenset(
    names(
        "etc usr bin sbin lib lib32 lib64 libx32 boot sys proc dev var root opt srv run System Library",
        "Applications private cores snap selinux",
    )
)
_TOPS = _SYSTEM | {"home", "Users", "mnt", "media", "Volumes", "workspace", "data"}
_NEVER_GONE = frozenset(
    ["etc", "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "boot", "sys", "proc", "dev", "System"]
)
_DISK = re.compile(
    r"/dev/(?:[shvx]v?d[a-z]+\d*|nvme\d+.*|mmcblk\d+.*|disk\d.*|rdisk\d.*|mapper/.*|md\d+.*|dm-\d+|loop\d+|"
    r"mem|kmem|port|ram\d+|sr\d+|vg\w*/.*|disk/.*|[shv]d\*.*|[sh]d\?.*)"
)
_HARMLESS_DEVICE = re.compile(r"/dev/(?:null|zero|full|stdin|stdout|stderr|tty\w*|pts/\d+|fd/\d+|u?random|shm(?:/.*)?)")
_NETWORK_DEVICE = re.compile(r"/dev/(?:tcp|udp)(?:/.*)?")

_STARTUP = re.compile(
    r"(?:^|/)(?:\.(?:ba|z|k|c|tc|da)?sh(?:rc|env)|\.profile|\.[bz]?(?:ash)?_?(?:profile|login|logout|aliases)|\.z(?:profile|login|logout)|"
    r"\.inputrc|\.pam_environment|\.xinitrc|\.xprofile|\.xsession(?:rc)?|\.xsessionrc|\.vimrc|\.gdbinit|\.gvimrc|"
    r"\.config/(?:fish|autostart|systemd|nvim)(?:/.*)?|\.ssh/(?:authorized_keys2?|config|rc|environment)|\.gitconfig|"
    r"\.local/share/applications/.*|\.rhosts|\.forward|\.tmux\.conf|\.screenrc|\.emacs(?:\.d/.*)?|\.pythonrc(?:\.py)?|"
    r"Library/Launch(?:Agents|Daemons)/.*|sitecustomize\.py|usercustomize\.py)$"
)
_HOOKS = re.compile(
    r"(?:^|/)(?:\.git/(?:hooks(?:/.*)?|config|info/attributes)|\.vscode/.*|\.claude/.*|\.cursor/.*|\.mcp\.json|\.envrc|"
    r"(?:node_modules/\.|(?:\.?venv|env)/|vendor/)bin/.*|\.husky/.*|\.idea/.*|\.github/workflows/.*|\.gitlab-ci\.yml|\.toolcrib(?:/.*)?|AGENTS\.md|CLAUDE\.md)$"
)
_CREDENTIAL = re.compile(
    r"(?:^|/)(?:\.ssh(?:/(?!known_hosts|config$|.*\.pub$|authorized_keys).*)?|\.aws(?:/(?:credentials|config|sso/.*)?)?|"
    r"\.gnupg(?:/.*)?|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.docker/config\.json|\.kube(?:/config)?|"
    r"\.config/(?:gcloud|gh|hub|op|rclone|doctl|google-chrome|chromium)(?:/.*)?|\.azure(?:/.*)?|\.git-credentials|"
    r"\.npmrc|\.pypirc|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.vault-token|\.terraform\.d/credentials.*|"
    r"\.(?:bash|zsh|python|node_repl|mysql|psql|sqlite|lesshs?t?)_?(?:history|hst)|\.password-store(?:/.*)?|"
    r"\.env(?:\.(?!example|sample|template|dist|defaults)[\w.-]+)?|\.envrc|\.htpasswd|\.dockercfg|\.s3cfg|\.boto|"
    r"(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|identity)(?!\.pub)[\w.-]*|[\w.-]*priv(?:ate)?[\w.-]*\.(?:pem|key|asc)|[\w.*-]+\.key|"
    r"(?:key|server|client|privkey|tls)\.pem|[\w.*-]+\.(?:p12|pfx|kdbx?|jks|keystore|ppk|ovpn|agekey)|wallet\.dat|"
    r"(?:application_default_)?credentials(?:\.(?:json|ya?ml|toml|ini|csv|db))?|service[-_]?account[\w.-]*\.json|"
    r"client_secrets?[\w.-]*\.json|secrets?\.(?:json|ya?ml|toml|env|txt|ini)|master\.key|"
    r"Login Data|Cookies|logins\.json|key[34]\.db|Keychains(?:/.*)?|login\.keychain(?:-db)?)$"
)
_CREDENTIAL_SYSTEM = re.compile(
    r"/etc/(?:g?shadow-?|sudoers(?:\.d(?:/.*)?)?|master\.passwd|krb5\.keytab|ssh/ssh_host_.*key|security/opasswd|"
    r"ssl/private(?:/.*)?|NetworkManager/system-connections(?:/.*)?|wireguard(?:/.*)?|openvpn/.*\.key|rancher/.*\.yaml|"
    r"kubernetes/(?:pki/.*|admin\.conf)|docker/key\.json|ppp/.*-secrets)$|"
    r"/proc/(?:self|thread-self|\*|\d+|1)/(?:environ|mem|maps|root(?:/.*)?|fd/\d+|task/.*/environ)$|/proc/kcore$|"
    r"(?:/var)?/run/secrets(?:/.*)?$|/var/lib/(?:docker|kubelet)/.*|/var/backups/.*shadow.*|/dev/(?:mem|kmem|port)$|"
    r"/root/\.ssh.*|/var/run/docker\.sock$|/run/docker\.sock$"
)
_SAMPLES = names(
    "/etc/shadow /etc/gshadow /etc/sudoers ~/.ssh/id_rsa ~/.ssh/id_ed25519 ~/.aws/credentials ~/.netrc",
    "~/.gnupg ~/.git-credentials ~/.env .env /root/.ssh/id_rsa /home/user/.ssh/id_rsa",
    "/home/user/.aws/credentials ~/.ssh ~/.kube/config ~/.docker/config.json ~/.bash_history",
    "/proc/self/environ /proc/1/environ /run/secrets/a",
)
_ROOTS = [*("/" + name for name in sorted(_TOPS)), "~", "/etc/passwd", "/dev/sda", "/etc/crontab", "/boot/vmlinuz"]


def resolved(word: str, cwd: str = "") -> str:
    """The path that a word names: absolute, below `~`, or relative to the workspace. Unknown parts are left out."""
    path = plain(word)
    path = path.removeprefix("file://")
    if path == "~" or path.startswith("~/"):
        rest = posixpath.normpath("/" + path[2:])[1:]
        return "~/" + rest if rest else "~"
    if path[:2] == "~+":
        path = path[2:].lstrip("/")
    if re.match(r"[A-Za-z]:[\\/]?", path) or not path:
        return path
    whole = posixpath.normpath(path if path.startswith(("/", "~")) else posixpath.join(cwd, path))
    whole = "/" + whole.lstrip("/") if whole.startswith("/") else whole
    if whole.startswith("~/"):
        return resolved(whole)
    for own in ("/proc/self/root", "/proc/1/root", "/proc/thread-self/root", "/private"):
        if whole == own or whole.startswith(own + "/"):
            whole = whole[len(own) :] or "/"
    return whole


def in_temp(path: str) -> bool:
    """Below a folder for temporary files, and not that folder itself."""
    return any(path.startswith(top + "/") for top in TEMP)


def _candidates(word: str, cwd: str, samples: "list[str] | tuple[str, ...]") -> list[str]:
    """The path itself, and of a pattern everything known that it could be."""
    path = resolved(word, cwd)
    if not globbed(word) and not (vague(word) and path.startswith(("/", "~"))):
        return [path]
    at = len(word) - len(word.lstrip(UNKNOWN + LOOSE))
    if at and not path.startswith(("/", "~")):
        return [path]
    joined = word if word.startswith(("/", "~")) or not cwd else posixpath.join(cwd, word)
    pattern = as_expression(joined.rstrip("/"))
    return [path, *(sample for sample in samples if pattern.fullmatch(sample) and _dot(joined, sample))]


def _dot(pattern: str, sample: str) -> bool:
    """A pattern finds a hidden name only if it says the dot itself."""
    parts = zip(pattern.split("/"), sample.split("/"), strict=False)
    return all(not name.startswith(".") or part.startswith(".") for part, name in parts)


def credential_file(word: str, cwd: str = "") -> str:
    """The credential file that a word names or could name, or nothing."""
    if len(word) > 4096:
        return ""
    for path in _candidates(word, cwd, _SAMPLES):
        if _CREDENTIAL.search(path) or _CREDENTIAL_SYSTEM.match(path):
            return path
    return ""


_CREDENTIAL_TREES = frozenset(
    names("/ ~ /root /home /Users /etc /proc /var /run ~/.config ~/Library /etc/ssl /etc/ssh")
)


def is_account_list(word: str, cwd: str = "") -> bool:
    """Who has an account here: free to read, and not to be sent anywhere."""
    return resolved(word, cwd) in {"/etc/passwd", "/etc/group", "/etc/passwd-", "/etc/group-"}


def credential_tree(word: str, cwd: str = "") -> bool:
    """Whether a folder, looked through as a whole, holds credentials: a home, the system's settings, all."""
    path = resolved(word, cwd).removesuffix("/*")
    return path in _CREDENTIAL_TREES or re.fullmatch(r"/(?:home|Users)/[^/]+|~[\w-]+", path) is not None or not path


def system_root(word: str, cwd: str = "") -> str:
    """The system tree, or somebody's whole home, that would be gone if the word's path were removed."""
    for path in _candidates(word, cwd, _ROOTS):
        if path and _is_root(path):
            return path
    return ""


_ALL_OF = re.compile(r"~?/(?:\*+|\.\*|\?\*|\.\?+\*|\.\[[!^.\]]+\]\*)")  # everything in it, by whatever pattern


def _is_root(path: str) -> bool:
    if path in {"/", "~", "//", "~/", "~root"} or path.startswith("/./*") or _ALL_OF.fullmatch(path):
        return True
    if re.match(r"[A-Za-z]:[\\/]*\*?(?:\.\*)?$", path) or re.match(r"(?i)[a-z]:[\\/]+(windows|users|program)", path):
        return True
    if re.fullmatch(r"~[A-Za-z_][\w-]*", path) or (path.startswith("~/") and path.rstrip("/*") == "~"):
        return True
    parts = path.strip("/").split("/") if path.startswith("/") else []
    if not parts or in_temp(path) or path in TEMP:
        return False
    parts = [part for part in parts if part not in {"*", ".*", "**", "?*"}]
    if not parts:
        return True
    return _tree(parts)


def _tree(parts: list[str]) -> bool:
    first = parts[0]
    if len(parts) == 1:
        return first in _TOPS
    if first in _NEVER_GONE:
        return parts[1] != "local" or len(parts) < 3
    if first in {"home", "Users"}:
        return len(parts) == 2
    if first == "var":
        return parts[1] in {"log", "lib", "spool", "mail", "db", "run", "backups", "www"} and len(parts) <= 3
    return first == "root" and len(parts) == 2 and parts[1] == ".ssh"


def is_disk(word: str, cwd: str = "") -> bool:
    """Whether the word names a disk or the machine's memory."""
    return _DISK.fullmatch(resolved(word, cwd)) is not None


def is_network(word: str) -> bool:
    """Whether the word is one of the names by which a shell opens a connection."""
    path = resolved(word)
    return _NETWORK_DEVICE.fullmatch(path) is not None


def is_harmless(word: str) -> bool:
    """A device that takes and gives nothing that lasts."""
    path = plain(word)
    return path.startswith("/dev/") and _HARMLESS_DEVICE.fullmatch(resolved(word)) is not None


def system_file(word: str, cwd: str = "") -> str:
    """The file of the system that a word names or could name, or nothing. `/usr/local` is the machine owner's own."""
    for path in _candidates(word, cwd, _ROOTS):
        parts = path.strip("/").split("/")
        if path == "/" or (path.startswith("/") and parts[0] in _SYSTEM and not _loose_part(path, parts)):
            return path
    return ""


# Their settings are changed by whoever runs them; it is asked about.
_SERVERS = frozenset(
    names("nginx apache2 httpd caddy haproxy supervisor prometheus grafana redis mysql postgresql php")
)


def _loose_part(path: str, parts: list[str]) -> bool:
    if in_temp(path) or path in TEMP or _HARMLESS_DEVICE.fullmatch(path):
        return True
    second = parts[1] if len(parts) > 1 else ""
    return (
        (parts[0] == "usr" and second in {"local", "src", "share"})
        or (parts[0] == "var" and second in {"www", "folders", "cache", "opt"})
        or path.startswith("/var/lib/apt/lists/")
        or parts[0] in {"opt", "srv", "private"}
        or (parts[0] == "root" and not _STARTUP.search(path) and not _CREDENTIAL.search(path))
        or (parts[0] == "run" and second == "user")
        or (parts[0] == "etc" and second in _SERVERS and len(parts) > 2)
    )


def is_startup(word: str, cwd: str = "") -> bool:
    """A file that a later shell, login or service runs."""
    path = resolved(word, cwd)
    outside = path.startswith(("/", "~", ".."))
    if globbed(word):
        return any(name in plain(word) for name in (".bash", ".zsh", ".prof", ".ssh", ".bas"))
    return _STARTUP.search(path) is not None and (outside or not path.endswith((".gitconfig", ".vimrc")))


def is_hook(word: str, cwd: str = "") -> bool:
    """A file of the workspace that a tool runs or trusts later."""
    return _HOOKS.search(resolved(word, cwd)) is not None


def no_workspace(path: str) -> bool:
    """Whether a folder cannot be a workspace, since it is the system's own."""
    parts = resolved(path).strip("/").split("/")
    return path.startswith("/") and ((len(parts) == 1 and parts[0] in _SYSTEM | {""}) or _tree(parts))


def is_inside(word: str, cwd: str = "", workspace: str = "") -> bool:
    """Whether the word surely names something in the workspace or among temporary files."""
    if word.startswith((UNKNOWN, LOOSE)):
        return False
    path = resolved(word, cwd)
    if workspace and (path == workspace or path.startswith(workspace.rstrip("/") + "/")):
        return True
    return in_temp(path) or is_harmless(word) or (not path.startswith(("/", "~", "..")) and ":" not in path[:2])
