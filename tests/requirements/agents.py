"""Agents that run by themselves: tasks, delegation, teams, the engine, and what starts them."""

from tests.requirements.rows import table

AGENTS = (
    table(
        "catalogue.md 2B",
        """
        task:spawn-self | spawn_self starts a sub-agent that awaits or runs on; a model needs its provider
        task:spawn-agent | spawn_agent runs the task as the named agent
        task:scout:blocks | scout waits for the digest and runs with the scout box on the scout model
        task:group:fifo | Tasks of a group beyond concurrency_max are queued and promoted in order | seed 001
        task:group:suspended-counts | Suspended tasks keep their group's place and free the global slot | rules 3.7(1)
        task:group:blocked-skipped | Promotion takes the oldest task whose group has room | rules 3.7(1)
        task:limits:independent | The caps 8 in all, depth 1 and 5 children each hold by themselves | seed 004
        task:children:running-only | Only running children count against a parent's limit | rules 3.7(6)
        task:respond:late | Answering a finished task is TASK_ALREADY_FINISHED | rules 3.7(5)
        task:cancel:own-only | cancel_task ends own tasks only, all included | rules 3.7(6)
        task:steer:settles | steer_task cancels, settles 500 ms and starts again with the new message | seed 004
        task:list:filters | list_tasks filters by status, kind, agent and time, 20 by default
        task:queues:counts | list_active_queues gives active and queued counts
        task:detail:messages | get_task_detail and get_task_messages show a task
        task:report:progress | report_to_parent is progress only
        task:status:mandatory | Without update_task_status a task is nudged once and then failed | rules 3.7(3)
        task:status:empty-fails | Empty output is a failure | rules 3.7(3)
        task:input:suspends | request_input suspends the task, at most three times
        task:async:not-a-turn | An await result starts a parent turn; an async one is only recorded | rules 3.7(2)
        task:restart:statuses | After a restart running tasks are failed as interrupted; queued and waiting ones survive | rules 3.7(4)
        task:results:batched | Results of siblings are announced together, with how many still run | rules 3.7(6)
        task:archive:sixty-minutes | Finished tasks are archived after 60 minutes | seed 004
        task:iterations:twenty | A sub-agent has 20 iterations by default | seed 004
        task:learnings:cron-only | Run learnings are kept per cron, 20 at most, doubles ignored
        task:edit:read-first | Inside a task an edit without an earlier read_file of that path is refused | rules 3.6(4)
        task:deadlock:refused | A task that would wait for its own full group is refused at spawn | engine.md
        prompt:human:bounds | prompt_human keeps its bounds: kinds, options, one a turn, five pending
        prompt:human:not-in-cron | prompt_human is not there in cron tasks
        notify:person:sent | notify sends and does not wait
        attach:file:sources | attach_file takes a path, a URL or a stored file
        """,
        deferred="later: agents and teams",
    )
    + table(
        "catalogue.md 2C",
        """
        talk:message:rate | send_agent_message is limited to 20 a minute per pair and a chain of 5, and never to oneself
        talk:message:request-suspends | A request from a task suspends it up to 5 minutes, three times | seed 001
        talk:message:inform | inform is fire and forget | seed 001
        talk:reply:not-chained | reply informs and cannot be chained
        talk:list-kins | list_kins lists all agents
        sessions:list:read | sessions_list and session_status show sessions | catalogue.md 2I
        sessions:history:bounds | sessions_history gives 20 messages of up to 4,000 characters, 80 kB in all | catalogue.md 2I
        sessions:send:not-sub-agents | sessions_send is denied to sub-agents | seed 004
        """,
        deferred="later: agents and teams",
    )
    + table(
        "seed 002",
        """
        team:spawn:queued | spawn_team answers queued with the bootstrap task and message_for_user at once
        team:spawn:credentials | Credentials of spawn_team go to the child's vault as secret rows
        team:spawn:rolls-back | A failed spawn_team leaves nothing behind | catalogue.md 2C
        team:spawn:ready-notice | The origin channel hears when the team is ready
        team:parent:only | Every tool that names a child team refuses a caller that is not its parent
        team:delegate:overlap | delegate_task skips, replaces or asks for confirmation, and confirm queues nothing
        team:delegate:replace-fresh | replace of a fresh running task turns into confirm | rules 3.9(2)
        team:delegate:allow | Calling again with allow is the explicit approval | rules 3.9(2)
        team:delegate:no-work | Without work in flight any policy enqueues | rules 3.9(2)
        team:query:sync | query_team waits for one child's answer
        team:query:many | query_teams asks up to five, and one failure does not fail the others
        team:query:target-pool | Each query takes a slot of the target's pool; a saturated child is an error of its own
        team:query:timeouts | A child's own timeout beats the default
        team:query:cancel | A parent's abort cancels what is outstanding and changes no child's queue
        team:escalate:notice | escalate tells the immediate parent and makes no work
        team:enqueue:rate | enqueue_parent_task is limited to 10 a minute per child
        team:enqueue:dedupe | The same correlation id within 60 s gives the first task id as a duplicate | rules 3.9(5)
        team:send:neighbours | team_send reaches the direct parent and direct children only
        team:status:fields | get_status gives daily operations, saturation, org_op_pending, queue depth and tasks
        team:completed:evidence | list_completed_tasks gives 7 days, 50 rows and snippets of 200 characters
        team:list:routing | list_teams gives description, scope, status and depth, recursively when asked
        team:update:never-empty | update_team never leaves a team without scope
        team:shutdown:cascade | shutdown_team goes depth first, and refuses children without cascade
        team:shutdown:data | A team that is shut down leaves no rows and no folder
        team:trust:main-only | The trust tools are held by the main agent only
        team:trust:revoke | Revoking removes the row; denied trust is kept as denied
        team:trust:gate-order | A sender is judged in the order of the rule, and no configuration allows all | rules 3.9(10)
        team:queue:priority | The queue runs by priority, then in order, durably, without pre-emption
        team:allowed-tools:deny-default | A team's unlisted tools are not there
        team:notify:block | The last notify block decides; noop stays silent | rules 3.9(9)
        """,
        deferred="later: agents and teams",
    )
    + table(
        "seed 004 sections 7 to 11",
        """
        delegate:link:needed | Delegation needs a link in that direction, and the refusal names the targets
        delegate:link:denied-users | A user's deny beats allow, and malformed settings deny | rules 3.8(1)
        delegate:capacity:text | At capacity the text says so and what to do
        delegate:capacity:atomic | Check and start are one step, and a refusal leaves no task behind | rules 3.8(1)
        delegate:actions:four | delegate, cancel, list and history work, sync and async
        delegate:history:row | Every delegation has a history row, ended or not | rules 3.8(2)
        delegate:async:after-gates | An async result is announced after the gates have run | rules 3.8(2)
        delegate:search:hybrid | delegate_search finds five targets by words and meaning
        delegate:context:injected | Up to 15 targets stand in DELEGATION.md, more are searched for
        delegate:context:merged | Base files survive the merge with a user's files | rules 3.8(7)
        gate:command:exit | A command gate passes on exit 0 and gives stderr as feedback | rules 3.8(3)
        gate:agent:approved | An agent gate reads APPROVED or REJECTED with feedback | rules 3.8(3)
        gate:retries:revised | A blocking gate runs the agent again with the feedback, up to max_retries
        gate:broken:visible | A gate that breaks is skipped and that is seen | rules 3.8(3)
        gate:recursion:none | Gates do not fire inside gates and evaluation loops
        evaluate:loop:rounds | evaluate_loop runs 3 rounds by default, 5 at most
        evaluate:loop:verdict | APPROVED ends it; other text is feedback; the last draft is marked as not approved | rules 3.8(4)
        handoff:route:new-session | handoff routes channel and chat to the other agent with a new session
        handoff:route:cleared | clear gives the conversation back
        handoff:refused:self | A handoff to oneself, without link or by a denied user is refused | rules 3.8(5)
        board:claim:one-winner | One of many claims wins
        board:complete:unblocks | Completing a task unblocks its dependants
        board:failed:told | Dependants of a failed task are told, not run | rules 3.8(6)
        board:blockers:results | Results of blockers are handed to the dependant | rules 3.8(6)
        board:lead:creates | Only the lead creates and cancels | rules 3.8(6)
        board:search:text | Tasks are found by words
        mailbox:send:read | team_message sends, broadcasts for the lead, and reads what is unread
        lead:context:only | Only the lead's prompt has TEAM.md
        """,
        deferred="later: agents and teams",
    )
    + table(
        "engine.md",
        """
        engine:both:databases | The same tasks run on SQLite and PostgreSQL
        engine:kill:nothing-lost | A kill in the middle of tasks loses nothing and repeats no recorded step | quality.md Proofs
        engine:workers:two | Two workers share the work, and a dead one's tasks are taken over
        engine:caps:exact | Caps are exact with several processes
        engine:waiting:free | A task that waits costs next to nothing
        engine:start:direct | A task with room starts within 10 ms | quality.md Speed
        engine:retention:sweeps | Old finished tasks are swept
        engine:serial:json | Nothing kept is a pickle
        """,
        deferred="later: agents and teams",
    )
    + table(
        "product.md",
        """
        model:providers:adapters | OpenAI-compatible, Anthropic, Google, Ollama and vLLM models run the loop
        model:providers:wire | The loop is tested against a fake server with the real wire formats | quality.md Proofs
        compaction:window:trigger | A conversation is compacted at 75 % of the window, with merged older summaries | rules 3.10(10)
        agents:manage:bounds | An agent cannot change its own toolboxes, slug or model, nor delete itself | catalogue.md 2M
        agents:manage:confirm | delete_agent wants confirmation | catalogue.md 2M
        agents:details:read | get_agent_details shows an agent in full | catalogue.md 2M
        """,
        deferred="later: agents and teams",
    )
)

