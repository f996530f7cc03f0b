"""Programs that reach other machines."""

import re

from toolcrib.safety.shell.marks import NET, SECRET, UNKNOWN, plain, shown, taints, vague
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.places import credential_file, is_account_list, resolved
from toolcrib.safety.shell.run import Handle, Run
from toolcrib.safety.shell.writing import note_read, note_write

_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)")
_ADDRESS = re.compile(r"(?:\d+\.\d+\.\d+\.\d+|0x[0-9a-f]+|\d+|\[.*\])")
_CURL_VALUED = (
    "-H -A -e -b -c -m -o -u -X -d -F -T -K -w -x -y -Y -z -r -E -D -C -t -Q -U -P -h --header --user-agent --referer --cookie "
    "--max-time --connect-timeout --output --user --request --data --form --upload-file --config --write-out --proxy --retry "
    "--retry-delay --range --cert --key --cacert --capath --dump-header --resolve --url --json --data-raw --data-binary "
    "--data-urlencode --interface --limit-rate --max-redirs --oauth2-bearer --netrc-file --connect-to --retry-max-time"
)
_CURL_SENDS = names(
    "-d -F -T --data --data-raw --data-binary --data-urlencode --data-ascii --form --json --form-string",
    "--upload-file --url-query",
)
_CURL_BARRED = names(
    "-K --config -x --proxy -u --user -b -c --cookie --cookie-jar -n --netrc --netrc-file -E --cert --key",
    "-D --dump-header --trace --trace-ascii --libcurl --unix-socket --abstract-unix-socket --resolve",
    "--connect-to --engine -Q --quote --proto-redir --interface --preproxy --socks5 --socks4",
    "--oauth2-bearer --stderr --etag-save --hsts --alt-svc --output-dir --create-dirs --variable",
    "--expand-url",
)


def url_name(url: str) -> str:
    """The file name under which a download is kept."""
    return plain(url).partition("?")[0].rstrip("/").rpartition("/")[2] or "index.html"


def _address(run: Run, url: str) -> None:
    """Whether an address may be fetched without a question."""
    text = plain(url)
    scheme, mark, rest = text.partition("://")
    host = re.split(r"[/?#]", rest if mark else text)[0]
    if vague(url):
        run.ask("url:unknown", f"what it sends or where is not known before it runs: {shown(url)}")
    if mark and scheme.lower() not in {"http", "https"}:
        run.ask("url:scheme", f"{scheme}:// is more than fetching a page")
        if scheme.lower() == "file":
            note_read(run.machine, rest, run.scope)
    if "@" in host:
        run.ask("url:login", "the address carries a login")
    name = host.rpartition("@")[2]
    if _LOOPBACK.match(name):
        return
    bare = name if name.startswith("[") else name.partition(":")[0]
    if _ADDRESS.fullmatch(bare.lower()) or bare.endswith((".internal", ".local", ".localhost")) or "." not in bare:
        run.ask("url:internal", f"{bare} may be a machine inside")


def _kept(run: Run, path: str) -> None:
    note_write(run.machine, path, run.scope, "download to")
    run.scope.files[resolved(path, run.cwd)] = UNKNOWN + NET
    run.scope.wrote = True


def curl(run: Run) -> str | None:
    """`curl`: fetching a page to look at is free; keeping, sending and configuring are not."""
    words = run.words
    urls = [word for word in run.operands(_CURL_VALUED) if word]
    urls += [found for found in [run.after("--url")] if found]
    for url in urls:
        _address(run, url)
    out = run.after("-o", "--output")
    if out is not None and plain(out) not in {"/dev/null", "-"}:
        _kept(run, out)
        run.ask("download", f"it would keep a download as {shown(out)}")
    if _cluster(words, "O") or run.has("--remote-name", "--remote-name-all", "-J"):
        for url in urls:
            _kept(run, url_name(url))
        run.ask("download", "it would keep a download")
    if run.has(*_CURL_SENDS) or _cluster(words, "dFT"):
        _sent(run, [value for option in _CURL_SENDS if (value := run.after(option)) is not None])
    method = run.after("-X", "--request")
    if method is not None and plain(method).upper() not in {"GET", "HEAD", "OPTIONS"}:
        run.ask("sends", f"a {shown(method)} request changes something elsewhere")
    _curl_options(run)
    return UNKNOWN + NET + taints(run.told)


def _curl_options(run: Run) -> None:
    for option in _CURL_BARRED:
        if option.startswith("--") and any(word == option or word.startswith(option + "=") for word in run.words):
            run.ask("curl:option", f"curl {option} does more than fetching a page")
        if not option.startswith("--") and _cluster(run.words, option[1]):
            run.ask("curl:option", f"curl {option} does more than fetching a page")
    for header in [
        run.words[at + 1] for at, word in enumerate(run.words[:-1]) if word in {"-H", "--header", "-w", "--write-out"}
    ]:
        if vague(header) or "authorization" in header.lower() or "cookie" in header.lower() or header.startswith("@"):
            run.ask("url:login", "the request carries a credential, or text that is not known before it runs")
        if "%output" in header:
            run.ask("writes", "it would write a file")


