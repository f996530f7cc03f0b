"""How one call runs: the pipeline, batches, lanes, idempotency, the record, and the stores that keep it."""

from tests.requirements.rows import table

CALLS = (
    table(
        "calls.md The way of a call",
        """
        call:find:unknown-nearest | An unknown tool is unknown_tool, with the nearest issued names
        call:find:by-alias | A call by an alias runs the canonical tool
        call:issued:reason | A tool not issued is not_issued with the reason that explain gives
        call:issued:what-to-do | The refusal names the toolkit to load, or says that a catalogue tool is not built yet
        call:validate:eight | invalid_args lists up to 8 problems with path and what was expected; the tool has not run
        call:validate:bad-json | Unparseable JSON arguments are invalid_args with a text to correct them by
        call:validate:strict | Types are not coerced, and extra fields are refused | issue 2
        call:validate:bounded | Huge or deeply nested arguments and NUL bytes are refused in bounded time | issue 2
        call:validate:every-source | Arguments of custom, MCP and plugin tools are validated like native ones | features 1A
        rate:session:refused | Over the limit a call is rate_limited with retry_after; failing calls were counted too | rules 3.2(4)
        rate:session:parents | A sub-agent's call counts on its own and its parent's session | rules 3.2(5)
        rate:session:none | A caller without a session is limited too | rules 3.2(5)
        rate:tool:own-limit | A tool may have its own limit, and a limit of 0 is off | features 1E
        rate:host:limit | Calls are limited per target host
        rate:agent:limit | An agent may be limited over all of its sessions | issue 3
        guard:verdict:allow-ask-deny | A guard allows, asks or denies, and its rule is named in the answer and the record
        guard:broken:refuses | A guard that breaks refuses the call | quality.md Proofs
        guard:ask:approval-required | A call that must be approved is approval_required and has not run
        guard:flow:asks | A sending tool in a session with untrusted content and private data asks first
        flow:destination:exceptions | The flow rule and its exceptions are configurable per agent and destination
        flow:question:shows | The question says how much would leave, where to, and what was taken in | issue 3
        flow:labels:kept | What a session took in is kept before the tool runs, and outlives a restart
        hook:before-and-after | A before-hook sees the checked arguments and may refuse; an after-hook sees the result
        run:timeout:coded | A tool over its time is ended with the code timeout
        run:cancel:coded | A cancelled call is answered as cancelled and recorded
        run:context:given | A tool gets agent, user, session, channel, chat, workspace, depth and cancellation of its own call
        run:context:concurrent | One tool object serves concurrent calls without mixing their contexts | seed 004
        run:function:plain | A plain function works as a tool beside async ones | product.md
        error:shape:four-fields | A failure is error with code, message, hint and retryable
        error:internal:no-trace | A bug in a tool is internal with a reference to the log, and no trace reaches the model
        error:codes:all-shown | Every refusal code of the pipeline has a case | quality.md Proofs
        result:parts:four | A result carries text for the model, text for the person, attachments and structured content
        result:size:spilled | A result over the limit is kept whole; the model gets head, tail and how to read the rest
        result:size:read-result | read_result pages through a kept result, for its own caller only, and is never cut | rules 3.2(7)
        scrub:values:every-edge | A registered value is scrubbed from both texts, structured content, error and record | seed 004
        scrub:values:before-rendering | Values are scrubbed before JSON escapes them | house.md 5
        """,
    )
    + table(
        "calls.md Batches",
        """
        batch:order:kept | Results come back in the order of the calls
        batch:safe:fuses | A maximal run of consecutive concurrency_safe calls runs as one parallel batch
        batch:safe:cap | At most 10 calls run at once, and the number is configurable
        batch:other:alone | Every other call runs alone, in order; read_only and destructive change nothing
        batch:cancel:every-id-answered | After a cancel every call id has an answer
        batch:failure:others-run | A failed call of a batch does not stop the others
        lane:daily:cap | Daily operations of a team run together up to max_concurrent_daily_ops, 5 by default
        lane:org:drains | An org operation stops admissions, waits, runs alone, one at a time; nothing running is aborted | rules 3.9(3)
        once:key:replayed | A call with a known idempotency key returns the recorded result and does not run again
        once:key:other-arguments | The same key with other arguments is refused
        once:key:concurrent | Of two calls with one key at once, one runs
        """,
    )
    + table(
        "calls.md Record",
        """
        record:every-call:one | Every call has one record: done, refused, failed and cancelled ones
        record:fields:complete | A record has who, what, scrubbed arguments, verdicts, duration, size, code and approval
        record:kill:nothing-lost | A kill leaves no torn row and a chain that verifies; unfinished calls show as interrupted | quality.md Proofs
        audit:chain:verifies | Each entry holds the hash of the one before, and audit verify passes on an untouched store
        audit:chain:one-byte | After one byte of the store is changed, audit verify fails and names the first broken entry | issue 2
        audit:chain:removed-or-swapped | A removed, swapped or cut-off entry is found | issue 2
        audit:chain:two-writers | Two processes that write to one store make one chain | issue 2
        audit:commit:grouped | A call waits for no disk flush, unless audit is strict: then its record is durable first | issue 2
        audit:filter:fields | Entries can be filtered by agent, tool, session, status and time | page.md
        """,
    )
    + table(
        "issue 2 Stores",
        """
        store:contract:inprocess | The in-process store passes the contract suite
        store:contract:sqlite | The SQLite store passes the contract suite
        store:contract:postgres | The PostgreSQL store passes the contract suite
        store:migrate:from-first | A fresh database is migrated from the first table, and a second start changes nothing
        store:trouble:sentence | A newer store, an unwritable folder and a file that is no database are one clear sentence each
        store:busy:coded | A locked database is a coded, retryable error, and nothing is lost
        """,
    )
    + table(
        "calls.md",
        """
        undo:files:restores | undo of a file call restores what it changed, or says exactly why it cannot
        undo:kept:restores | undo restores to-do lists, toolboxes, loaded toolkits and context files
        undo:undo:undone | An undo is on record and can be undone
        undo:outside:marked | A call that leaves the product is marked as not undoable before it runs
        approval:bound:exact | An approval is bound to the exact arguments; a changed argument is a new request
        approval:durable:restart | An approval request survives a restart, and the policy is checked again on resume
        approval:always:pattern | Allow always keeps a pattern that a person sees and can edit
        approval:timeout:denies | No answer in time is a deny: 2 minutes for shell, 7 days for durable ones | decisions.md
        """,
    )
)

LATER = (
    table(
        "calls.md",
        """
        secret:placeholder:filled | {{secret:NAME}} is filled in after the guards, for allowed tools and hosts only
        secret:placeholder:filters | {{secret:NAME|base64}} and |urlencode work; an unknown name fails closed | rules 3.10(12)
        secret:known:scrubbed-encoded | Every known secret value is scrubbed raw and encoded from every result
        secret:get:setting | Whether get_secret returns the value is a setting
        """,
    )
    + table(
        "calls.md",
        """
        undo:stores:restores | undo restores memories, contacts, toolboxes, crons and other kept things
        """,
        deferred="issue 3: guards",
    )
    + table(
        "calls.md",
        """
        record:metrics:prometheus | Calls are counted in metrics
        record:span:opentelemetry | A call makes an OpenTelemetry span when configured
        record:event:live | A call makes a live event
        """,
        deferred="issue 4: server and page",
    )
    + table(
        "features 1E",
        """
        loop:same-call:warned | The same tool with the same arguments and result is warned of after 3 and stopped after 5 times
        steps:turn:cap | A turn has a step cap and a time cap
        tools:model:cap | The tool cap of model and provider is known | features 1E
        """,
        deferred="later: agents and teams",
    )
)
