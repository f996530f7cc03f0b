"""Every key of toolcrib.yaml, with its kind, its default and what it is for. The reference is made from this table."""

from typing import Any

from toolcrib.services.config.kinds import (
    Checked,
    Each,
    Either,
    Field,
    Flag,
    Many,
    Name,
    Number,
    Reserved,
    Seconds,
    Table,
    ToolEntry,
    Whole,
    Word,
)
from toolcrib.services.config.nodes import Kind
from toolcrib.services.config.servers import MCP, MCP_SERVER

NAMES = Many(Name(), "names")
TOOLS = Many(Name(), "tools, groups and patterns")
ENTRIES = Many(ToolEntry(), "tools")
ALLOW = "absent: no rule; []: nothing passes"

# MindRoom's keys of an agent that belong to running it. They may stay in the file; a note says that they do nothing.
_ELSEWHERE = (
    "display_name", "model", "instructions", "minimal_instructions", "rooms", "skills", "skill_learning",
    "include_default_tools", "accept_invites", "access", "markdown", "learning", "learning_mode", "memory_backend",
    "memory_search", "memory", "knowledge_bases", "thread_mode", "room_thread_modes", "worker_tools", "worker_scope",
    "sandbox_tools", "allow_self_config", "delegate_to", "num_history_runs", "num_history_messages",
    "compress_tool_results", "compaction", "max_tool_calls_from_history", "max_tool_calls_per_turn",
    "show_tool_calls", "thread_exports", "participation", "mid_turn", "private", "file_access",
    "credential_managers",
)  # fmt: skip
_LATER = (
    "triggers", "crons", "webhooks", "channels", "providers", "models", "teams", "plugins",
    "custom_tools", "users", "memory", "browser", "hooks",
)  # fmt: skip


def _reserved(keys: tuple[str, ...], why: str = "is not used by this version") -> tuple[Field, ...]:
    return tuple(Field(key, Reserved(why), why) for key in keys)


_BY_PROVIDER = Table((Field("allow", TOOLS, "Only these, with this provider", ALLOW),), short="allow", bare=True)
_TOOLKIT = Table(
    (
        Field("description", Word(), "What the agent reads before it loads the toolkit"),
        Field("tools", ENTRIES, "Its tools; one may carry settings of its own", "[]"),
    )
)

AGENT = Table(
    (
        Field("description", Word(), "What the agent is for"),
        Field("role", Word(), "The same; `description` wins"),
        Field("toolboxes", NAMES, "The toolboxes it holds; none is the core floor only", "[]"),
        Field("tools", ENTRIES, "Tools it holds beside its toolboxes", "[]"),
        Field("allow", TOOLS, "Only these pass", ALLOW),
        Field("deny", TOOLS, "These are taken away", "[]"),
        Field("also_allow", TOOLS, "These are given back after the lists above", "[]"),
        Field("by_provider", Each(_BY_PROVIDER, "provider", strict=False), "Allow lists by model provider", "{}"),
        Field("allowed_toolkits", NAMES, "Toolkits it may load while it works", "[]"),
        Field("initial_toolkits", NAMES, "Those of them that are loaded from the start and stay", "[]"),
        Field("max_spawn_depth", Whole(0, 10), "How deep its sub-agents may spawn", "policy.max_spawn_depth"),
        Field("tool_limit", Whole(1, 10_000), "How many tools its model is shown", "policy.tool_limit"),
        Field("tool_tokens", Whole(1, 10_000_000), "How many prompt tokens its tools may cost", "policy.tool_tokens"),
        Field("workspace", Word(), "The folder its file tools work in", "workspace"),
        Field("deny_paths", NAMES, "Paths in the workspace that it neither sees nor opens", "[]"),
        Field(
            "context_files",
            Either(Reserved("lists files of another system and is not used"), Word(("open", "predefined"))),
            "Where its context files are kept: with each user, or with the agent",
        ),
        Field("rate", Whole(), "Calls an hour and session; 0 is no limit", "limits.rate"),
        *_reserved(_ELSEWHERE, "belongs to the agent's own loop and is not used by this version"),
    ),
    short="toolboxes",
    bare=True,
)