def _cluster(words: list[str], letters: str) -> bool:
    """Whether a short option stands in a cluster, before an option that takes the rest of the word."""
    for word in words:
        if word.startswith("-") and not word.startswith("--"):
            for letter in word[1:]:
                if letter in letters:
                    return True
                if letter in "HAebcmouXdFTKwxyYzrEDCtQUPh":
                    break
    return False


def _sent(run: Run, values: list[str]) -> None:
    for value in values:
        for name in re.split(r"[=;]", plain(value)):
            path = name.lstrip("@<")
            if credential_file(path, run.cwd) or is_account_list(path, run.cwd):
                run.deny("secret-sent", f"it would send {path} over the network")
        if SECRET in value:
            run.deny("secret-sent", "it would send a credential over the network")
    run.ask("sends", "it would send data to another machine")


def wget(run: Run) -> str | None:
    """`wget`: always keeps a file, unless the output goes to `-`."""
    urls = run.operands(
        "-O -o -P -a -U -T -t -e -i -A -R -D -B -Q --header --user-agent --timeout --tries --user --password"
    )
    for url in urls:
        _address(run, url)
    out = run.after("-O", "--output-document")
    if run.has("--post-file", "--post-data", "--body-file", "--body-data", "--method"):
        _sent(
            run,
            [
                v
                for o in ("--post-file", "--post-data", "--body-file", "--body-data")
                if (v := run.after(o)) is not None
            ],
        )
    if run.has(
        "-e", "--execute", "--use-askpass", "--config", "--input-file", "--user", "--password", "--load-cookies"
    ) or run.after("-i"):
        run.ask("wget:option", "wget would be configured, or take addresses from a file")
    to_screen = (out is not None and plain(out) == "-") or any(re.fullmatch(r"-[qSnv]*O-", word) for word in run.words)
    to_screen = to_screen or any(
        re.fullmatch(r"-[qSnv]+O", w) and run.words[at + 1 : at + 2] == ["-"] for at, w in enumerate(run.words)
    )
    if not to_screen and not run.has("--spider"):
        kept = (
            out
            if out is not None
            else next((run.words[at + 1] for at, w in enumerate(run.words[:-1]) if re.fullmatch(r"-[qSnv]+O", w)), None)
        )
        for path in [kept] if kept is not None else [url_name(url) for url in urls]:
            if plain(path) != "/dev/null":
                folder = run.after("-P", "--directory-prefix")
                _kept(run, f"{folder}/{path}" if folder else path)
        run.ask("download", "it would keep a download")
    return UNKNOWN + NET + taints(run.told)


_RUNNERS = re.compile(r"-(?:[a-zA-Z]*e|c)$|--(?:exec|sh-exec|lua-exec).*")


def netcat(run: Run) -> str | None:
    """`nc`: `-e` gives a shell away; a shell's output into it is the same."""
    words = [plain(word) for word in run.words]
    if any(_RUNNERS.match(word) for word in words):
        run.deny("network-shell", f"{run.name} would connect a program to the network")
    if words and all(re.fullmatch(r"-[zvnw46u\d]+", word) for word in words if word.startswith("-")) and run.has("-z"):
        host = run.operands("-w")[:1]
        if host and not vague(host[0]) and run.stdin is None:
            return None  # only whether somebody listens
    run.ask("network", f"{run.name} opens a connection that nobody follows")
    return UNKNOWN + NET


def socat(run: Run) -> str | None:
    """`socat`: one end on the network, the other a program."""
    told = " ".join(plain(word) for word in run.words).lower()
    if re.search(r"\b(?:exec|system|shell)\s*:", told):
        run.deny("network-shell", "socat would connect a program to the network")
    run.ask("network", "socat opens a connection that nobody follows")
    return UNKNOWN + NET


def secure_shell(run: Run) -> str | None:
    """`ssh`: another machine; its options run programs on this one."""
    for at, word in enumerate(run.words):
        text = (
            run.words[at + 1] if word == "-o" and at + 1 < len(run.words) else word[2:] if word.startswith("-o") else ""
        )
        if re.match(r"(?i)(proxycommand|localcommand|knownhostscommand)", plain(text)):
            run.code(re.split(r"[= ]", plain(text), maxsplit=1)[-1], None, UNKNOWN)
    rest = run.operands("-p -i -l -o -F -L -R -D -J -b -c -E -e -I -m -O -Q -S -W -w -B")
    if run.stdin is not None and SECRET in run.stdin:
        run.deny("secret-sent", "it would send a credential to another machine")
    if len(rest) > 1:
        run.code(" ".join(plain(word) for word in rest[1:]), None, UNKNOWN)
    run.machine.storable = False
    run.ask("remote", f"it would act on another machine: {shown(rest[0]) if rest else 'unknown'}")
    return UNKNOWN + NET


