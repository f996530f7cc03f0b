"""The keys of an MCP server in toolcrib.yaml."""

from toolcrib.services.config.kinds import Each, Field, Flag, Many, Reserved, Seconds, Table, Whole, Word

_TEXTS = Each(Word(), "name", strict=False)
_OTHERS_KEYS = ("disabled", "autoApprove", "alwaysAllow", "description", "timeout")  # of other programs' mcp.json
_NOT_OURS = "belongs to another program and is not used"
MCP_SERVER = Table(
    (
        Field("command", Word(), "The program that is the server"),
        Field("args", Many(Word(), "texts"), "Its arguments", "[]"),
        Field("env", _TEXTS, "Its environment, over a small plain one; `{{secret:NAME}}` is filled in", "{}"),
        Field("cwd", Word(), "The folder that it is started in"),
        Field("url", Word(), "Where it is reached, for one that is not started here"),
        Field("type", Word(("stdio", "sse", "http", "streamable-http")), "How it is spoken to", "by command or url"),
        Field("headers", _TEXTS, "Headers of each request; `{{secret:NAME}}` is filled in", "{}"),
        Field("auth", Word(("none", "oauth")), "oauth: somebody signs in with `toolcrib mcp login`", "none"),
        Field("oauth", _TEXTS, "client_id, client_secret, scope, where it does not register by itself", "{}"),
        Field("sandbox", Flag(), "Whether a server that is started runs inside walls", "false"),
        Field("keep", Word(("shared", "user", "session")), "Who shares a session with it", "shared"),
        Field("at_once", Whole(1, 1000), "How many requests it works on at a time", "16"),
        Field("seconds", Seconds(most=3600), "How long a call may take", "60"),
        Field("trust_hints", Flag(), "Whether its readOnlyHint and destructiveHint are believed", "false"),
        Field("accept_new", Flag(), "Whether new tools of it are there without being looked at", "false"),
        Field(
            "flow",
            Many(Word(("private", "untrusted", "sends")), "labels"),
            "What its tools do with information",
            "[untrusted, sends]",
        ),
        *(Field(key, Reserved(_NOT_OURS), _NOT_OURS) for key in _OTHERS_KEYS),
    )
)
MCP = Table(
    (
        Field("require_grants", Flag(), "Whether an agent needs a grant beside its toolboxes", "false"),
        Field(
            "issuer", Word(), "The authorization server whose tokens the gateway takes, beside keys; needs server.url"
        ),
    )
)
