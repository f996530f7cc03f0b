"""The families built first: files, thinking, discovery, toolboxes; and the doors: library, command line, configuration."""

from tests.requirements.rows import table

FILES = (
    table(
        "catalogue.md 2A",
        """
        read-file:text:range | read_file gives lines from offset, up to limit and 2,000 lines, and says how to read on
        read-file:pdf:text | read_file gives the text of a PDF | seed 001
        read-file:unfit:refused | A binary file, and one over 10 MB (2 GB included), is refused with what it is
        read-file:utf16:decoded | UTF-16 and UTF-8 with a BOM are read as text | issue 2
        write-file:new-and-over | write_file creates and overwrites; missing folders only with createDirectories
        write-file:atomic | A write replaces the file whole or not at all | issue 2
        edit-file:exact:once | oldText must match exactly once, or replaceAll be set; else the number is said, nothing changed
        edit-file:literal | Replacement is literal: $& and $1 mean themselves | rules 3.6(4)
        edit-file:line-ends:kept | Line ends, BOM and final newline survive an edit | issue 2
        edit-file:not-found:said | oldText that is not there is refused and says so | rules 3.6(4)
        multi-edit:sequential | 1 to 50 edits, each works on the result of the one before
        multi-edit:all-or-nothing | A failed edit changes nothing and gives failedEditIndex
        list-directory:depth | Recursion goes 3 deep by default and at most 10
        list-directory:pattern | A glob pattern filters; version control and build folders are skipped
        glob:finds | glob finds files by pattern, and is not part of the core floor
        grep:modes:three | grep gives content, files_with_matches and count | seed 001
        grep:options | Context lines, line numbers, multiline and case_insensitive do what they say | seed 001
        grep:limit:said | Results are cut at max_results, 100 by default and at most 500, and the cut is said
        grep:engines:agree | ripgrep and the own fallback give the same answers | issue 2
        grep:files:chosen | Ignore files are respected, hidden and binary files skipped, UTF-16 and CRLF searched rightly | issue 2
        grep:pattern:bad | A bad pattern is a coded error
        """,
    )
    + table(
        "guards.md 5",
        """
        path:parent:refused | .. and absolute paths that leave the workspace are refused
        path:symlink:refused | No symbolic link leads outside the workspace, dangling ones included | rules 3.6(1)
        path:hard-link:refused | A file with a second hard link is refused | rules 3.6(1)
        path:odd:refused | NUL bytes, devices and FIFOs are refused; ~ and %2e are plain names
        path:race:none | A symlink swapped in during the call does not open a way out
        path:fallback:same | Without openat2 the walk by folder handles refuses the same
        path:deny:hidden | A denied prefix is refused as restricted, and not seen in listings, glob and grep | seed 004
        path:workspace:by-caller | Each call works in its caller's workspace | seed 004
        path:workspace:gone | A workspace that vanished is a coded error | issue 2
        path:disk:full | A full disk is a coded error, and the old file stays | issue 2
        """,
    )
    + table(
        "seed 004 section 3",
        """
        routing:context:seven | The seven context files at the workspace root come from the store | rules 3.6(3)
        routing:context:open | An open agent's files are per user, with the agent's as fallback
        routing:context:predefined | Of a predefined agent only USER.md is per user
        routing:context:bootstrap | An empty write to BOOTSTRAP.md deletes it
        routing:context:root-only | A file of the same name below the root is an ordinary file | rules 3.6(3)
        routing:memory:user-first | MEMORY.md, memory.md and memory/* come from the user's documents, then the global ones
        routing:memory:indexed | Writing a .md memory asks for it to be indexed
        """,
    )
    + table(
        "catalogue.md 2B, 2D",
        """
        think:no-effect | think takes up to 8,000 characters and changes nothing
        todos:replace | task_todos replaces the whole list of up to 30, with at most one in progress
        list-tools:filters | list_tools shows the catalogue of all four sources, by query, domain and source
        search-tools:ranking | An exact name comes first, then names, words and domains | search.md
        search-tools:held-only | search_tools finds only what the caller holds | gateway.md
        search-tools:shows | A deferred tool that was found is shown from the next request on | grants.md 10
        explain-tool:answers | explain_tool says why the asking agent holds a tool or not
        toolbox-tools:list | list_toolboxes shows built-in and own toolboxes
        toolbox-tools:create | create_toolbox makes one; TOOLBOX_NAME_REQUIRED and TOOLBOX_NAME_TAKEN are refused
        toolbox-tools:unknown-tool | A toolbox with an unknown tool name is refused with suggestions
        toolbox-tools:update | update_toolbox sets tools, or adds and removes; tools wins over both | rules 3.1(7)
        toolbox-tools:delete | delete_toolbox wants confirm true; TOOLBOX_NOT_FOUND is refused
        """,
    )
)

