"""What a configuration says, as values: the parts that core's policy does not know already."""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.policy import AgentRules, Names, Policy, Toolbox, Toolkit
from toolcrib.services.http import Network
from toolcrib.services.mcp.servers import Server as McpServer
from toolcrib.services.web import SearchRules


class CallRule(Struct, frozen=True, kw_only=True):
    """A rule about calls. The first one that fits a call decides for it."""

    name: str  # where it stands: rules[0]
    tool: str  # a tool, an alias, a group or a pattern
    action: str  # ask, deny or allow
    where: Mapping[str, str] = {}  # argument: pattern; every one of them must fit
    why: str = ""


class ShellRule(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A rule about one program in shell commands. Of the rules that fit, the strictest decides, wherever it stands.

    `arguments` has a glob for each argument, in order; `**` at the end stands for any more of them; without
    `arguments` any will do. An `allow` takes away what the product's own table would ask about that one command. It
    takes away no denial, nothing that is said of a redirection or of another command, and it fits no argument whose
    text is not known before it runs, unless `**` stands for it.
    """

    program: str
    decision: str  # allow, ask or deny
    arguments: Names | None = None
    why: str = ""
    match: Names = ()  # commands that the rule has to decide: checked when the configuration is read
    not_match: Names = ()  # commands that it must leave alone


class AgentShell(Struct, frozen=True, kw_only=True):
    """What holds for one agent's commands. Empty: what holds for all."""

    security: str = ""
    ask: str = ""


class ShellRules(Struct, frozen=True, kw_only=True):
    """Which commands run, beside the rules about programs."""

    security: str = "allowlist"  # deny, allowlist or full
    ask: str = "on-miss"  # off, on-miss or always
    env: Names = ()  # variables of ours that commands see
    background: int = 5  # processes in the background, an agent and session
    agents: Mapping[str, AgentShell] = {}

    def of(self, agent: str) -> tuple[str, str]:
        """Security and ask as they hold for an agent."""
        own = self.agents.get(agent)
        return (self.security, self.ask) if own is None else (own.security or self.security, own.ask or self.ask)


class Sandbox(Struct, frozen=True, kw_only=True):
    """The walls that commands run inside of. `agents` has what is different for single agents."""

    mode: str = "all"  # all, non-main or off
    access: str = "rw"  # rw, ro or none
    scope: str = "session"  # session, agent or shared
    memory: int = 512  # megabytes
    cpus: float = 1.0
    processes: int = 128
    network: bool = False
    seconds: float = 300.0
    host_seconds: float = 60.0
    background_seconds: float = 3600.0
    unsafe_host: bool = False
    image: str = ""
    agents: Mapping[str, Mapping[str, object]] = {}

    def of(self, agent: str) -> "Sandbox":
        """The same as it holds for an agent."""
        return replace(self, **own) if (own := self.agents.get(agent)) else self


class Limits(Struct, frozen=True, kw_only=True):
    """How much, how long and how often."""

    rate: int = 0  # calls an hour and session; 0 is no limit
    tools: Mapping[str, int] = {}  # the same for one tool
    agents: Mapping[str, int] = {}  # the same for one agent, all of its sessions together
    hosts: Mapping[str, int] = {}  # the same for one host; "*" is each that is not named
    result: int | None = None  # characters of a result that a model sees
    seconds: Mapping[str, float] = {}  # how long a tool may run
    at_once: int = 10  # calls of one batch that run together


class AgentFlow(Struct, frozen=True, kw_only=True):
    """The same for one agent. No mode: the one that holds for all."""

    mode: str = ""
    destinations: Names = ()


class FlowRules(Struct, frozen=True, kw_only=True):
    """What happens when a session that read private data and strangers' words wants to send something out."""

    mode: str = "ask"  # ask, off or deny
    agents: Mapping[str, AgentFlow] = {}
    tools: Names = ()  # never asked about
    destinations: Names = ()  # hosts that are never asked about


class VaultRules(Struct, frozen=True, kw_only=True):
    """Where the vault's key is, and whether an agent may read a secret."""

    key: str = "file"  # file or keyring; a variable of the environment goes before either
    key_file: str = ""  # a file in the home folder unless given
    reveal: str = "always"  # always, ask or never


class ApprovalRules(Struct, frozen=True, kw_only=True):
    """What happens to a call that a person has to agree to, when nobody sits there."""

    mode: str = "refuse"  # refuse: it is refused and names its request; wait: it waits for the answer
    seconds: float = 7 * 86_400.0  # how long a request can be answered
    code_seconds: float = 120.0  # the same for commands and programs
    by: Names = ()  # who may answer; "requester" is the user of the call; () is anybody


class UndoRules(Struct, frozen=True, kw_only=True):
    """How much is kept of what calls changed."""

    days: int = 30
    megabytes: int = 512


class Server(Struct, frozen=True, kw_only=True):
    """Where the server listens, and to whom."""

    host: str = ""
    port: int | None = None
    auth: str = ""  # on or off
    url: str = ""  # how people reach it, where that differs: https://crib.example.org
    hosts: Names = ()  # other names by which it is reached


class McpRules(Struct, frozen=True, kw_only=True):
    """What holds for all MCP servers."""

    require_grants: bool = False  # a toolbox that names their tools is not enough
    issuer: str = ""  # of tokens that clients of the gateway may show


class SubAgents(Struct, frozen=True, kw_only=True):
    """What a configuration changes in the lists for sub-agents. None keeps the list as it comes."""

    preset: str = ""  # "" or "goclaw"
    deny: Names | None = None
    leaf_deny: Names | None = None


class Config(Struct, frozen=True, kw_only=True):
    """A whole configuration that was read and found sound in form. `check_names` finds what its names do not mean."""

    agents: Mapping[str, AgentRules] = {}
    toolboxes: Mapping[str, Toolbox] = {}
    toolkits: Mapping[str, Toolkit] = {}
    policy: Policy = Policy()
    sub_agents: SubAgents = SubAgents()
    rules: tuple[CallRule, ...] = ()
    shell_rules: tuple[ShellRule, ...] = ()
    shell: ShellRules = ShellRules()
    sandbox: Sandbox = Sandbox()
    confirm: Names = ()  # effects that ask first, as core.tool.Effect calls them
    limits: Limits = Limits()
    flow: FlowRules = FlowRules()
    network: Network = Network()
    search: SearchRules = SearchRules()
    vault: VaultRules = VaultRules()
    approvals: ApprovalRules = ApprovalRules()
    undo: UndoRules = UndoRules()
    server: Server = Server()
    servers: tuple[McpServer, ...] = ()  # mcpServers
    mcp: McpRules = McpRules()
    audit: str = ""
    workspace: str = ""
    deny_paths: Names = ()
    store: str = ""
    scrub_env: Names = ()  # environment variables whose values are secret
    notes: tuple[Problem, ...] = ()  # what is known and not used
    lines: Mapping[str, int] = {}  # place: line
    source: str = "toolcrib.yaml"

    def line(self, where: str) -> int:
        """The line of a place, or of the nearest place around it; 0 if there is none."""
        while where and where not in self.lines:
            where = where[: max(where.rfind("."), where.rfind("["), 0)]
        return self.lines.get(where, 0)

    def refusal(self, problems: Iterable[Problem]) -> BadConfig:
        """These problems with their lines, in order."""
        placed = [replace(problem, line=self.line(problem.where)) for problem in problems]
        return BadConfig(sorted(placed, key=lambda problem: problem.line), self.source)
