"""Forms of commands that only look, of programs that otherwise do more: `nginx -t`, `pyenv versions`, `fdisk -l`.

A form is the words with which a command begins. Options between them do not count, unless the form names them; options
that could write, run or send take the permission away, except those that the row names. `a|b` is one of several words,
`.` is the end of the words that are no options, `*` is any one.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache

from toolcrib.safety.shell.marks import plain, vague
from toolcrib.safety.shell.programs.asking import asks_database, asks_redis
from toolcrib.safety.shell.run import Run

_BARRED_LETTERS = frozenset("ocCxXeErRwWfFSDKPkiIO")
_BARRED_NAMES = re.compile(
    r"--?(?:out|exec|eval|config|conf\b|plugin|script|load|write|save|in-?place|pre-|post|hook|command|cmd\b|shell|pager|"
    r"editor|ssh|rsh|proxy|log|dump|set|delete|remove|kill|fix|force|apply|require|include|init|edit|add|update|"
    r"upgrade|install|unset|address|host\b|template|filter|extension|engine|provider|file|report|data|extra-opts|raw|"
    r"trace|debug-file|show-secrets|from|ascii)"
)

# programs; forms; options that are fine for them
_ROWS: tuple[tuple[str, str, str], ...] = (
    # the machine
    ("fuser", "", "-n"),
    (
        "blkid lshw lsscsi hwinfo inxi acpi glxinfo xdpyinfo vulkaninfo clinfo vainfo rocm-smi getcap",
        "",
        "-o -c -f -F -short -businfo",
    ),
    ("sar procs btop glances atop iotop nvtop nmon bmon delta lsar mailq atq pg_lsclusters kubens kubectx", "", "-r"),
    ("dmidecode biosdecode systemd-cgls systemd-cgtop systemd-detect-virt systemd-delta systemd-path", "", "-P -k"),
    ("systemd-analyze", ".,blame,critical-chain,time,security,calendar,timestamp,timespan,unit-paths,cat-config", ""),
    ("busctl", "list,status,tree,introspect", ""),
    ("udevadm", "info", ""),
    ("coredumpctl", ".,list,info", ""),
    ("bootctl", ".,status,list", ""),
    ("resolvectl", ".,status,query,statistics", ""),
    ("networkctl", ".,list,status,lldp", ""),
    ("nmcli", ".,d|dev|device .,d|dev|device show|status|list,g|general .,g|general status", "-f -e"),
    ("nmcli", "c|con|connection .,c|con|connection show,d|dev|device wifi list,r|radio .", "-f -e"),
    ("iw", "dev,list,phy,reg get", ""),
    ("rfkill", ".,list", ""),
    ("bluetoothctl", "show,devices,list,info", ""),
    ("upower", "-e,-d,-i *", "-e -i"),
    ("xrandr", ".,-q,--query,--listmonitors", ""),
    ("stty", ".,size,speed", ""),
    ("smartctl", "-a|-i|-H|-x|-A|-c|--all|--info|--health|--scan", "-i -x -c"),
    ("hdparm", "-I|-i *", "-I -i"),
    ("fdisk sfdisk parted gdisk", "-l|--list", ""),
    ("parted", "* print .", ""),
    ("sgdisk", "-p|--print", ""),
    ("ldconfig", "-p|--print-cache .", ""),
    ("numactl", "-H|--hardware|-s|--show", ""),
    ("cpupower", "frequency-info,idle-info,info", ""),
    ("system_profiler sw_vers mdls", "", ""),
    ("diskutil", "list,info", ""),
    ("launchctl", "list,print", ""),
    ("pmset", "-g", ""),
    ("scutil", "--dns|--proxy|--nwi", "--proxy"),
    ("networksetup", "-listallnetworkservices|-listallhardwareports|-getinfo|-getdnsservers", ""),
    ("defaults", "read,domains", ""),
    ("plutil", "-lint|-p", ""),
    ("xcode-select", "-p|--print-path|-v|--version", ""),
    ("xcrun", "simctl list,--show-sdk-path,--find *,-f *", "-f"),
    ("xcodebuild", "-version|-list|-showsdks", "-showsdks"),
    ("finger", ".", ""),
    ("bind", "-l|-p|-P|-v|-V|-q|-s|-S", "-P -S"),
    ("fc", "-l", ""),
    ("at", "-l|-V", ""),
    ("chronyc", "tracking,sources,activity,sourcestats", ""),
    ("ntpq", "-p|-pn|-np", "-p"),
    # services
    ("nginx openresty", "-t|-T|-v|-V .", ""),
    ("apache2ctl apachectl httpd apache2", "configtest .,-t|-S|-v|-V|-M|-l|-L .", "-S"),
    ("sshd", "-t|-T .", ""),
    ("haproxy", "-v|-vv .,-c -f *", "-c -f"),
    ("caddy", "version,validate,list-modules,build-info", "--config"),
    ("postconf", ".,-n|-d|-h", ""),
    ("postqueue", "-p", ""),
    ("named-checkconf named-checkzone unbound-checkconf slapd-config", "", ""),
    ("dovecot doveconf", "-n|--version", ""),
    ("visudo", "-c .", "-c"),
    ("iptables-save ip6tables-save nft-list", "", "-c"),
    ("ufw", "status,app list,show", ""),
    ("supervisorctl", "status,version,avail", ""),
    ("pm2", "ls,list,status,show,describe,info,logs,jlist", ""),
    ("rabbitmqctl", "status,list_queues,list_exchanges,list_users,list_vhosts,cluster_status", ""),
    ("etcdctl", "endpoint health|status,member list,version", ""),
    ("consul nomad", "members,version,info,status,node status,job status", ""),
    ("vault", "status,version", ""),
    ("mysqladmin", "status,ping,version,processlist,variables,extended-status", "-P"),
    ("pg_isready pg_config pg_controldata", "", "-P"),
    ("lpstat", "", ""),
    # files and formats
    ("pdfinfo pdffonts mediainfo soxi catdoc antiword zipgrep rpm2cpio isoinfo", "", "-i"),
    ("pdftotext", "* - .", "-f -r -x -W"),
    ("exiftool", "*", "-S -r -c -f"),
    (
        "identify ffprobe",
        "*",
        "-verbose -i -print_format -show_format -show_streams -of -select_streams -show_entries -f",
    ),
    ("ffmpeg", "-i * .,-version|-formats|-codecs|-encoders|-decoders|-hwaccels|-filters .", "-i -filters -formats"),
    ("sox", "--i|--info *", "--i --info"),
    ("7z 7za 7zz", "l|t", ""),
    ("cpio", "-t|-tv|-itv|-it .", "-it -itv"),
    ("xq tomlq", "*", "-r -c -e -S"),
    ("dasel", ".,-f * *,-r * *", "-f -r -w"),
    ("mlr", "cat|head|tail|sort|uniq|count|count-distinct|cut|nl|stats1|stats2|label|top|summary *", "-f -r -c -o"),
    ("xsv qsv", "stats|headers|count|select|search|table|head|slice|frequency|sample|sort|flatten|fmt", ""),
    ("jsonlint", "*", ""),
    ("keytool", "-list|-printcert", "-file -list -keystore -storepass -printcert -v -alias -rfc"),
    # languages and their tools
    ("pip pip3", "cache info|list|dir,config list|get|debug,index", ""),
    ("conda mamba micromamba", "env list,config --show|--show-sources|--get", "--show --show-sources --get"),
    ("uv", "python list|find|dir,cache dir,tool list|dir", ""),
    ("pyenv rbenv nodenv goenv jenv", "version|versions|which|root|prefix|whence|commands|shims|--version .", ""),
    ("pyenv rbenv nodenv goenv jenv", "which|whence|prefix *,install -l|--list", ""),
    ("nvm fnm", "ls|list|current|version|which|ls-remote|list-remote|--version", ""),
    ("asdf", "list|current|which|where|info|latest|version|--version,plugin list", ""),
    ("mise rtx", "ls|list|current|which|where|doctor|version|outdated|--version", ""),
    ("volta", "list|which|--version", ""),
    ("sdk", "list|current|version", ""),
    ("rustup", "toolchain list,target list,component list,default .,check", ""),
    ("rails", "routes|about|stats|notes|--version|-v", "-g -c"),
    ("php", "-m|-i|-v|--ini|--version|--modules .,-l * .", "-i -m --ini"),
    ("ruby perl", "-c * .,-wc * .", "-c -wc"),
    ("deno", "info|doc|lint|check|types|fmt|test|bench|--version", ""),
    ("nuget", "list,sources list", ""),
    ("java", "-version|--version|-fullversion .,-XshowSettings:properties -version", ""),
    ("jps javap jcmd", ".", "-p -c"),
    ("javap", "", "-p -c -s"),
    ("npm pnpm", "pack|publish --dry-run", ""),
    ("ncu npm-check npm-check-updates depcheck", "", ""),
    ("pip-audit osv-scanner grype syft hadolint dive trivy checkov tfsec tflint kube-linter", "", "-r"),
    ("gitleaks", "detect|protect|dir|git|version", ""),
    ("trufflehog", "filesystem|git", ""),
    ("snyk", "test", ""),
    ("safety", "check|scan", "-r"),
    ("react-native expo hugo jekyll", "info|whoami|doctor|version|env|config|list", ""),
    ("code codium cursor", "--version|--list-extensions|--status .", "--list-extensions"),
    ("adb", "devices|version|get-state|get-serialno", ""),
    ("ollama", "list|ls|ps|show", ""),
    ("huggingface-cli hf", "whoami|scan-cache|env|version", ""),
    ("bazel bazelisk buck2", "query|cquery|aquery|info|version|help", ""),
    ("ansible-inventory ansible-doc ansible-lint ansible-config", "", "-i"),
    ("ansible-playbook", "--syntax-check|--list-tasks|--list-hosts|--check|-C", "-i -C"),
    ("packer", "validate|inspect|version", ""),
    ("sam", "validate|list", ""),
    ("cdk", "diff|list|ls|synth|doctor|version", ""),
    ("serverless sls", "info|print|--version", ""),
    # containers and clusters
    ("docker podman", "stack ls|ps|services,service ls|ps|inspect|logs,node ls|ps|inspect,plugin ls|inspect", "-f"),
    (
        "docker podman",
        "container stats|top|port|diff|ls|inspect|logs,image history|ls,secret ls,buildx du|inspect",
        "-f",
    ),
    ("skopeo", "inspect|list-tags", ""),
    ("crane", "ls|manifest|digest", ""),
    ("kubectl oc", "config view .,options,wait,kustomize,get --raw *", "-o -l -f --for --raw --filename"),
    ("kustomize", "build", ""),
    ("helm", "env,version,show", ""),
    ("terraform tofu", "graph,version,metadata functions", ""),
    ("pulumi", "stack ls,stack .,preview,about,whoami,version", ""),
    ("argocd", "app list|get|diff|history,cluster list,repo list,version", "-o"),
    ("flux", "get|check|logs|tree|stats|version|events", ""),
    ("istioctl", "version|analyze|proxy-status", ""),
    ("linkerd cilium", "check|stat|version|status", ""),
    ("velero eksctl kops", "get|version,backup get|describe", "-o"),
    ("stern", "", "-o"),
    # clouds
    ("aws", "logs tail|filter-log-events,configure list", "--log-group-name --filter-pattern --log-stream-names"),
    ("gcloud", "logging read", ""),
    ("gsutil", "ls|du|stat|version", ""),
    ("bq", "ls|show|head|version", ""),
    ("heroku", "logs,apps|ps|releases|status .,apps:info|pg:info|addons .", ""),
    ("fly flyctl", "status|logs|releases|version,apps list,regions list", ""),
    ("vercel", "ls|list|inspect|whoami|logs", ""),
    ("netlify", "status,sites:list", ""),
    ("wrangler", "whoami|tail,deployments list", ""),
    ("railway", "status|logs|whoami", ""),
    ("supabase", "status,projects list", ""),
    ("firebase", "projects:list|apps:list", ""),
    ("certbot", "certificates", ""),
    ("acme.sh", "--list", ""),
    # packages of the system
    ("apt-mark", "showhold|showmanual|showauto", ""),
    ("apt-file", "search|list|find|show", ""),
    ("apt-get apt", "-s|--simulate|--dry-run *", "-s"),
    ("dpkg", "--get-selections|--print-architecture|--print-foreign-architectures|--audit|--compare-versions", ""),
    ("dpkg dpkg-deb", "-c|-I|-V|--contents|--info|--verify *", "-c -I --info"),
    ("pacman", "-Q|-Qe|-Qi|-Ql|-Qo|-Qs|-Qm|-Qdt|-Qu|-Ss|-Si|-Qkk|-F *", "-Qe -Qi -Qo -Ss -Si -F -Qkk"),
    ("pacman", "-Q|-Qe|-Qi|-Qm|-Qdt|-Qu|-Qs .", "-Qe -Qi"),
    ("brew", "doctor|--prefix|--cellar|--version|config|leaves|home|tap .,services list|info,--prefix *", ""),
    ("port", "installed|contents|provides|outdated|search|info", ""),
    ("dnf yum", "history|check-update|provides .,module list,provides *", ""),
    ("snap", "changes|connections|services|known|info|find", ""),
    ("flatpak", "remotes|info|history|search", ""),
    ("equery xbps-query nix-store", "", "-l"),
    ("needrestart", "-b", ""),
    # windows and keys
    ("tmux", "capture-pane -p,list-keys|list-commands|show-options|info|has-session|display-message", "-p"),
    (
        "ip",
        "link|addr|address|a|l|r|route|neigh|n|rule|-s|maddr|tunnel .",
        "-br -brief -c -color -s -stats -d -details -o -oneline -j -json -p -pretty -r -resolve -f -family",
    ),
    ("route", ".", ""),
    ("ssh-add", "-l .", ""),
    ("ssh", "-V|-G|-Q", ""),
    ("svn", "status|st|log|info|diff|blame|list|ls|cat", ""),
    ("hg", "status|st|log|diff|heads|branches|tags|id|summary|annotate|cat|paths", ""),
    ("gh", "search", ""),
)


class _Row:
    """One row, ready to be asked."""

    __slots__ = ("fine", "forms")

    def __init__(self, forms: str, fine: str) -> None:
        self.forms = [[frozenset(word.split("|")) for word in form.split()] for form in forms.split(",")]
        self.fine = frozenset(fine.split()) | {one for form in self.forms for word in form for one in word}


_CLOSER: dict[str, Callable[[Sequence[str]], bool]] = {}


@cache
def _table() -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for programs, forms, fine in _ROWS:
        for program in programs.split():
            found.setdefault(program, []).append(_Row(forms, fine))
    return found


def only_looks(run: Run) -> bool:
    """Whether the command has one of the forms that need no question."""
    question = _QUESTIONS.get(run.name)
    if question is not None and not any(map(vague, run.words)) and question(run):
        return True
    rows = _table().get(run.name)
    if rows is None or any(map(vague, run.words)):
        return False
    words = [plain(word) for word in run.words]
    closer = _CLOSER.get(run.name)
    return any(_fits(row, words) for row in rows) and (closer is None or closer(words))


def _fits(row: _Row, words: Sequence[str]) -> bool:
    if any(word.startswith("-") and word not in row.fine and _does_more(word) for word in words):
        return False
    return any(_begins(form, words) for form in row.forms)


def _does_more(word: str) -> bool:
    if _BARRED_NAMES.match(word):
        return True
    return not word.startswith("--") and not _BARRED_LETTERS.isdisjoint(word[1:].partition("=")[0])


def _begins(form: Sequence[frozenset[str]], words: Sequence[str]) -> bool:
    """Whether the words begin so; options that the form does not name are passed over."""
    at = 0
    for told in form:
        if "." in told:
            return not any(_operand(word) for word in words[at:])
        while at < len(words) and not (words[at] in told or (_operand(words[at]) and "*" in told)):
            if _operand(words[at]):
                return False
            at += 1
        if at == len(words):
            return False
        at += 1
    return True


def _operand(word: str) -> bool:
    return not word.startswith("-") or word == "-"


def _plain_files(words: Sequence[str]) -> bool:
    """Names of files only: programs for pictures and sound read other things behind `x:` and `@`."""
    return not any(re.match(r"@|\w+:(?!//)|(?!https?:)\w+://", word) or "=" in word for word in words)


def _few_words(words: Sequence[str]) -> bool:
    return "then" not in words


def _public_paths(words: Sequence[str]) -> bool:
    return "--raw" not in words or words[-1] in {"/healthz", "/livez", "/readyz", "/metrics", "/version"}


_CLOSER.update(
    {
        **dict.fromkeys(("identify", "ffprobe", "ffmpeg", "exiftool", "sox"), _plain_files),
        "mlr": _few_words,
        "kubectl": _public_paths,
        "oc": _public_paths,
        "dasel": lambda words: not {"put", "delete"} & set(words),
    }
)


def _certificates(run: Run) -> bool:
    """`openssl req -noout`, and a look at a server's certificate with nothing to say to it."""
    words = [plain(word) for word in run.words]
    if any(word in {"-engine", "-provider", "-out", "-config", "-keyout", "-proxy", "-key", "-cert"} for word in words):
        return False
    if words[:1] == ["req"] or words[:1] == ["crl"]:
        return "-noout" in words and "-in" in words
    return words[:1] == ["s_client"] and run.stdin is not None and run.stdin.strip() in {"", "Q"}


def _graph(run: Run) -> bool:
    """`gh api graphql` with a question."""
    words = [plain(word) for word in run.words]
    if words[:2] != ["api", "graphql"] or {"-X", "--method", "--input"} & set(words):
        return False
    return any(word.startswith("query=") for word in words) and not any("mutation" in word for word in words)


_QUESTIONS: dict[str, Callable[[Run], bool]] = {
    "openssl": _certificates,
    "gh": _graph,
    "redis-cli": asks_redis,
    **dict.fromkeys(("sqlite3", "psql", "mysql", "mariadb", "duckdb"), asks_database),
}
