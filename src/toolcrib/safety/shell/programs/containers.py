"""Containers, clusters and clouds: looking is free; the machine outside is never opened."""

import re

from toolcrib.safety.shell.marks import SECRET, UNKNOWN, plain
from toolcrib.safety.shell.names import names
from toolcrib.safety.shell.run import Handle, Run
from toolcrib.safety.shell.writing import note_write

_LOOKS = frozenset(
    names(
        "ps images logs inspect version info stats top port diff history search events ls list df context",
        "config help --version -v volume:ls network:ls image:ls container:ls container:logs container:inspect",
        "image:inspect volume:inspect network:inspect system:df system:info compose:ps compose:logs",
        "compose:config compose:ls compose:images compose:top compose:version buildx:ls buildx:version",
        "manifest:inspect compose:port builder:ls context:ls",
    )
)
_ESCAPES = re.compile(
    r"--privileged|--pid[= ]host|--ipc[= ]host|--userns[= ]host|--uts[= ]host|--cap-add[= ](?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|DAC_READ_SEARCH|all|sys_admin)|"
    r"docker\.sock|containerd\.sock|seccomp[=:]unconfined|apparmor[=:]unconfined|--device[= ]/dev/(?:sd|nvme|mem|kmsg|vd)|"
    r"(?:-v|--volume)[= ]?/(?:(?:etc|root|proc|sys|boot|dev)(?:/\S*)?|(?:home|var|usr|var/lib|var/run|run)/?)?:|"
    r"(?:source|src)=/(?:(?:etc|root|proc|sys|boot|dev)(?:/[^,\s]*)?|(?:home|var|usr)/?)?,|--volumes-from|(?:-v|--volume)[= ]?~?/?(?:\.ssh|\.aws)"
)


def docker(run: Run) -> str | None:
    """`docker`, `podman`, `nerdctl`."""
    told = " ".join(plain(word) for word in run.words)
    words = [plain(word) for word in run.operands("-H --host --context -f -p --project-name --file -c")]
    verb = words[0] if words else "help"
    pair = ":".join(words[:2])
    if verb in {"run", "exec", "create", "container", "compose"} and _ESCAPES.search(told):
        run.deny("namespace", f"{run.name} would open the machine outside to the container")
    if (verb in _LOOKS or pair in _LOOKS) and not run.has("-H", "--host"):
        return UNKNOWN
    if verb in {"run", "exec"}:
        _inner(run, verb)
    run.ask(f"container:{verb}", f"{run.name} {verb} starts, changes or removes containers")
    return UNKNOWN


def _inner(run: Run, verb: str) -> None:
    """A command in a container is judged for what it would send; what it removes is the container's own."""
    told = " ".join(plain(word) for word in run.words)
    if re.search(r"/dev/tcp/|\bnc\b.*\s-e\b|(?:curl|wget)\b[^|]*\|\s*(?:ba|z|da)?sh\b", told):
        run.deny(
            "network-shell" if verb == "exec" else "downloaded-code",
            "the container would run what comes from the network",
        )


_PAIRS = frozenset(
    (
        *(f"config {word}" for word in ("current-context", "get-contexts", "get-clusters", "get-users")),
        *(f"rollout {word}" for word in ("status", "history")),
        *(f"state {word}" for word in ("list", "show")),
        *(f"repo {word}" for word in ("list",)),
        *(f"workspace {word}" for word in ("list", "show")),
        "auth can-i",
        "plugin list",
        "dependency list",
    )
)


def cluster(run: Run) -> str | None:
    """`kubectl`, `oc`, `helm`, `terraform`."""
    words = [
        plain(word) for word in run.operands("-n --namespace --context -o --output -l --selector -f -c --kubeconfig")
    ]
    verb = words[0] if words else "help"
    told = " ".join(plain(word) for word in run.words)
    if re.search(r"hostPID|hostNetwork|\"?privileged\"?\s*:\s*true|hostPath|nsenter", told):
        run.deny("namespace", "it would open the machine outside to the container")
    looks = {
        "get",
        "describe",
        "logs",
        "version",
        "cluster-info",
        "plan",
        "diff",
        "explain",
        "api-resources",
        "api-versions",
        "top",
        "list",
        "ls",
        "status",
        "history",
        "search",
        "show",
        "template",
        "lint",
        "validate",
        "fmt",
        "providers",
        "help",
        "output",
    }
    if "--version" in run.words[:1]:
        return None
    if made := run.after("-out", "-state-out"):
        note_write(run.machine, made, run.scope)
    if verb == "debug" and any(word.startswith(("node/", "nodes/", "no/")) for word in words[1:]):
        run.deny("namespace", "it would open a shell with the whole machine of a node in view")
    if re.search(r"\bsecrets?\b", " ".join(words[1:])) or "--raw" in told or "/api" in told:
        run.ask("credential", "it would show secrets of the cluster")
        return UNKNOWN + SECRET
    if verb not in looks and " ".join(words[:2]) not in _PAIRS:
        run.ask(f"cluster:{verb}", f"{run.name} {verb} changes other machines")
    return UNKNOWN


def cloud(run: Run) -> str | None:
    """`aws`, `gcloud`, `az`: looking is free, credentials are not."""
    words = [
        plain(word) for word in run.operands("--region --profile --output --query --project -o -g --resource-group")
    ]
    told = " ".join(words)
    if re.search(
        r"secret|get-session-token|export-credentials|print-access-token|print-identity|get-login-password|get-access-token|"
        r"get-parameter|access-keys|list-keys|assume-role|key show|credential|decrypt",
        told,
    ):
        run.ask("credential", "it would show credentials of the cloud")
        return UNKNOWN + SECRET
    looks = (
        "list",
        "describe",
        "get",
        "ls",
        "show",
        "head",
        "--version",
        "version",
        "info",
        "status",
        "lookup",
        "sts get-caller",
    )
    if words and any(word.startswith(looks) for word in words[1:3]) and "cp" not in words and "delete" not in told:
        return UNKNOWN
    if run.has("--version", "--help") or not words:
        return None
    run.ask("cloud", f"{run.name} {' '.join(words[:2])} changes something elsewhere")
    return UNKNOWN


def machine(run: Run) -> str | None:
    """Virtual machines and other containers."""
    verb = plain((run.operands() or ["list"])[0])
    if run.name == "systemd-nspawn" and plain(run.after("-D", "--directory") or "") == "/":
        run.deny("namespace", "it would bring the whole machine into view")
    if _ESCAPES.search(" ".join(plain(word) for word in run.words)) or "security.privileged=true" in run.words:
        run.deny("namespace", "it would open the machine outside to the container")
    if verb not in {"list", "ls", "status", "info", "version", "show", "-v", "--version"}:
        run.ask("container", f"{run.name} starts, changes or removes machines")
    return UNKNOWN


HANDLES: dict[str, Handle] = {
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose", "buildah", "crictl", "ctr"), docker),
    **dict.fromkeys(
        ("kubectl", "oc", "helm", "terraform", "tofu", "k9s", "kustomize", "minikube", "kind", "k3s", "pulumi"), cluster
    ),
    **dict.fromkeys(
        ("aws", "gcloud", "az", "doctl", "heroku", "fly", "flyctl", "vercel", "netlify", "wrangler", "firebase"), cloud
    ),
    **dict.fromkeys(
        ("lxc", "lxd", "incus", "virsh", "vagrant", "multipass", "qemu-system-x86_64", "systemd-nspawn", "machinectl"),
        machine,
    ),
}