DOORS = (
    table(
        "product.md The doors",
        """
        library:ten-lines | Ten lines define a tool, restrict an agent, show a refused call and a scrubbed result | issue 2
        library:no-database | Crib, tool, issue and call work without a database, a model and a configuration file
        library:schemas:formats | crib.schemas gives tools for openai, anthropic, gemini and mcp
        library:adapter:pydantic-ai | A crib mounts in pydantic-ai as a toolset
        library:adapter:openai-agents | A crib mounts in the OpenAI Agents SDK
        library:adapter:langchain | A crib mounts in LangChain
        library:import:light | Importing toolcrib loads no heavy part
        cli:tools:json | tools --json lists each tool with every fact of issue 2 | issue 2
        cli:search | search finds tools by words
        cli:explain:json | explain AGENT --json lists tool, issued, shown, step and reason for the whole universe | issue 2
        cli:lint | lint reports findings, and exits 1 when there are any and it is asked to be strict
        cli:simulate | simulate shows who gains and loses what
        cli:suggest | suggest AGENT prints the smallest toolbox
        cli:agents | agents list|show|create|update|delete; what is made works at once | product.md
        agents:kept:in-force | An agent made in the store holds and is refused as one in toolcrib.yaml | page.md
        cli:call | call TOOL JSON --agent NAME runs the whole pipeline, and the record shows it | issue 2
        cli:audit:verify | audit verify passes on an untouched store and exits 1 on a changed one | issue 2
        cli:audit:export | audit export writes JSON lines
        cli:check:shell | check shell gives a verdict a line, JSON lines too, and exits 1 when one is denied | issue 3
        cli:check:path | check path gives the file tools' own answer and changes nothing | issue 3
        cli:config:check | config check reports every problem with its line
        cli:config:env | config env lists every setting with its TOOLCRIB_ name
        cli:doctor | doctor says what is wrong with the set-up and what to do
        cli:bench | bench prints one JSON line a figure, floor and ours in one run | issue 2
        cli:help:examples | Every command's help has an example | issue 2
        cli:completion | Shell completion can be installed | issue 2
        cli:error:sentence | A wrong use is one sentence that says what to do, without a trace | product.md Manners
        """,
    )
    + table(
        "product.md Defaults",
        """
        config:yaml:line-numbers | A mistake in toolcrib.yaml is reported with its line | issue 2
        config:yaml:all-or-nothing | A refused configuration changes nothing, and every problem is listed at once | product.md Manners
        config:home:found | toolcrib.yaml is found in --home, TOOLCRIB_HOME or given by --config | issue 2
        config:agent:short | agents: {name: {toolboxes: [..]}} is enough to define an agent | issue 2
        config:env:settings | Every setting can be given as TOOLCRIB_..., a secret as ..._FILE
        import:mindroom | import reads MindRoom's toolkits and agents | issue 2
        import:goclaw | import reads GoClaw's tool policy, by alias and group | issue 2
        import:hivekeep | import reads a Hivekeep toolbox list | issue 2
        import:unknown:said | What an import does not know is said, never dropped in silence | product.md Manners
        """,
    )
    + table(
        "house.md",
        """
        house:rooms:fixed | Rooms and sizes are the fixed ones, imports go down only, except Exception stands once
        house:tool:case | Every tool has a case
        house:tool:checked | dev check finds bad names, missing words, costly prompts and risky flags
        house:requirements:both-ways | Every requirement is tied to a test or deferred with a reason, and no test to an unknown one
        house:lock:no-registry | No lock file names a registry address | issue 2
        docs:examples:run | Every example in README and docs runs in the tests | quality.md Documentation
        docs:reference:current | The reference generated from code is up to date | quality.md Documentation
        """,
    )
)