def copy_remote(run: Run) -> str | None:
    """`scp`, `sftp`, `rclone`, `lftp`: files leave or come."""
    text = run.after("-S", "-D")
    if text:
        run.code(text, None, UNKNOWN)
    run.ask("remote", f"{run.name} copies from or to another machine")
    words = run.operands("-P -i -o -F -l -c -S")
    if len(words) > 1 and ":" in words[0] and ":" not in words[-1]:
        name = plain(words[0]).rpartition("/")[2].rpartition(":")[2]
        for path in (plain(words[-1]), f"{plain(words[-1])}/{name}"):
            run.scope.files[resolved(path, run.cwd)] = UNKNOWN + NET
    return UNKNOWN + NET


def any_client(run: Run) -> str | None:
    """Other clients."""
    run.ask("network", f"{run.name} reaches another machine")
    for word in run.operands():
        if "://" in word:
            run.scope.files[resolved(url_name(word), run.cwd)] = UNKNOWN + NET
    return UNKNOWN + NET


def look_up(run: Run) -> str | None:
    """`dig`, `ping`, `host`: free for plain names; a computed name can carry data out."""
    if any(vague(word) for word in run.words):
        run.ask("dns", "a name that is put together on the way can carry data out", "the name itself")
    if (run.has("-f", "-k", "-p") and run.name in {"dig", "ping"}) or (run.name == "whois" and run.has("-h", "-p")):
        run.ask("network", f"{run.name} would do more than a look-up")
    if run.name.startswith("ping") and run.has("-f"):
        run.ask("network", "it would flood another machine")
    return UNKNOWN + NET if run.name in {"dig", "nslookup", "host", "drill", "whois"} else UNKNOWN


def ssl(run: Run) -> str | None:
    """`openssl`: looking at certificates and sums is free."""
    verb = plain(run.words[0]) if run.words else "version"
    free = {
        "version",
        "dgst",
        "x509",
        "verify",
        "asn1parse",
        "crl",
        "md5",
        "sha1",
        "sha256",
        "sha512",
        "rand",
        "prime",
        "ciphers",
        "speed",
        "list",
        "base64",
        "crl2pkcs7",
        "errstr",
        "help",
    }
    if run.has("-engine", "-provider") or verb not in free or run.has("-out", "-CAserial", "-writerand", "-sign"):
        run.ask("openssl", f"openssl {verb} makes keys, connects, or loads code")
    return UNKNOWN + (NET if verb in {"s_client", "s_server"} else "")


def keys(run: Run) -> str | None:
    """`gpg`, `ssh-keygen`, `pass`, `security`, `vault`: programs that hand out secrets."""
    told = " ".join(plain(word) for word in run.words)
    if run.name in {"gpg", "gpg2"} and re.search(r"--(?:list|verify|version|fingerprint|show|print-md)", told):
        return None
    if run.name == "ssh-keygen" and run.has("-l", "-F", "-H") and not run.has("-D", "-w"):
        return None
    if run.has("-D", "-P", "-I") and run.name in {"ssh-keygen", "ssh-add", "ssh-agent"}:
        run.ask("loads", "it would load code from a file")
    run.ask("keys", f"{run.name} works with keys")
    return UNKNOWN + SECRET


def server(run: Run) -> str | None:
    """Whoever serves files opens the machine to others."""
    run.ask("serves", f"{run.name} would offer something to other machines")
    return None


def zsh_module(run: Run) -> str | None:
    """`zmodload zsh/net/tcp`, `ztcp`: the shell itself connects."""
    if run.name == "ztcp" or any("net" in word or "socket" in word for word in run.words):
        run.deny("network-shell", "the shell itself would connect to the network")
    run.ask("loads", "it would load a part of the shell")
    return None


HANDLES: dict[str, Handle] = {
    "curl": curl,
    **dict.fromkeys(("zmodload", "ztcp"), zsh_module),
    **dict.fromkeys(("wget", "wget2"), wget),
    **dict.fromkeys(
        ("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd", "cryptcat", "pwncat", "rcat", "rustcat"), netcat
    ),
    "socat": socat,
    **dict.fromkeys(("ssh", "autossh", "mosh", "dbclient", "sshpass", "plink"), secure_shell),
    **dict.fromkeys(
        names("scp sftp rclone lftp ftp tftp ncftp smbclient rcp pscp s3cmd gsutil azcopy croc wormhole"), copy_remote
    ),
    **dict.fromkeys(
        names(
            "telnet lynx w3m links elinks axel aria2c http https xh httpie fetch GET POST lwp-download",
            "lwp-request websocat wscat nmap masscan hping3 mail mailx mutt sendmail swaks msmtp tcpdump tshark",
            "wireshark rlogin rsh finger cadaver",
        ),
        any_client,
    ),
    **dict.fromkeys(
        ("dig", "nslookup", "host", "drill", "ping", "ping6", "traceroute", "tracepath", "whois", "mtr"), look_up
    ),
    "openssl": ssl,
    **dict.fromkeys(
        names("gpg gpg2 ssh-keygen ssh-add ssh-agent pass security vault age keyring op bw secret-tool lpass"), keys
    ),
    **dict.fromkeys(
        names("http-server serve live-server ngrok cloudflared localtunnel lt bore frpc chisel ligolo"), server
    ),
}