_PROVIDER = Table(
    (
        Field("profile", Word(), "Its profile, instead of the global one"),
        Field("allow", TOOLS, "Only these pass with this provider", ALLOW),
    ),
    bare=True,
)
_GROUP = Table((Field("allow", TOOLS, "Only these pass in this group", ALLOW),), short="allow", bare=True)
_SUB_AGENTS = Table(
    (
        Field("preset", Word(("default", "goclaw")), "Whose lists to begin with", "default"),
        Field("deny", TOOLS, "Instead of the preset's deny list", "the preset's"),
        Field("leaf_deny", TOOLS, "Instead of the preset's list for the deepest level", "the preset's"),
    )
)

POLICY = Table(
    (
        Field("profile", Word(), "full, coding, messaging or minimal: only its tools pass"),
        Field("allow", TOOLS, "Only these pass", ALLOW),
        Field("deny", TOOLS, "These are taken away from everybody", "[]"),
        Field("also_allow", TOOLS, "These are given to everybody after the lists above", "[]"),
        Field("hard_deny", TOOLS, "These are taken away, and nothing gives them back", "[]"),
        Field("providers", Each(_PROVIDER, "provider", strict=False), "Rules by model provider", "{}"),
        Field("groups", Each(_GROUP, "group", strict=False), "Allow lists by channel group", "{}"),
        Field("sub_agents", _SUB_AGENTS, "What sub-agents never hold"),
        Field("max_spawn_depth", Whole(0, 10), "How deep sub-agents may spawn; 1: they do not", "1"),
        Field("tool_limit", Whole(1, 10_000), "How many tools a model is shown; the others are found by search"),
        Field("tool_tokens", Whole(1, 10_000_000), "How many prompt tokens tools may cost"),
        Field(
            "empty_allow",
            Word(("nothing", "ignore")),
            "What an empty allow list means: nothing passes, or no rule",
            "nothing",
        ),
    )
)

_RULE = Table(
    (
        Field("tool", Name(), "The tool, group or pattern that it is about"),
        Field(
            "where",
            Each(Word(), "argument", strict=False),
            "Patterns that the arguments must fit, such as {path: 'src/*'}",
            "{}",
        ),
        Field(
            "action",
            Word(("ask", "deny", "allow")),
            "What happens to a call that fits; the first rule that fits decides",
        ),
        Field("why", Word(), "What the person who is asked, or the agent that is refused, reads"),
    )
)

_SHELL_RULE = Table(
    (
        Field(
            "decision", Word(("allow", "ask", "deny")), "What happens to a command that fits; the strictest rule wins"
        ),
        Field("program", Word(), "The program's name, or a pattern; never a folder"),
        Field(
            "arguments",
            Either(Many(Word(), "patterns"), Word()),
            "A pattern for each argument, as a list or as words; `**` at the end is any more of them",
            "any",
        ),
        Field("why", Word(), "What the person who is asked, or the agent that is refused, reads"),
        Field("match", Many(Word(), "commands"), "Commands that the rule has to decide, checked at load", "[]"),
        Field("not_match", Many(Word(), "commands"), "Commands that it must leave alone, checked at load", "[]"),
    )
)


def _no_own(names: Any) -> str:  # noqa: ANN401 - a value of a configuration
    own = next((name for name in names if name.startswith("TOOLCRIB_")), "")
    return f"{own} is Toolcrib's own, and commands do not get it." if own else ""


_VARIABLES = Checked(NAMES, _no_own)
_SECURITY = Field(
    "security",
    Word(("deny", "allowlist", "full")),
    "Which commands may run at all: none, those that are known or agreed to, or any that is not denied",
    "allowlist",
)
_ASK = Field(
    "ask",
    Word(("off", "on-miss", "always")),
    "When a person is asked: never, about what is not known, or each time",
    "on-miss",
)
SHELL = Table(
    (
        Field("rules", Many(_SHELL_RULE, "rules"), "Rules about programs in shell commands", "[]"),
        _SECURITY,
        _ASK,
        Field(
            "env", _VARIABLES, "Variables of Toolcrib's own environment that commands see, beside the plain ones", "[]"
        ),
        Field("background", Whole(0, 100), "How many background processes an agent may have in a session", "5"),
        Field("agents", Each(Table((_SECURITY, _ASK)), "agent"), "What holds for single agents instead", "{}"),
    ),
    short="rules",
    bare=True,
)

