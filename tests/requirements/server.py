"""The server: start, sign-in, HTTP API and page; and MCP both ways."""

from tests.requirements.rows import table

SERVER = (
    table(
        "issue 4",
        """
        up:fresh:one-link | up makes its environment, starts the server and prints one link with a first-run token | product.md The two commands
        up:loopback:default | It binds to loopback, and refuses another address while sign-in is off | product.md Defaults
        up:warm:fast | A warm start answers /readyz within 2.5 s, and idles under 160 MiB and 2 % CPU | quality.md Speed
        up:stop:clean | Ctrl-C and SIGTERM drain and end within seconds; a restart goes on where it stopped | product.md Manners
        up:trouble:sentence | A used port, an unwritable home or a lost key is one sentence with what to do | issue 4
        auth:route:closed | Every route is denied unless it says who may | issue 4
        auth:admin:first-run | The first visit by the one-time link makes the admin | issue 4
        auth:keys:scopes | API keys have scopes and expire | issue 4
        auth:roles:three | Admin, operator and viewer may do what their role says | issue 4
        auth:login:throttled | Guessing passwords is throttled | issue 4
        auth:oidc:extra | Single sign-on works by OIDC | issue 4
        auth:csrf:checked | A form post without its token is refused | issue 4
        users:invite:link | create_invitation makes a link that expires | catalogue.md 2I
        users:list:read | list_users and get_user show people without their secrets | catalogue.md 2I
        api:openapi:checked-in | The OpenAPI 3.1 document is generated and checked in | product.md
        api:problem:json | Errors are problem+json | issue 4
        api:paging:cursor | Lists page by cursor | issue 4
        api:key:idempotent | Idempotency-Key makes a post safe to repeat | issue 4
        api:etag:edits | An edit of an older version is refused | issue 4
        api:events:resume | The event stream resumes by event id | issue 4
        api:schemathesis:clean | schemathesis finds nothing with all checks | quality.md Proofs
        api:health:metrics | /healthz, /readyz and /metrics answer | product.md
        docker:compose:valid | The container files are valid and do not run as root | issue 4
        """,
    )
    + table(
        "product.md The two commands",
        """
        demo:runs:alone | demo runs without key and network, shows approve, deny, sub-agent, memory, audit, and exits 0 | product.md
        test:fresh:python-only | ./toolcrib test installs what it needs and runs everything on a machine with only Python
        """,
        deferred="issue 4: server and page",
    )
    + table(
        "issue 4",
        """
        """,
        deferred="issue 4: server and page",
    )
    + table(
        "page.md",
        """
        page:agents:tools-tab | Ticking a toolbox shows the resolved tools at once, with the box that granted each
        page:tools:form | A tool can be called from a form made from its schema, through every guard
        page:toolboxes:simulate | Who gains and loses what is shown before a toolbox is saved
        page:toolboxes:compare | Toolboxes can be compared
        page:approvals:inbox | The inbox shows the exact call, why it asks and what it would change
        page:approvals:keyboard | Approvals are answered by keyboard, with an editable pattern for always
        page:record:live | The record is live, filtered, exportable and verifiable
        page:record:undo | A call can be undone from its record
        page:explain:matrix | An agent by tool matrix says why for each cell
        page:vault:unasked | The vault never shows a value unasked
        page:setup:next | The set-up list says what to do next
        page:fragment:whole | Every fragment is also a whole page without HX-Request
        page:axe:clean | axe finds nothing on any page, light, dark and phone width
        page:keyboard:all | Every page works by keyboard alone and without console errors
        page:empty:first-step | The empty state of each page offers the first step
        page:offline:vendored | No page asks another host for anything, and own scripts stay under 15 KB
        page:tick:fast | A tick shows the new preview within 150 ms | quality.md Speed
        """,
    )
    + table(
        "page.md",
        """
        page:tasks:tree | Tasks are shown by group and priority, each with its tree and messages
        page:teams:board | The org tree and the task board are shown
        page:rest | MCP servers, custom tools, plugins, mini-apps, channels, triggers, memory, contacts and files have pages
        """,
        deferred="issue 4: server and page",
    )
    + table(
        "quality.md Proofs",
        """
        load:streams:flat | 200 clients and 50 agents for 10 minutes: no error but documented refusals, flat memory
        config:doors:all | What toolcrib.yaml can define can be done on the page and by the API as well | product.md
        """,
        deferred="issue 4: server and page",
    )
)

