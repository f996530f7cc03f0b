"""The deep guards of the next issue: shell, sandbox, approvals, network, scrubbing, vault, flow and plugins' code."""

from tests.requirements.rows import table

GUARDS = (
    table(
        "issue 3",
        """
        approval:answers:four | A request can be accepted, edited, answered or ignored
        approval:terms | An approval holds once, for the session, for a time or always
        approval:bound:guard | What a guard binds a yes to is looked at again before the call runs | guards.md 2
        approval:requester:other | Who may decide is configurable, and a call that is not a person's is refused | rules 3.5(6)
        approval:shown:redacted | Arguments in a request are redacted, and refused when they cannot be shown | rules 3.5(6)
        approval:doors:built | Approvals are answered by callback, library and command line
        approval:doors | Approvals are answered by callback, command line and page
        approval:unknown:error | Answering an unknown or resolved request is an error | rules 3.5(2)
        """,
    )
    + table(
        "guards.md 2",
        """
        shell:parsed:not-matched | Commands are parsed; what is not understood is asked about, never allowed
        shell:verdict:span-and-rule | A verdict names the span, the rule and what would be allowed
        shell:words:evaluated | Quotes, variables, braces and pure substitutions are evaluated before judging
        shell:wrappers:recursed | sh -c, eval, env, xargs, find -exec, heredocs and inline code are looked into
        shell:deny:seed-categories | The seven deny categories of seed 004 are refused by default | seed 004
        shell:deny:evasions | rm -Rf, rm -vrf, base64 --decode into sh and eval substitutions are stopped | rules 3.5(4)
        shell:allow:no-over-block | rm -f x, dig and host are not refused by the default rules | rules 3.5(4)
        shell:limits:ask | Over 60 kB, 3,000 nodes or depth 12 the answer is ask
        shell:paths:worst-case | Globs in path arguments count as the worst file they could be
        shell:rules:own | Admins add allow, ask and deny rules with examples that are checked at load | issue 3
        shell:figure:stopped | At least 98 % of dangerous commands and 99.5 % of proven evasions are stopped | guards.md 8
        shell:figure:everyday | No everyday command is denied, and 98 % of read-only ones run unasked | guards.md 8
        shell:figure:fast | Verdicts are within 2 ms at p99, and 1 MB of input within 50 ms | guards.md 8
        shell:allow-always:segments | Allow always judges each segment of a chain, never the first binary alone | rules 3.5(3)
        shell:allow-always:not-shells | Allow always is never kept for shells and inline code | rules 3.5(3)
        run-shell:tail:capped | run_shell gives the tail of up to 30 kB, 30 s by default, 600 s at most | catalogue.md 2A
        run-shell:env:allow-list | A command sees an allow-listed environment | features 1F
        process:actions | process lists, polls, reads, writes to and kills background processes | catalogue.md 2A
        shell:mode:security | security deny, allowlist and full decide with ask off, on-miss and always as GoClaw's table | rules 3.5(1)
        approval:bound:executable | An approval binds directory, environment and executable, re-checked before the start | guards.md 2
        sandbox:host:never-silent | Nothing falls back to the host without unsafe_host, and that shows in the record | rules 3.5(5)
        sandbox:config:modes | Modes off, non-main and all; access none, ro and rw; scope session, agent and shared | rules 3.5(5)
        sandbox:time:limits | Host commands end after 60 s and sandboxed ones after 300 s by default | seed 004
        """,
    )
    + table(
        "guards.md 3",
        """
        sandbox:start:order | bubblewrap, then Landlock and seccomp, then Docker when configured, else a clear refusal
        sandbox:checks:fifteen | Fifteen containment checks pass as root and as an unprivileged user | guards.md 8
        sandbox:bomb:contained | A fork bomb and a 2 GB allocation are contained | guards.md 8
        sandbox:orphans:killed | Nothing that a command started outlives it
        sandbox:workspace:protected | Hooks, start-up files and tool settings inside the workspace are not writable
        """,
    )
    + table(
        "guards.md 8",
        """
        sandbox:start:fast | A sandbox starts within 8 ms at p50 | guards.md 8
        """,
        deferred="a figure of `toolcrib bench sandbox`; a busy machine would fail a test of it",
    )
    + table(
        "guards.md 4",
        """
        net:address:every-spelling | No spelling of an internal address is reached | quality.md Proofs
        net:address:pinned | The address checked is the address connected to, every answer of the look-up included
        net:redirect:each-hop | Each redirect is checked again; credentials are dropped on a new host
        net:public:not-refused | No public address is refused | guards.md 8
        net:url:strict | Credentials in URLs, odd schemes and control characters are refused | quality.md Proofs
        net:domains:lists | Domain lists per agent and tool are enforced | seed 002
        net:limits:size-time | A response is bounded in size and time, compressed ones too | issue 3
        cli:check:url | check url gives a verdict per line by the functions that the client uses | product.md
        net:tls:name | A certificate is checked against the name, though the connection goes to the checked address
        net:config:lines | A wrong entry of network or search is refused with its line | product.md Manners
        http-request:limits | http_request has 30 s by default, 120 s at most, and a body cap | catalogue.md 2H
        web-fetch:bucket | rate_limit_key uses the team's bucket; an unknown key adds no limit | seed 002
        web-search:providers | web_search asks the agent's provider | seed 001
        web-search:fallback | A search provider that fails is followed by the next, and the answer says so | stack.md
        web-search:key-hidden | A search key shows in no result, error, record or printed configuration | issue 3
        browse-url:untrusted | What browse_url brings is marked as untrusted | catalogue.md 2H
        extract-links:filter | extract_links lists links by pattern | catalogue.md 2H
        """,
    )
    + table(
        "guards.md 1",
        """
        scrub:seed:families | The eight static families of seed 004 are scrubbed | seed 004
        scrub:seed:headers | Authorization headers and JSON token fields are scrubbed too | rules 3.2(6)
        scrub:dynamic:encodings | A known value is found in eight encodings, always | guards.md 8
        scrub:stream:equal | For any chunking the output equals that of one pass | guards.md 8
        scrub:benign:untouched | Hashes, ids, lock files and certificates are not changed | guards.md 8
        scrub:recall:figure | Recall is at least 92 % over all and 99.5 % on provider tokens | guards.md 8
        scrub:false:figure | At most 1.5 % of benign rows change | guards.md 8
        scrub:only:the-secret | Only the secret is taken, and its placeholder shows equality
        scrub:edit:restored | A placeholder written back by an edit is restored | issue 3
        scrub:logs:too | Logs, events and errors are scrubbed like results | seed 002
        scrub:data:named | Data whose name makes it a secret is scrubbed in structured results | guards.md 1
        scrub:edit:unknown | A placeholder that stands for nothing known is refused in a write | issue 3
        scrub:bounds:whole | A secret longer than a window, or broken by a terminal, is taken whole | guards.md 1
        scrub:benign:stream | At most 3 redactions a MB of benign output, none in lock files and certificates | guards.md 8
        scrub:threads:safe | Values come and go while other threads scrub | issue 3
        cli:check:secrets | check secrets gives a verdict per line and prints no secret | product.md
        """,
    )
    + table(
        "guards.md 8",
        """
        scrub:speed:figure | Scrubbing does 20 MB/s with the whole rule set | guards.md 8
        """,
        deferred="a figure of `toolcrib bench scrub`; a busy machine would fail a test of it",
    )
    + table(
        "guards.md 7",
        """
        vault:envelope:bound | Values are encrypted under row-bound keys; swapped, renamed and rolled-back rows are refused
        vault:key:modes | A key file with a wide mode, a symlink or a foreign owner is refused
        vault:key:lost | A lost key is a clear error, and no new empty vault
        vault:rotate:resumable | Rotation re-wraps keys only, can be resumed, and does 10,000 within 1 s | guards.md 8
        vault:get:fast | Getting a value takes at most 50 us | guards.md 8
        vault:get:feeds-scrubber | A value is known to the scrubber before it is returned
        vault:tools:create | create_secret refuses an existing key; update_secret changes it | catalogue.md 2F
        vault:tools:is-secret | vault_set cannot overwrite and vault_delete rejects an is_secret row | seed 002
        vault:tools:list-no-values | Lists and searches never show secret values | seed 002
        vault:tools:class | Setting a secret row is an org operation | decisions.md
        vault:tools:delete-absent | Deleting an absent key answers deleted false | catalogue.md 2F
        vault:entries:types | Structured entries have built-in and own types, with attachments up to 50 MB | seed 001
        vault:prompt:never-to-model | A value entered at prompt_secret goes to the vault and never to the model | seed 000
        vault:scope:team | A vault is scoped to its team | seed 002
        """,
    )
    + table(
        "guards.md 7",
        """
        vault:redact:copies | redact_message blacks out a text and its derived copies | catalogue.md 2F
        """,
        deferred="later: conversations that can be redacted",
    )
    + table(
        "rules 3.9(11)",
        """
        plugin:scan:found | At least 98 % of bad code is found at no more than 15 % refusals of good code | guards.md 8
        plugin:scan:error | A finding has code, pattern, line, redacted line and remedy | seed 002
        plugin:scan:secrets | Hard-coded secrets are refused as SECRET_DETECTED | seed 002
        plugin:name:reserved | The name of a built-in tool is refused as reserved | seed 002
        plugin:verify:three | Syntax, interface and security are each reported | seed 002
        plugin:run:sandboxed | Registered code runs in the sandbox, never in the host process | guards.md 6
        plugin:audit:code-hash | Each plugin call logs the hash of its code | seed 002
        plugin:scope:team | A plugin tool is seen by its own team only | seed 002
        plugin:manage:tools | Installing, enabling, disabling and removing plugins is guarded administration | seed 001
        """,
        deferred="later: custom tools and plugins",
    )
)