_DAY = 86_400.0
_WALLS: tuple[Field, ...] = (
    Field(
        "mode",
        Word(("all", "non-main", "off")),
        "Whose commands run inside walls: all, all but those of main agents in no channel, or none",
        "all",
    ),
    Field("access", Word(("rw", "ro", "none")), "What a command may do to the workspace", "rw"),
    Field("scope", Word(("session", "agent", "shared")), "Who shares what outlives a command", "session"),
    Field("memory", Whole(16, 1_048_576), "Megabytes that a command may use", "512"),
    Field("cpus", Number(0.1, 256), "Processors that a command may use", "1"),
    Field("processes", Whole(4, 32_768), "Processes that a command may have at a time", "128"),
    Field("network", Flag(), "Whether a command reaches the network", "false"),
    Field("seconds", Seconds(most=_DAY), "How long a command inside walls may take", "300"),
    Field("host_seconds", Seconds(most=_DAY), "How long a command outside of walls may take", "60"),
    Field("background_seconds", Seconds(most=7 * _DAY), "How long a background process may run", "3600"),
    Field("unsafe_host", Flag(), "Whether commands that `mode` leaves outside may run on this machine", "false"),
)
SANDBOX = Table(
    (
        *_WALLS,
        Field("image", Word(), "A Docker image for walls, where bubblewrap and Landlock are not there"),
        Field("agents", Each(Table(_WALLS, word="mode"), "agent"), "What holds for single agents instead", "{}"),
    ),
    word="mode",
)

LIMITS = Table(
    (
        Field("rate", Whole(), "Calls an hour and session; 0 is no limit", "0"),
        Field("tools", Each(Whole(), "tool", strict=False), "The same for single tools", "{}"),
        Field("agents", Each(Whole(), "agent"), "The same for single agents, all of their sessions together", "{}"),
        Field(
            "hosts",
            Each(Whole(), "host", strict=False),
            "The same for single hosts; '*' is each that is not named",
            "{}",
        ),
        Field(
            "result",
            Whole(500, 10_000_000),
            "Characters of a result that a model sees; the rest is kept to read on",
            "16000",
        ),
        Field("seconds", Each(Seconds(), "tool", strict=False), "How long a tool may run", "the tool's own"),
        Field("at_once", Whole(1, 100), "How many calls of one batch run together", "10"),
    )
)

_MODE = Word(("ask", "off", "deny"))
_AGENT_FLOW = Table(
    (
        Field("mode", _MODE, "Another mode for this agent", "flow.mode"),
        Field("destinations", NAMES, "Hosts that this agent may send to unasked, beside those of all", "[]"),
    ),
    word="mode",
)
FLOW = Table(
    (
        Field("mode", _MODE, "When a session that read private data and strangers' words wants to send", "ask"),
        Field("agents", Each(_AGENT_FLOW, "agent"), "What holds for single agents: a mode, or the keys below", "{}"),
        Field("tools", TOOLS, "Tools that are never asked about", "[]"),
        Field("destinations", NAMES, "Hosts that may be sent to unasked: example.com, *.example.com", "[]"),
    )
)

DOMAINS = Many(Name(), "domains")
_BUCKET = Table(
    (
        Field("calls", Whole(1), "How many requests"),
        Field("seconds", Seconds(), "In how long a time", "60"),
    )
)
NETWORK = Table(
    (
        Field("allow", DOMAINS, "Only these domains: a name, or *.name for all names below it", ALLOW),
        Field("agents", Each(DOMAINS, "agent"), "For single agents, only these of them", "{}"),
        Field("tools", Each(DOMAINS, "tool", strict=False), "For single tools, only these of them", "{}"),
        Field(
            "allow_private",
            Many(Name(), "hosts"),
            "What is reached though it is not public: a host, host:port, an address, or a block such as 10.0.0.0/8",
            "[]",
        ),
        Field("buckets", Each(_BUCKET, "bucket"), "How often the hosts behind a rate_limit_key are asked", "{}"),
    )
)

_PROVIDER_OF_SEARCH = Table(
    (
        Field("kind", Word(("searxng", "brave", "tavily", "serper", "ddgs")), "Which search service it is"),
        Field("slug", Word(), "Its name here", "its kind"),
        Field("url", Word(), "Where it answers; searxng needs one", "the service's own"),
        Field("key", Word(), "Its key, best as ${VARIABLE}"),
    )
)
SEARCH = Table(
    (
        Field(
            "providers",
            Many(_PROVIDER_OF_SEARCH, "providers"),
            "Who is asked: searxng first, then those with a key, then ddgs, until one answers",
            "[]",
        ),
        Field("agents", Each(Name(), "agent"), "The provider that an agent asks first, by its slug", "{}"),
    )
)

