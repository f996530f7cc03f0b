"""Shell commands: what the analyser says of them, as the configuration wants it, and what a yes is bound to.

    known (its tables, the installation's rules) ─► runs      not known ─► a person      the deny floor ─► nobody

It watches every tool that runs code and has a `command`, and what is written to a process that was asked about.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from toolcrib.core.guard import Call, Verdict, deny
from toolcrib.core.tool import Tool
from toolcrib.safety.shell.judged import ALLOW, ASK, DENY, Judged
from toolcrib.safety.shell.judging import judge
from toolcrib.safety.shell.marks import plain, vague
from toolcrib.safety.shell.rules import as_patterns, as_rules, open_ended, pattern_for
from toolcrib.safety.variables import Written, with_variables
from toolcrib.services.config.values import ShellRule, ShellRules
from toolcrib.services.places import Place
from toolcrib.services.shell import Setting, Shell, setting_of

COMMAND, FOLDER, INPUT, PROCESS = "command", "cwd", "data", "id"
OFF = "commands are switched off here (shell.security: deny)"


class _Command(Struct, frozen=True):
    """A command where it would run."""

    text: str
    folder: str
    place: Place
    setting: Setting


class ShellGuard:
    """Asks the analyser."""

    name = "shell"

    def __init__(self, rules: Sequence[ShellRule], modes: ShellRules, shell: Shell) -> None:
        self._rules = tuple(rules)
        self._modes = modes
        self._shell = shell

    def watches(self, tool: Tool) -> bool:
        return tool.traits.runs_code and COMMAND in tool.schema.get("properties", {})

    def check(self, call: Call) -> Verdict | None:
        arguments = call.arguments
        if command := arguments.get(COMMAND):
            return self._decided(call, str(command), str(arguments.get(FOLDER) or "."))
        if (data := arguments.get(INPUT)) and self._watched(call):
            return self._decided(call, str(data), ".", input=True)
        return None

    def _watched(self, call: Call) -> bool:
        """Whether a process may run what it is given. One that is not there is the tool's to refuse."""
        named = str(call.arguments.get(PROCESS) or "")
        return any(job.watched for job in self._shell.processes.of(call.caller) if job.id == named)

    def _decided(self, call: Call, text: str, cwd: str, *, input: bool = False) -> Verdict | None:  # noqa: A002 - what it is
        security, when = self._modes.of(call.caller.agent)
        if security == "deny":
            return deny("shell.security", OFF)
        written = Written(text) if input else with_variables(text)
        if written.wrong:
            return deny("secret", written.wrong, 'Write "{{secret:NAME}}" as an argument, or in double quotes.')
        setting = setting_of(self._shell.sandbox, call.caller)
        place = self._shell.places.of(call.caller)
        folder = self._shell.places.folder(place, cwd)
        command = _Command(written.text, folder, place, setting)
        judged = self._judged(command)
        action = decision(security, when, judged)
        if action == ALLOW:
            if judged.verdict != ALLOW:
                call.notes.append(Verdict("note", judged.rule, f"{judged.why}; it may run (shell.security: full)"))
            return None
        if action == DENY:
            return _denied(judged)
        return self._ask(command, judged, span=judged.span if written.text == text else None)

    def _judged(self, command: _Command, more: Sequence[ShellRule] = ()) -> Judged:
        rules = (*self._rules, *more)
        return judge(command.text, rules=rules, cwd=command.folder, workspace=command.place.workspace)

    def _ask(self, command: _Command, judged: Judged, span: tuple[int, int] | None) -> Verdict:
        rule = pattern_for(judged)
        runs_on = command.setting.kind

        def settled(kept: Sequence[Mapping[str, str]]) -> bool:
            return self._judged(command, as_rules(kept, runs_on)).verdict == ALLOW

        known = judged.verdict == ALLOW
        return Verdict(
            "ask",
            "shell.ask" if known else judged.rule,
            "every command is asked about (shell.ask: always)" if known else judged.why,
            f"Without a question: {judged.instead}" if judged.instead else "",
            span,
            binding=self._bound(command, judged),
            always=as_patterns(rule, runs_on) if rule else None,
            settled=None if known else settled,
        )

    def _bound(self, command: _Command, judged: Judged) -> dict[str, str]:
        """What a yes is bound to beside the command itself. Looked at again before it runs."""
        env = self._shell.env(host=command.setting.host, workspace=command.place.workspace)
        told = msgspec.json.encode(sorted(env.items()))
        return {
            "runs on": command.setting.words,
            "folder": command.folder,
            "environment": f"sha256 {sha256(told).hexdigest()[:16]}",
            **self._shell.places.identities(_named(judged), command.folder, env.get("PATH", "")),
        }


def decision(security: str, when: str, judged: Judged) -> str:
    """What happens to a command: the table of security and ask. The deny floor stands under all of it."""
    if judged.verdict == DENY or security == "deny":
        return DENY
    if when == "always":
        return ASK
    if judged.verdict == ALLOW:
        return ALLOW
    if when == "on-miss":
        return ASK
    if security == "allowlist":
        return DENY
    return ASK if judged.ruled else ALLOW


def _denied(judged: Judged) -> Verdict:
    if judged.verdict == ASK:
        hint = "Nobody is asked here (shell.ask: off). Use a command that runs without a question."
        return Verdict("deny", judged.rule, judged.why, hint, judged.span)
    hint = f"What would be allowed: {judged.instead}" if judged.instead else ""
    return Verdict("deny", judged.rule, judged.why, hint, judged.span)


def _named(judged: Judged) -> list[list[str]]:
    """The programs of a command; with their words where these may be programs too."""
    named: list[list[str]] = []
    for argv in judged.ran:
        words = [plain(word) for word in argv if not vague(word)]
        if words and not vague(argv[0]):
            named.append(words if open_ended(words[0]) else words[:1])
    return named