AUTOMATION = table(
    "catalogue.md 2G",
    """
        cron:create:kinds | A cron takes a cron string or a date and time; a past one-shot is refused | rules 3.10(4)
        cron:create:approval | A cron made by an agent waits for approval; at most 50 are active
        cron:run:journal | get_cron_journal shows the runs, and a run gets the last five and its learnings
        cron:trigger:pending | A manual run is refused while approval is pending | rules 3.10(4)
        cron:once:deactivates | A run_once cron deactivates itself | rules 3.10(4)
        cron:zone:configured | Wall-clock times use the configured zone | rules 3.10(4)
        cron:failed:turn | A failed cron run starts a parent turn | rules 3.7(2)
        wakeup:bounds | Wake-ups are 10 s to 30 days ahead, 20 pending at most, and survive a restart
        wakeup:cancel:creator | Only its creator cancels a wake-up
        webhook:http:order | A webhook answers 405, 429, 404, 401, 403, 409 and 413 in the order of the rule | rules 3.10(1)
        webhook:token:once | A token is shown once and compared in constant time | rules 3.10(1)
        webhook:filter:simple | The simple filter compares a field without regard to case, as the rule says | rules 3.10(2)
        webhook:filter:advanced | A bad or long expression is refused when saved and when run | rules 3.10(2)
        webhook:filter:counted | Filtered calls answer 200 and are counted | rules 3.10(2)
        webhook:template:fields | Templates fill in paths, indexes and the raw payload | rules 3.10(3)
        webhook:dispatch:two | conversation injects a message, task spawns a task in its own group | seed 001
        webhook:tasks:max | max_concurrent_tasks is 1, and 0 is unlimited | seed 001
        trigger:states | A trigger is pending, active or disabled, and enabling resets its counts | seed 002
        trigger:types:four | schedule, keyword, message and window fire as the rule says | rules 3.9(6)
        trigger:skill:needs-subagent | skill needs subagent | seed 002
        trigger:breaker:consecutive | Consecutive failures disable with a reason; success resets; a cancel is neutral | rules 3.9(7)
        trigger:firing:dedupe | Events are deduplicated for an hour and limited to 10 in 60 s | rules 3.9(8)
        trigger:overlap:kinds | The four trigger overlap policies work | rules 3.9(8)
        trigger:test:no-change | test_trigger changes no state and sets no active task | seed 002
        trigger:update:reregisters | Updating an active trigger registers it anew | seed 002
        trigger:names:reserved | Names of the learning cycles are reserved | rules 3.9(6)
        trigger:list:fields | list_triggers gives type, state, failures, overlap and active task | seed 002
        email-trigger:tools | Mail triggers are described, created, listed, changed and deleted
        cron-tools:list-and-delete | list_crons, update_cron and delete_cron work
        webhook-tools:four | Webhooks are created, changed, deleted and listed with their counts
        """,
    deferred="later: automation",
)
