"""What agents work on: memory, web, channels, people, files, mini-apps, custom tools and the platform."""

from tests.requirements.rows import table

MEMORY = table(
    "catalogue.md 2E",
    """
    memory:recall:hybrid | recall finds by words and meaning, 10 by default, 20 at most
    memory:recall:superseded | Search returns active and superseded entries of a keyed memory | seed 002
    memory:memorize:keyed | With a key that is active a supersede_reason is required, and links old and new | seed 002
    memory:memorize:scope | A private memory is not found by another agent
    memory:forget:soft | A forgotten memory is hidden from search and inactive | seed 002
    memory:list:filters | list_memories filters by subject, category and scope
    memory:update | update_memory changes a memory
    memory:review:bounds | review_memories looks through up to 200 rows
    memory:get:document | memory_get reads lines of one memory document
    memory:team:scoped | A team's memories are its own | seed 002
    memory:types:six | A keyed memory has one of six types, and at most 50 are injected | rules 3.9(12)
    memory:index:on-write | A written .md memory is found by search | seed 004
    memory:search:fast | Hybrid search over 100,000 memories takes at most 10 ms, inside a team 2 ms | quality.md Speed
    search:fusion:weighted | Words and meaning are fused by weighted min-max scores, and an exact name wins | search.md
    search:without:embeddings | Without embeddings words alone are searched | search.md
    history:search:messages | search_history finds past messages, 10 by default, 30 at most
    history:browse:pages | browse_history pages by date, with long content cut and said
    history:read:message | read_message gives one message in full
    history:summaries:depth | list_summaries and read_summary show summaries with their depth
    knowledge:search:sources | search_knowledge and list_knowledge_sources work on uploaded documents
    skills:search:local | skill_search finds installed skills | seed 004
    skills:search:remote | search_skill_repository gives matches of 60 % and more, and never throws | seed 002
    """,
    deferred="later: memory",
)

