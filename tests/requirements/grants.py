"""Which tools an agent holds: names, toolboxes, the resolver, toolkits, access, and what explains them."""

from tests.requirements.rows import table

GRANTS = (
    table(
        "grants.md Words",
        """
        tool:declare:signature | A function's signature and docstring give name, words, schema, defaults and needs | house.md 3
        tool:declare:cautious | Without flags a tool writes, does not run beside others and is not destructive | seed 000
        tool:declare:refused | A tool without a docstring, or with an argument that has no type, is refused when declared | house.md 3
        tool:flags:never-grant | read_only, concurrency_safe and destructive change nothing about who holds a tool | seed 000
        registry:snapshot:immutable | A change of tools makes a new snapshot with a higher generation; the old one stays as it was
        registry:snapshot:run-keeps-its-own | A run in progress keeps the snapshot it started with
        registry:duplicate:refused | Two tools of one name are refused with both origins named, never silently replaced | decisions.md
        names:mcp:collision | A colliding mcp_<server>_<tool> name gets a short hash; mcp_<server>__<tool> is an alias | grants.md Names
        registry:catalogue:known-not-built | A catalogue name not built yet may stand in lists, is in no universe, and explain says so | issue 2
        registry:catalogue:complete | Every tool of the catalogue is built or known by name, with its aliases, family and place | catalogue.md
        """,
    )
    + table(
        "grants.md Names",
        """
        names:alias:before-lists | Aliases and groups resolve before any list: denying bash, exec or run_shell denies the same tool | rules 3.4(4)
        names:alias:ambiguous | An alias of two tools (send_message) must be qualified, and the answer names both | decisions.md
        names:case:insensitive | Names are matched without regard to case
        names:unknown:refused | An unknown name in a configuration is an error with the nearest names, and grants nothing | rules 3.1(2)
        names:cover:several | A foreign name for several tools (cron, browser, spawn) works in lists and cannot be called | catalogue.md
        names:group:seed-table | group:fs to group:goclaw hold the members of seed 004's table, in any list | seed 004
        names:group:per-registry | A dynamic group of one registry is not seen by another | rules 3.4(6)
        names:pattern:explicit | browser_* is a pattern entry; it never matches mcp_ or plugin_ names unless it starts so | decisions.md
        """,
    )
    + table(
        "seed 000",
        """
        toolbox:formula:union | An agent holds the core floor and every tool of each of its toolboxes that is in the universe
        toolbox:floor:sixteen | The floor is the sixteen names of seed 000, and has no web, memory, image or administration tool
    toolbox:assign:page | Toolboxes are assigned on the agent's Tools page | seed 000
        toolbox:floor:nothing-chosen | No toolbox, absent or empty, is the floor only
        toolbox:wildcard:native-and-custom | * adds every native tool and every custom tool that is enabled
        toolbox:wildcard:not-mcp | * never adds an MCP tool
        toolbox:wildcard:not-plugin | * never adds a plugin tool
        toolbox:wildcard:later-tools | * is expanded when resolving, so a tool added later is held at once | rules 3.1(3)
        toolbox:mcp:by-name | An MCP tool is granted by its exact name, group:mcp:<server> or group:mcp | grants.md 2
        toolbox:plugin:by-name-or-group | A plugin tool is granted by its exact name or by group:plugin:<name> | grants.md 2
        toolbox:named:uncurated | Naming a tool outside the curated boxes (create_agent, execute_sql) grants it
        toolbox:builtin:nine | all, research, ops, code, scout, email, calendar, address-book and configurator are there, complete
        toolbox:builtin:synced | Built-in toolboxes are brought in step with their definitions at every start
        toolbox:builtin:read-only | A built-in toolbox can be neither changed nor deleted
        toolbox:dangerous:not-curated | Dangerous tools stand in no curated box; only configurator and * name any of them | seed 001
        toolbox:exact:replaces-floor | An exact toolbox replaces the floor by the reply protocol and think | grants.md 2
        toolbox:scout:no-writes | An agent with the scout toolbox holds no tool that writes, spawns or scouts further | rules 3.1(5)
        toolbox:adding:never-removes | Adding a toolbox removes nothing, order does not matter, and resolving twice gives the same | grants.md Properties
        """,
    )
    + table(
        "grants.md The resolver",
        """
        resolve:universe:availability | A tool for main agents only is not in a sub-agent's universe, and the other way round
        resolve:universe:condition | A tool whose condition does not hold is not in the universe, and explain names the condition
        resolve:policy:identity | Without a policy the granted tools stay as they are | decisions.md
        resolve:policy:provider-profile | A provider's profile replaces the global one
        resolve:policy:seven-steps | Each of the seven profiles and allow lists narrows what was granted, and none of them adds | seed 004
        resolve:policy:four-profiles | full, minimal, coding and messaging hold what seed 004 says | seed 004
        resolve:allow:empty-nothing | An allow list that is absent is no rule; one that is there and empty lets nothing pass
        resolve:allow:empty-ignored | With empty_allow: ignore an empty allow list is no rule | decisions.md
        resolve:deny:global-and-agent | Global and agent deny lists take away
        resolve:also-allow:restores | also-allow restores what an allow list or a deny list removed
        resolve:also-allow:in-universe | also-allow cannot add what is not in the universe
        resolve:hard-deny:final | Nothing restores what the hard-deny list names
        resolve:sub-agent:excluded | Nothing, * included, gives a sub-agent a tool of the hard exclusion list
        resolve:sub-agent:denied | A sub-agent holds no gateway, session_status, sessions_send, whatsapp_login or cron tool
        resolve:sub-agent:keeps-reads | A sub-agent keeps memory and list_kins when its toolbox grants them | seed 001
        resolve:sub-agent:goclaw | The preset goclaw applies seed 004's two lists whole | seed 004
        resolve:sub-agent:leaf | At max_spawn_depth, 1 by default, the leaf deny list is taken away; above it a sub-agent may spawn
        resolve:escalation:self-spawned | A self-spawned task holds at most what its spawner held, and the reply protocol, at every depth
        resolve:escalation:other-agent | A task that runs as another agent holds at most what that agent holds
        resolve:escalation:frozen | A task's toolboxes are those of its row, whatever its agent is given later
        resolve:request-list:intersects | The request list narrows the issue last, and also-allow does not get round it
        resolve:request-list:empty | An empty request list means no tools | rules 3.4(5)
        resolve:request-list:reply-survives | A sub-agent keeps its reply protocol under any request list
        resolve:grants:temporary | An unexpired temporary grant adds its tools, an expired one none
        resolve:shown:limit | Tools beyond the model limit or token budget are deferred: not in the prompt, but callable
        resolve:shown:order | The shown list has the same order every time
        resolve:property:call-agrees | What a call is refused is exactly what the resolver does not issue | grants.md Properties
        resolve:property:reference | The resolver agrees with a separate reference evaluator over 2,000 random configurations | quality.md
        """,
    )
    + table(
        "grants.md Explain, lint, simulate",
        """
        explain:tool:deciding-step | explain names whether a tool is issued, the deciding step and the exact list or rule
        explain:tool:what-to-change | explain says what to change to get the other answer
        explain:all:agrees | explain agrees with the resolver for every tool on every random configuration | grants.md Properties
        lint:names:unknown | lint reports unknown names with suggestions
        lint:rules:shadowed | lint reports an allow that can never matter
        lint:toolbox:unused | lint reports toolboxes that nobody uses
        lint:agent:too-much | lint reports agents with more tools or prompt tokens than a bound
        lint:toolbox:risky-in-broad | lint reports a destructive or secret-reading tool in a broad toolbox
        lint:toolbox:deletion-in-use | Deleting a toolbox that is in use names the agents that would lose tools | rules 3.1(7)
        simulate:change:who | simulate says which agents gain and lose which tools, and changes nothing
        simulate:change:history | simulate says which recorded calls would now be refused
        suggest:agent:smallest | suggest gives the smallest toolbox that would have served an agent's recorded calls
        """,
    )
    + table(
        "rules 3.3",
        """
        toolkit:meta:only-when-allowed | The three toolkit tools are held only by agents with allowed_toolkits and a session | seed 003
        toolkit:list:shape | list_toolkits gives every allowed toolkit with description, tools, loaded and sticky | seed 003
        toolkit:load:conflict | The same tool with other overrides, anywhere in the whole set, is a conflict that names both | seed 003
        toolkit:load:identical-kept | The same tool with the same overrides, once normalised, is no conflict; the existing one stays | seed 003
        toolkit:load:failed-changes-nothing | A failed load changes no state | rules 3.3(2)
        toolkit:load:statuses | load_tools answers with the statuses and fields of the rule, checked in its order | rules 3.3(1)
        toolkit:change:next-request | Loading and unloading take effect on the next request of the session, never in the running one | seed 003
        toolkit:unload:statuses | unload_tools answers with the statuses and fields of the rule
        toolkit:initial:sticky | initial_toolkits are loaded when a session starts and cannot be unloaded | seed 003
        toolkit:state:persisted | The loaded set is kept per agent and session and survives a restart | seed 003
        toolkit:state:members-apart | Loading for one agent of a session does not load for another | seed 003
        toolkit:state:sanitised | Names no longer valid are dropped with a visible note; the rest keeps the order of the list | seed 003
        toolkit:config:checked | A toolkit configuration with unknown, doubled, not allowed or forbidden names is refused | rules 3.3(5)
        toolkit:prompt:block | The prompt block lists the catalogue, the loaded and the sticky toolkits | rules 3.3(6)
        """,
    )
    + table(
        "grants.md Temporary grants",
        """
        access:request:asks-a-person | A request names 1 to 25 known tools and a reason, waits for a person and grants nothing yet
        access:decide:subset | A person may grant a part of what was asked for | features 1B
        access:decide:lifetimes | A grant holds once, for a time, for the session or for good
        access:decide:who | It is recorded who granted it
        access:decide:once-only | A decided request cannot be decided again | rules 3.10(8)
        """,
    )
)

LATER = table(
    "grants.md",
    """
    resolve:one:every-door | Tasks, crons, triggers, webhooks, gateway, API and page ask the same resolver | grants.md
    toolkit:thread:room | A thread's session maps to its room | rules 3.3(7)
    toolbox:legacy:all | Agents older than toolboxes are migrated to all when imported | seed 001
    toolbox:default:spawn | A task, cron or new agent that names no toolboxes gets all; an explicit empty list the floor | rules 3.1(6)
    quick:session:fewer-tools | A quick session has no spawning, administration, channel sends or memory writes | rules 3.1(9)
    provider:cap:visible | The tool cap of a provider defers the rest and says so; it never cuts in silence | rules 3.1(10)
    """,
    deferred="later: agents, server and MCP",
)