MCP = (
    table(
        "seed 004 section 12",
        """
        mcp:transport:three | Servers are reached by stdio, SSE and streamable HTTP
        mcp:era:both | Both protocol eras work, for clients and for servers | product.md
        mcp:health:thirty-seconds | Servers are checked every 30 s, and method not found on ping counts as healthy | rules 3.10(7)
        mcp:reconnect:backoff | Reconnection backs off from 2 s to 60 s, ten times, then fails visibly
        mcp:groups:dynamic | The groups mcp and mcp:{server} follow the connected servers
        mcp:grant:agent-required | An agent grant is required; a user grant only narrows | rules 3.10(7)
        mcp:grant:deny-first | Filters go by original names, deny first | rules 3.10(7)
        mcp:grant:user-lists | A user's allow and deny lists have effect | rules 3.10(7)
        mcp:access:transaction | Approving an access request makes the grant in the same transaction, once
        """,
    )
    + table(
        "issue 5",
        """
        mcp:pending:by-agent | A server added by an agent is pending_approval and not connected | seed 001
        mcp:approved:change-revokes | A changed command, argument, environment or URL revokes the approval | rules 3.10(7)
        mcp:environment:minimal | A stdio server gets a minimal environment, not the whole process's | rules 3.10(7)
        mcp:pins:changed-quarantined | A tool with changed words or schema is quarantined alone, with a diff | gateway.md
        mcp:import:dialects | mcp import reads both dialects of mcp.json
        mcp:config:clients | mcp config prints what to paste for claude, cursor, vscode and codex
        mcp:session:kept | Sessions are kept per server and identity, never made per call | gateway.md
        mcp:session:stale | A stale session is made again and the call tried once more | gateway.md
        mcp:bad-server:bounded | Endless, broken, huge and lying servers are bounded, and others do not notice
        mcp:tools:many | 5,000 tools, two of one name, and one named like a native tool are handled
        gateway:hanging:isolated | A downstream that hangs at start does not hide the others' tools for more than 1 s | gateway.md
        gateway:recover:two-seconds | A restarted server and a killed child are back within 2 s | gateway.md
        gateway:catalogue:first | The last known tools are served at once and refreshed behind | gateway.md
        gateway:kill:each-answered | After a kill of a downstream each call has an answer, and none ran twice
        gateway:agent:http-and-stdio | /mcp/<agent> and toolcrib mcp serve exactly the agent's issue
        gateway:enforced:list-and-call | A grant is enforced at list and at call, with the revision in the record | gateway.md
        gateway:passes:seventeen | All seventeen rows of the pass-through matrix pass, in both eras | gateway.md
        gateway:list-changed:grants | list_changed follows upstream changes and changes of grants | gateway.md
        gateway:approval:elicited | An approval appears as elicitation where the client can, and on the page always
        gateway:names:budget | Long names are shortened by hash, and policy keeps the original identity | gateway.md
        gateway:body:decides | The parsed body decides; a header that differs is refused | gateway.md
        gateway:oauth:resource | The gateway is OAuth-protected when sign-in is on | product.md
        gateway:conformance:green | Every scored conformance scenario of both eras is green | quality.md Proofs
        gateway:npm:unchanged | The npm reference servers go through unchanged | quality.md Proofs
        gateway:list:fast | tools/list of 1,000 tools takes at most 5 ms after the first | quality.md Speed
        gateway:search:held-only | Search in the gateway stays inside the visible set | gateway.md
        gateway:rate:is-error | A rate limit answers as a tool result with a time to retry | gateway.md
        mcp-tools:four | add, update, remove and list_mcp_servers work as the catalogue says | catalogue.md 2L
        """,
    )
    + table(
        "issue 5",
        """
        gateway:speed:figure | At most 2.5 times the p50 of a bare pass-through, at least 25 % of its throughput | quality.md Speed
        """,
        deferred="issue 5: MCP",
    )
)