CONTENT = table(
    "catalogue.md 2H to 2K",
    """
        browser:config:needed | Browser tools are there only with a browser configured | seed 002
        browser:snapshot:refs | browser_snapshot gives a tree with references that click and type take | seed 002
        browser:ssrf:forwarded | The browser reaches no internal address, and keeps to allowed_domains | seed 002
        browser:tools:eight | The eight browser tools work against a local site | seed 002
        browser:sessions:own | Sessions, cookies and saved states are kept apart
        screenshot:url | screenshot_url gives a picture of a page | seed 001
        channel:send:retried | send_channel_message tries three times, and other agents' sends have a prefix
        channel:create:inactive | A channel is created inactive, at most five per agent
        channel:activate:state | Activating an active channel is an error, as is the other way round
        channel:sender:unknown | An unknown sender waits for approval with up to 10 messages kept | rules 3.10(11)
        channel:chats:allowed | A chat that is not allowed is ignored | rules 3.10(11)
        channel:owner:changes | Only the owner changes, deletes and activates a channel | rules 3.10(11)
        channel:topic:telegram | create_forum_topic works on Telegram only
        channel:topic:only-list | A topic's list of tools narrows its requests | seed 004
        channel:contact:ambiguous | send_to_contact names up to five candidates when unsure
        channel:matrix:real | A Matrix channel works against a real server | quality.md Proofs
        channel:kinds:six | telegram, discord, slack, whatsapp, signal and matrix have adapters
        contact:identifier:exact | find_contact_by_identifier matches label and value exactly
        contact:crud | Contacts are made, changed, found and deleted
        contact:note:scopes | There is one note per agent and scope
        stored-file:sources | store_file takes text, base64, a URL or a workspace file
        stored-file:limits | A link may have a password, an end and burn after reading
        stored-file:crud | Stored files are shown, listed, searched, changed and deleted
        image:models:inputs | list_image_models gives maxImageInputs, and an empty list says why | seed 001
        image:model:described | describe_image_model gives the parameters without image inputs | seed 001
        image:generate:errors | Too many inputs and bad parameters come back as tool errors | seed 001
        image:read | read_image describes a picture | seed 004
        media:read-and-make | Documents, audio and video can be described, audio and video made
        voice:speech:providers | text_to_speech has four providers, and lists them and their voices | seed 004
        voice:transcribe | transcribe_audio gives text
        email:tools:real | The mail tools work against a real server | quality.md Proofs
        calendar:tools:real | The calendar tools work against a real server | quality.md Proofs
        address-book:read-only | The address book tools read from a real server and never write | quality.md Proofs
        mini-app:create:bounds | Mini-apps have a kebab slug, 20 per agent; template beats files beats html
        mini-app:files:bounds | Files stay inside the app, within 5 MB and 50 MB, and each write raises the version
        mini-app:files:edits | edit and multi_edit of mini-app files behave as those of files | seed 001
        mini-app:storage:bounds | Keys, values and their number are bounded
        mini-app:snapshot:rollback | A rollback makes a backup first; snapshots are pruned at 20 | rules 3.10(9)
        mini-app:console:running | The console is there for a running app only
        mini-app:sdk:permissions | The app's own interface is limited and wants permissions | rules 3.10(9)
        mini-app:gallery | Templates, documentation, gallery and icons are there
        canvas:nodes:named | canvas and nodes do what their parents define
        """,
    deferred="later: content",
) + table(
    "rules 3.10(5)",
    """
        custom:slug:fixed | A slug has its form and never changes; the tool is custom_<slug>
        custom:files:own-folder | Files stay below the tool's own folder
        custom:languages:seven | python, node, bun, typescript, bash, sh and deno scripts run
        custom:io:json | Arguments come as JSON on stdin and in the environment; stdout is JSON or text
        custom:setup:once | run_custom_tool_setup installs requirements or packages
        custom:timeout:clamped | Timeouts are 30 s by default and clamped from 1 s to 300 s | seed 001
        custom:output:capped | Output is capped at 256 kB
        custom:test:result | test_custom_tool gives success, output, error, exit code and time
        custom:disabled:said | A call of a disabled custom tool says that it is disabled | rules 3.1(11)
        custom:template:one-pass | A value that holds a placeholder is never substituted again | rules 3.10(6)
        custom:template:quoted | Values are quoted; an unknown placeholder is an error, an absent optional empty | rules 3.10(6)
        custom:template:deny | A template's command goes through the same deny rules | decisions.md
        custom:env:encrypted | The environment of a template is kept encrypted | seed 004
        custom:scope:agent | A per-agent tool is seen by its agent, and may not shadow a built-in one | rules 3.10(6)
        custom:reload:live | A changed custom tool works without a restart | seed 004
        custom:domains:in-use | A domain in use cannot be deleted, a built-in one not changed | catalogue.md 2L
        custom:name:alias | A bare name of a template is an alias when it is free | decisions.md
        """,
    deferred="later: custom tools and plugins",
)

PLATFORM = table(
    "catalogue.md 2M",
    """
    platform:config:redacted | get_platform_config hides secrets
    platform:config:allow-list | update_platform_config changes listed keys only
    platform:restart:confirmed | restart_platform needs confirmed
    platform:logs:bounded | get_platform_logs filters, 200 lines at most
    platform:sql:rows | execute_sql gives at most 500 rows
    platform:health:ordered | get_setup_health gives a list of fixes in order
    platform:info | get_system_info says what runs where
    platform:gateway:admin | gateway and its actions are administration
    provider:lists | list_providers and list_models show what is there, by capability
    provider:setup:no-key | request_provider_setup asks a person; no key passes the model
    provider:defaults | Default models and providers are shown and set
    provider:capability | enable_provider_capability adds one to an existing key | seed 000
    prompt:global:read-write | The global prompt is shown and set | seed 000
    avatar:style:tools | Avatar style, subject and base are managed | seed 000
    configurator:box:onboards | One agent with the configurator box sets the platform up | seed 000
    project:tools:optional | Projects, tickets, comments, attachments and project knowledge work
    retention:everything:bounded | Whatever grows is bounded and pruned, and says so | product.md Manners
    """,
    deferred="later: platform",
)
