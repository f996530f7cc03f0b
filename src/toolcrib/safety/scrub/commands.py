"""Secrets on command lines: which option or word of which program holds one."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Row, View
from toolcrib.safety.scrub.found import FORM, Found
from toolcrib.safety.scrub.names import NONE, PASSWORD, promise
from toolcrib.safety.scrub.values import is_placeholder, is_secret

_V = r"""(?:\\?"([^"\n\\]+)|\\?'([^'\n\\]+)|([^\s"'`;|&<>\\]+))"""  # a value, quoted or bare
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_LINE = 600  # characters of a command that are looked at


def _option(names: str, glue: str = r"[ \t=]+") -> str:
    return rf"(?:(?<=\s)|(?<=[\"'\[]))(?:{names}){glue}{_V}"


_PAIR = r"""[\"']?[^\s:"'@/]{1,64}:([^\s"'|;&]{2,})"""  # user:password
_USER = rf"(?:(?<=\s))(?:-u|--user|--proxy-user|-U|-a|--auth|--http-user)[ \t=]*{_PAIR}"

# Programs, and where each has its secret: the groups that match are secrets.
_TABLE: dict[str, tuple[str, ...]] = {
    "mysql mysqldump mysqladmin mariadb mysqlimport mariadb-dump mycli mysqlsh mysqlcheck xtrabackup": (
        rf"(?<=\s)-p{_V}",
    ),
    "curl http https xh httpie ab siege wrk etcdctl": (_USER, rf"(?<=\s)-a[ \t=]*{_PAIR}"),
    "wget aria2c lftp rsync": (_USER, r"(?<=\s)-u[ \t]*[\"']?[^\s,:\"']+,([^\s\"',;]{2,})"),
    "sshpass": (rf"(?<=\s)-p[ \t]?{_V}",),
    "docker podman helm oras skopeo buildah nerdctl crane regctl": (
        _option("-p|--password|--registry-password"),
        rf"--(?:src-|dest-)?creds[ \t=]+{_PAIR}",
    ),
    "redis-cli keydb-cli valkey-cli redis-benchmark": (
        _option("-a|--pass|--askpass"),
        rf"\bAUTH[ \t]+(?:\w+[ \t]+)?{_V}",
    ),
    "mongo mongosh mongodump mongorestore mongoexport mongoimport": (_option("-p", r"[ \t=]*"),),
    "ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami": (_option("-w|-s", r"[ \t]*"),),
    "smbclient rpcclient smbmap enum4linux mount.cifs net": (
        r"-U[ \t=]*[\"']?[^\s%\"']+%([^\s\"']+)",
        _option("-p"),
        r"(?<=\s)use[ \t]+(?:\S+[ \t]+)?\\\\\S+[ \t]+(?:/user:\S+[ \t]+)?([^\s/*\"']\S*)",
        r"(?<=\s)user[ \t]+[\w.\\-]+[ \t]+([^\s/*]\S*)[ \t]+/add",
        r"(?<=\s)user[ \t]+[\w.\\-]+[ \t]+([^\s/*]\S{3,})[ \t]*$",
    ),
    "openssl": (
        r"pass:([^\s\"']+)",
        _option("-k|-K|-password|-passwd|-hmac|-pass"),
    ),
    "htpasswd mosquitto_passwd": (
        r"(?<=\s)-[a-zA-Z]*b[a-zA-Z]*[ \t]+(?:-\w+[ \t]+)*(?:\S+[ \t]+)?\S+[ \t]+([^\s-]\S*)[ \t]*$",
    ),
    "gpg gpg2": (_option("--passphrase"),),
    "keytool jarsigner apksigner": (
        _option("-storepass|-keypass|-srcstorepass|-deststorepass|-srckeypass|-destkeypass|-new"),
        r"pass:([^\s\"']+)",
    ),
    "zip unzip 7z 7za 7zr rar unrar": (_option("-P|--password"), rf"(?<=\s)-(?:h?p|P){_V}"),
    "sqlcmd bcp osql isql tsql snmpwalk snmpget snmpset ipmitool mosquitto_pub mosquitto_sub": (
        _option("-P|-A|-X|-pw", r"[ \t]*"),
        rf"(?:snmp\w+[^\n]*)(?<=\s)-c[ \t]*{_V}",
    ),
    "sqlplus impdp expdp sqlldr rman": (
        r"(?<=[\s\"'])[\w$#]+/\"?([^\s@/\"']+)\"?@",
        r"(?<=\s)[A-Za-z_]\w*/([^\s@/\"']{4,})(?=\s|$)",
    ),
    "cqlsh influx clickhouse-client clickhouse mclient kinit twine svn hg rdesktop freerdp xfreerdp wlfreerdp evil-winrm"
    " crackmapexec netexec nxc hydra medusa az psexec psexec64 winexe plink pscp psftp pscp.exe plink.exe vncviewer nmap"
    " ansible sshfs kafkacat kcat rabbitmqadmin tsh psql pg_dump rclone restic borg ncftp tnsping impacket-psexec"
    " secretsdump nifi akamai ssh-keygen oc cypher-shell arangosh ibmcloud odo argocd influxd ksql snowsql": (
        _option("-p|-pw|--pass|-P|-N|--secret"),
        r"(?<=\s)/p(?:ass(?:word)?)?:[\"']?([^\s\"']+)",
    ),
    "rabbitmqctl": (rf"(?:add_user|change_password|authenticate_user)[ \t]+\S+[ \t]+{_V}",),
    "vault": (rf"(?<=\s)login[ \t]+(?:-\S+[ \t]+)*(?:token=)?{_V}[ \t]*$", r"(?<=\s)unseal[ \t]+([A-Za-z0-9+/=]{20,})"),
    "nmcli wpa_passphrase iwconfig": (
        rf"(?<=\s)(?:password|wifi-sec\.psk|802-11-wireless-security\.psk)[ \t]+{_V}",
        rf"wpa_passphrase[ \t]+(?:\"[^\"]*\"|\S+)[ \t]+{_V}",
        r"(?<=\s)key[ \t]+(?:s:(\S+)|([0-9A-Fa-f-]{10,}))",
    ),
    "poetry composer": (rf"(?:http-basic|http_basic)[\w.-]*\.?\S*[ \t]+\S+[ \t]+{_V}", rf"pypi-token\.\S+[ \t]+{_V}"),
    "impacket-secretsdump impacket-psexec impacket-wmiexec impacket-smbexec secretsdump.py psexec.py wmiexec.py"
    " smbexec.py gettgt.py getuserspns.py": (r"(?<=[\s\"'])(?:[\w.-]+/)?[\w.-]+:([^\s@\"']+)@[\w.-]+",),
    "codecov codecovcli doctl sentry-cli bundlewatch": (_option("-t|--token|--access-token"),),
    "bundle": (
        r"contribsys\.com[ \t]+(\S+)",
        r"config[ \t]+(?:set[ \t]+)?(?:--\w+[ \t]+)*[\w-]+\.[\w.-]+[ \t]+[\w.-]+:(\S+)",
    ),
    "sentinel": (r"auth-pass[ \t]+\S+[ \t]+(\S+)",),
    "kubeadm": (_option("--token|--certificate-key"),),
    "snyk": (r"(?<=\s)auth[ \t]+([A-Za-z0-9._-]{24,})",),
    "jenkins-cli jenkins-cli.jar": (r"(?<=\s)-auth[ \t]+[^\s:]+:(\S+)",),
    "nuget dotnet": (
        r"(?i)(?<=\s)setapikey[ \t]+([\w-]{8,})",
        _option("-k|-ApiKey|--api-key|-Password|--password|-p"),
        r"user-secrets[ \t]+set[ \t]+[\"']?\S*(?:[Kk]ey|[Ss]ecret|[Pp]assword|[Tt]oken|[Pp]wd)[\"']?[ \t]+[\"']?([^\s\"']+)",
    ),
    "ngrok cargo": (r"(?:authtoken|add-authtoken|login)[ \t]+(?:--\S+[ \t]+\S+[ \t]+)*([A-Za-z0-9_]{20,})",),
    "mc": (r"(?:alias[ \t]+set|config[ \t]+host[ \t]+add)[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+([^\s\"']{6,})",),
    "cmdkey runas wmic schtasks sc sc.exe": (
        r"/p(?:ass(?:word)?)?:\"?([^\s\"']+)",
        r"/rp[ \t]+\"?([^\s\"']+)",
        r"password=[ \t]*\"?([^\s\"']+)",
    ),
    "useradd usermod": (r"(?<=\s)(?:-p|--password)[ \t=]+[\"']?([^\s\"']+)",),
    "aws": (
        rf"configure[ \t]+set[ \t]+\S*(?:secret|token)\S*[ \t]+{_V}",
        _option("--secret-string|--master-user-password|--secret-access-key"),
    ),
    "gh heroku flyctl fly wrangler pulumi gcloud doppler railway vercel netlify": (
        rf"(?:config:set|secrets?[ \t]+set|config[ \t]+set(?:[ \t]+--secret)?)[ \t]+(?:--?\S+[ \t]+)*[\w:.-]*(?:[Ss]ecret|SECRET|[Kk]ey|KEY|[Tt]oken|TOKEN|[Pp]ass|PASS)[\w:.-]*[ \t]+(?:--body[ \t]+)?{_V}",
    ),
    "cryptsetup ecryptfs": (r"(?<=\s)<<<[ \t]*[\"']?([^\s\"']+)",),
    "pdftk qpdf pdftotext": (rf"(?:user_pw|owner_pw|input_pw|--password=|-upw|-opw|--encrypt)[ \t]*{_V}",),
    "dsmc dscl passwd security kadmin adduser": (
        rf"(?:add-generic-password|add-internet-password|unlock-keychain)[^\n]*?(?<=\s)-[wp][ \t]+{_V}",
        rf"-passwd[ \t]+\S+[ \t]+{_V}",
        _option("-pw"),
    ),
    "convertto-securestring": (
        r"SecureString[ \t]+(?:-String[ \t]+|-AsPlainText[ \t]+|-Force[ \t]+)*[\"']([^\"'\n$]+)",
    ),
    "proxychains socks5 ftp telnet ssh": (r"(?<=\s)(?:socks[45]|http)[ \t]+[\d.]+[ \t]+\d+[ \t]+\S+[ \t]+(\S+)",),
}
_PIPED = re.compile(
    r"""(?x)\b(?:echo|printf)\b[ \t]+(?:-\w+[ \t]+)?(?:['"]?%s(?:\\n)?['"]?[ \t]+)?["']?([^"'\n|]{3,200}?)(?:\\n)?["']?[ \t]*\|[ \t]*
    (?:sudo\b[^\n|]*?-\w*S | [^\n|]*(?:password-stdin|--stdin|passphrase-fd|pass\S*[ ]stdin|chpasswd|with-token|smbpasswd|--password-fd
     |passwd\b|cryptsetup|kinit|vncpasswd|-pass[ ]stdin|\bsu\b))"""
)
_HERE = re.compile(r"""<<<[ \t]*["']?([^\s"']+)""")
_ASKS = re.compile(r"(?i)stdin|passw|-token|secret|kinit|cryptsetup|sudo\b.*-S|login|\bsu\b|keyctl|passphrase|unlock")
_GIVEN = re.compile(rf"""-[uU][ \t=]*["']?[^\s"']{{1,64}}["']?[ \t]+-[pP][ \t=]*{_V}""")
PROGRAMS = {
    name: tuple(re.compile(pattern) for pattern in patterns)
    for names, patterns in _TABLE.items()
    for name in names.split()
}
_FLAG = (
    rb"[a-z0-9.\-]{0,24}(?:passw(?:or)?d|passphrase|pass|passcode|pwd|secret|token|key|cred|credentials|auth|psk|pin)[a-z0-9\-]{0,16}"
    rb"[\"']?,?[ \t]+[\"']?[^\s\"'\-|<>&;,)(][^\s\"'|<>;)(]"
)
ROWS = (
    *(Row(name.encode(), rb"(?:\.exe)?[ \t]", bound=True) for name in sorted(PROGRAMS, key=lambda n: (-len(n), n))),
    Row(b"echo", rb"[ \t]+[^\n|]{3,200}\|[ \t]*[a-z]", bound=True),
    Row(b"printf", rb"[ \t]+[^\n|]{3,200}\|[ \t]*[a-z]", bound=True),
    Row(b"<<<", rb"[ \t]*[\"']?[^\s\"'$<]{4}"),
    Row(b" -u", rb"[ \t=]*[\"']?[^\s\"'-][^\s\"']*[\"']?[ \t]+-p[ \t=]*[^\s-]"),
    Row(b"--", _FLAG),
    *(
        Row(word, rb"[a-z0-9\-]{0,12}[\"']?,?[ \t]+[\"']?[^\s\"'\-|<>&;,)(][^\s\"'|<>;)(]")
        for word in (b"-pass", b"-storepass", b"-keypass", b"-token", b"-apikey", b"-secret", b"-accesstoken")
    ),
)
_FLAG_AT = re.compile(r"""(--?[A-Za-z0-9.\-]+)["']?,?[ \t]+["']?([^\s"'`|<>;)(]+)""")


class Reader:
    """Reads the commands of one window; a program that stands twice on a line is read once."""

    def __init__(self, view: View) -> None:
        self._text = view.text
        self._done: dict[str, int] = {}

    def read(self, begin: int) -> Iterator[Found]:
        """The secrets that a program is given as arguments."""
        text = self._text
        if text.startswith("<<<", begin):
            yield from _here(text, begin)
        elif text[begin : begin + 3].lower() == " -u":
            yield from _given(text, begin + 1)
        else:
            yield from self._line(begin)

    def _line(self, begin: int) -> Iterator[Found]:
        text = self._text
        start = begin
        while start < len(text) and not (text[start].isalnum() or text[start] == "-"):
            start += 1
        if text[begin] == "\\" and start == begin + 1 and text[start] in "nrt":
            start += 1
        end = _line_end(text, start)
        if text[start] == "-":
            yield from _flag(text, start, end)
            return
        name = _NAME.match(text, start)
        word = name.group().lower().removesuffix(".exe") if name is not None else ""
        if word in {"echo", "printf"}:
            yield from _piped(text, start, end)
        elif start >= self._done.get(word, 0):
            self._done[word] = end
            yield from _program(word, text, start, end)


def _line_end(text: str, start: int) -> int:
    """Where the command ends, over line ends that are escaped."""
    limit = start + _LINE
    end = text.find("\n", start, limit)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1, limit)
    return end if end > 0 else min(len(text), limit)


def _flag(text: str, start: int, end: int) -> Iterator[Found]:
    """`--db-password hunter2`: an option whose name promises a secret."""
    if start and text[start - 1] not in " \t\n\"'[(`,=":
        return
    found = _FLAG_AT.match(text, start, end)
    if found is None:
        return
    level = promise(found[1].strip("-"))
    if level == NONE:
        return
    quoted = text[found.start(2) - 1] in "\"'"
    value = found[2].rstrip(",.;:]}")
    if is_secret(value, level, quoted=quoted or level == PASSWORD, alone=True):
        yield Found(found.start(2), found.start(2) + len(value), FORM, "password" if level == PASSWORD else "secret")


def _program(word: str, text: str, start: int, end: int) -> Iterator[Found]:
    line = text[start:end]
    for pattern in PROGRAMS.get(word, ()):
        for found in pattern.finditer(line):
            for group in range(1, (found.lastindex or 0) + 1):
                value = found[group]
                if value is not None and _is_argument(value):
                    yield Found(start + found.start(group), start + found.end(group), FORM, "password")


def _piped(text: str, start: int, end: int) -> Iterator[Found]:
    """`echo secret | sudo -S`, `echo user:secret | chpasswd`."""
    end = min(end, start + 300)
    found = _PIPED.match(text, start, end)
    if found is not None and _is_argument(found[1]):
        begin, stop = found.span(1)
        yield Found(begin + _user(found[1], text[start:end]), stop, FORM, "password")


def _here(text: str, start: int) -> Iterator[Found]:
    """`kinit bob <<< secret`: a word for a program that asks for one."""
    line = text.rfind("\n", max(0, start - 200), start) + 1
    found = _HERE.match(text, start)
    if found is not None and _ASKS.search(text, line, start) and _is_argument(found[1]):
        yield Found(found.start(1) + _user(found[1], text[line:start]), found.end(1), FORM, "password")


def _user(value: str, command: str) -> int:
    """How much of it is the user."""
    user = re.match(r"[\w.-]+:", value) if "chpasswd" in command else None
    return user.end() if user is not None else 0


def _given(text: str, start: int) -> Iterator[Found]:
    """`-u bob -p hunter2`, whatever the program."""
    found = _GIVEN.match(text, start)
    group = found.lastindex or 0 if found is not None else 0
    if found is not None and group and _is_argument(found[group]):
        yield Found(found.start(group), found.end(group), FORM, "password")


def _is_argument(value: str) -> bool:
    """Whether this may be a password: no variable, option, path of a file, or question to the user."""
    if re.match(r"\$(?:[156y]|2[aby]|apr1)\$", value):
        return True  # a password's hash
    if (
        len(value) < 3
        or value[0] in "$-<{%("
        or is_placeholder(value)
        or value.startswith(("file:", "env:", "@", "./", "~/"))
    ):
        return False
    return not re.fullmatch(
        r"[0-9]{1,5}|(?:/[\w.-]+)+|(?:[\d.]+:)?[\d-]+:[\d-]+(?:/\w+)?|[\w.-]+\.(?:zip|txt|pem|key|json|ya?ml|sql)",
        value,
    )