VAULT = Table(
    (
        Field(
            "key",
            Word(("file", "keyring")),
            "Where the key is, unless TOOLCRIB_VAULT_KEY or ..._PASSPHRASE is set",
            "file",
        ),
        Field("key_file", Word(), "The key file", "vault/key in the home folder"),
        Field("reveal", Word(("always", "ask", "never")), "Whether get_secret gives an agent the value", "always"),
    )
)
_LONG = Seconds(most=366 * 86_400)
APPROVALS = Table(
    (
        Field(
            "mode", Word(("refuse", "wait")), "Whether a call that asks is refused, or waits for the answer", "refuse"
        ),
        Field("seconds", _LONG, "How long a request can be answered; then it is a no", "604800"),
        Field("code_seconds", _LONG, "The same for calls that run commands or programs", "120"),
        Field("by", NAMES, "Who may answer; `requester` is the user of the call", "anybody"),
    ),
    word="mode",
)
UNDO = Table(
    (
        Field("days", Whole(1, 3650), "How long a call can be undone", "30"),
        Field("megabytes", Whole(1, 1_000_000), "How much may be kept for it; the oldest goes first", "512"),
    )
)

SERVER = Table(
    (
        Field("host", Word(), "The address it listens on", "127.0.0.1"),
        Field("port", Whole(0, 65_535), "The port; 0 takes a free one", "8765"),
        Field("auth", Either(Flag(), Word(("on", "off"))), "off: no sign-in, which only loopback allows", "on"),
        Field("url", Word(), "How people reach it where that differs, such as https://crib.example.org"),
        Field("hosts", NAMES, "Other host names by which it is reached", "[]"),
    )
)

FIELDS: tuple[Field, ...] = (
    Field("agents", Each(AGENT, "agent"), "The agents: what each is granted, and what narrows it", "{}"),
    Field(
        "toolboxes",
        Each(
            Table(
                (
                    Field("description", Word(), "What it is for"),
                    Field("tools", TOOLS, "What it grants", "[]"),
                    Field("exact", Flag(), "Replaces the core floor by the reply protocol and `think`", "false"),
                ),
                short="tools",
            ),
            "toolbox",
        ),
        "Named allow-lists, beside the built-in ones",
        "{}",
    ),
    Field("toolkits", Each(_TOOLKIT, "toolkit"), "Groups of tools that agents load and unload", "{}"),
    Field("policy", POLICY, "Rules that hold for every agent"),
    Field("rules", Many(_RULE, "rules"), "Rules about single calls, in order", "[]"),
    Field("shell", SHELL, "What shell commands may do, beside the built-in tables"),
    Field("sandbox", SANDBOX, "The walls that commands run inside of"),
    Field("confirm", Many(Word(("destructive", "write")), "effects"), "Calls that a person has to allow", "[]"),
    Field("limits", LIMITS, "How much, how long and how often"),
    Field("flow", FLOW, "What may leave after private and untrusted reading"),
    Field("network", NETWORK, "Which hosts the web tools reach, and how often"),
    Field("search", SEARCH, "Who searches the web; without a provider there is no web_search"),
    Field("vault", VAULT, "Where the key of the vault is, and who may read a secret"),
    Field("approvals", APPROVALS, "What happens to a call that a person has to allow, when nobody sits there"),
    Field("mcpServers", Each(MCP_SERVER, "server"), "MCP servers whose tools agents may be given", "{}"),
    Field("mcp", MCP, "What holds for all MCP servers"),
    Field("undo", UNDO, "How much is kept to undo calls"),
    Field("server", SERVER, "Where `toolcrib up` listens, and to whom"),
    Field("audit", Word(("grouped", "strict")), "strict: a call waits until its record is on the disk", "grouped"),
    Field("workspace", Word(), "The folder that file tools work in", "where the program was started"),
    Field("deny_paths", NAMES, "Paths in every workspace that no agent sees or opens", "[]"),
    Field("store", Word(), "sqlite:///path or postgresql://...", "toolcrib.db in the home folder"),
    Field(
        "scrub",
        Table((Field("env", NAMES, "Environment variables whose values are never shown", "[]"),)),
        "Secrets that results are cleaned of, beside those that are recognised",
    ),
    *_reserved(_LATER),
)

ROOT: Kind = Table(FIELDS, bare=True)
