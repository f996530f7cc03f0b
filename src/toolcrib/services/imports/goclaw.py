"""GoClaw's tool policy: profiles, allow and deny lists, by provider, by agent and by channel group."""

from collections.abc import Iterable, Mapping, Sequence

from toolcrib.core.policy import Grants
from toolcrib.services.config.meaning import all_meant, meant
from toolcrib.services.imports.foreign import Draft, Foreign, list_of, mapping_of

# Names of theirs that mean several tools here, or another one. A deny takes every tool that could be meant.
_PAGE = ("browse_url",)
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "web_fetch": _PAGE,
    "apply_patch": ("edit_file", "multi_edit"),
    "apply-patch": ("edit_file", "multi_edit"),
    "knowledge_graph_search": ("search_knowledge",),
    "use_skill": ("skill_search",),
}
DENIED: Mapping[str, tuple[str, ...]] = {
    **ALLOWED,
    "web_fetch": ("browse_url", "http_request"),
    "edit": ("edit_file", "multi_edit"),
    "edit_file": ("edit_file", "multi_edit"),
    "exec": ("run_shell", "process"),
    "bash": ("run_shell", "process"),
    "group:fs": ("group:fs", "multi_edit"),
    "group:runtime": ("group:runtime", "process"),
}
_NOT_ALLOWED = "An allow list only narrows, so nothing is granted by this."
_NOT_DENIED = "So it is not denied here: deny it by its name here when such a tool comes."
_POLICY = ("profile", "allow", "deny", "alsoAllow", "byProvider")


def convert(found: Mapping[str, Foreign], draft: Draft, base: Grants) -> dict[str, Foreign]:
    """The configuration that corresponds to a GoClaw file."""
    tools = draft.mapping(found.get("tools"), "tools")
    made = _Conversion(draft, base)
    policy = made.lists(tools, "tools") | made.providers(tools)
    groups = made.groups(draft.mapping(found.get("channels"), "channels"))
    agents = made.agents(found.get("agents"))
    depth = made.depth(found)
    config = {
        "agents": agents,
        "policy": policy | ({"groups": groups} if groups else {}) | depth | {"sub_agents": {"preset": "goclaw"}},
        "rules": made.approvals(draft.mapping(tools.get("execApproval"), "tools.execApproval")),
        "limits": made.limits(tools),
    }
    if tools.get("scrub_credentials") is False:
        draft.note("tools.scrub_credentials", "Left out: results are always scrubbed here.")
    used = {*_POLICY, "execApproval", "rate_limit_per_hour", "scrub_credentials"}
    draft.left_out(tools, [key for key in tools if key not in used], "tools", "They are no policy.")
    draft.left_out(found, [key for key in found if key not in {"tools", "agents", "channels"}], "", "It is no policy.")
    return config


class _Conversion:
    """One conversion, with the profiles that an agent's own one is looked up in."""

    def __init__(self, draft: Draft, base: Grants) -> None:
        self.draft = draft
        self.profiles = base.profiles

    def lists(self, found: Mapping[str, Foreign], where: str) -> dict[str, Foreign]:
        """The profile and the three lists of one level."""
        made: dict[str, Foreign] = {}
        if profile := self.profile(found.get("profile"), f"{where}.profile"):
            made["profile"] = profile
        allow = self.allow(found, where)
        if allow is not None:
            made["allow"] = allow
        for key, ours in (("deny", "deny"), ("alsoAllow", "also_allow")):
            names = self.draft.names(found.get(key), f"{where}.{key}") or []
            table, loss = (DENIED, _NOT_DENIED) if key == "deny" else (ALLOWED, "")
            if listed := self.draft.ours(names, f"{where}.{key}", table, loss):
                made[ours] = listed
        return made

    def allow(self, found: Mapping[str, Foreign], where: str) -> list[str] | None:
        """An allow list. An empty one is no restriction there, and would be the strictest one here."""
        place = f"{where}.allow"
        names = self.draft.names(found.get("allow"), place)
        if names is not None and not names:
            self.draft.note(
                place, "The empty list was left out: it restricts nothing there, and would everything here."
            )
        if not names:
            return None
        listed = self.draft.ours(names, place, ALLOWED, _NOT_ALLOWED)
        if not listed:
            self.draft.note(place, "No name of this list is known here, so nothing passes it now.")
        return listed

    def profile(self, value: Foreign, where: str) -> str:
        """A profile that exists here. There an unknown one means full."""
        name = self.draft.words(value, where)
        if name and name not in self.profiles:
            self.draft.note(
                where, f"There is no profile {name!r}; GoClaw would take full, and nothing is narrowed here."
            )
            return ""
        return name

    def providers(self, found: Mapping[str, Foreign]) -> dict[str, Foreign]:
        """Profiles and allow lists by provider."""
        made: dict[str, Foreign] = {}
        for name, value in self.draft.mapping(found.get("byProvider"), "tools.byProvider").items():
            where = f"tools.byProvider.{name}"
            said = self.draft.mapping(value, where)
            profile, allow = self.profile(said.get("profile"), f"{where}.profile"), self.allow(said, where)
            self._ignored(said, ("deny", "alsoAllow", "byProvider"), where)
            rules = ({"profile": profile} if profile else {}) | ({} if allow is None else {"allow": allow})
            if name.strip() and rules:
                made[name] = rules
        return {"providers": made} if made else {}

    def _ignored(self, said: Mapping[str, Foreign], keys: Iterable[str], where: str) -> None:
        self.draft.left_out(said, keys, where, "GoClaw reads them and ignores them; write them for all providers.")

    def agents(self, listed: Foreign) -> dict[str, Foreign]:
        """Agents as a mapping by name, as a list, or below `list`."""
        made: dict[str, Foreign] = {}
        for name, value in self._listed(listed):
            where = f"agents.{name}"
            own = self.draft.own_name(name, made, where)
            made[own] = self._agent(where, self.draft.mapping(value, where))
        if made:
            what = "GoClaw offers every tool and narrows by policy, so its agents have the toolbox `all`."
            self.draft.note("agents", what, "MCP tools have to be granted by name or group:mcp.")
        return made

    def _listed(self, listed: Foreign) -> Iterable[tuple[str, Foreign]]:
        said = mapping_of(listed)
        entries = said.get("list", {key: value for key, value in said.items() if key != "defaults"}) if said else listed
        if not isinstance(entries, list):
            return self.draft.mapping(entries, "agents.list").items()
        rows = [self.draft.mapping(row, "agents.list") for row in list_of(entries)]
        named = [(self.draft.words(row.get("id") or row.get("agent_key"), "agents.list"), row) for row in rows]
        if len([name for name, _ in named if name]) < len(named):
            self.draft.note("agents.list", "Agents without an id were left out.")
        return [(name, row) for name, row in named if name]

    def _agent(self, where: str, said: Mapping[str, Foreign]) -> dict[str, Foreign]:
        key = "tools_config" if "tools_config" in said else "tools"
        tools = self.draft.mapping(said.get(key), f"{where}.{key}")
        made = self.lists(tools, f"{where}.{key}")
        if profile := made.pop("profile", ""):
            self._narrow(made, profile, f"{where}.{key}.profile")
        providers: dict[str, Foreign] = {}
        for name, value in self.draft.mapping(tools.get("byProvider"), f"{where}.{key}.byProvider").items():
            place = f"{where}.{key}.byProvider.{name}"
            rules = self.draft.mapping(value, place)
            self._ignored(rules, ("profile", "deny", "alsoAllow", "byProvider"), place)
            allow = self.allow(rules, place)
            if name.strip() and allow is not None:
                providers[name] = {"allow": allow}
        kind = said.get("agent_type") or said.get("agentType")
        context = {"context_files": kind} if kind in {"open", "predefined"} else {}
        words = said.get("description") or said.get("displayName") or said.get("display_name")
        description = self.draft.words(words, f"{where}.description")
        used = {key, "id", "agent_key", "agent_type", "agentType", "description", "displayName", "display_name"}
        self.draft.left_out(said, [key for key in said if key not in used], where, "It is no policy.")
        head = {"description": description} if description else {}
        return head | {"toolboxes": ["all"]} | made | ({"by_provider": providers} if providers else {}) | context

    def _narrow(self, made: dict[str, Foreign], profile: str, where: str) -> None:
        """An agent's own profile has no effect there. Here it holds, as whoever wrote it meant."""
        entries: Sequence[str] = self.profiles[profile]
        if "*everything" in entries:
            return
        allow: list[str] | None = made.get("allow")
        if allow is None:
            made["allow"] = list(entries)
            self.draft.note(where, f"GoClaw ignores it. Here the tools of {profile} became the agent's allow list.")
            return
        bound = all_meant(self.draft.registry, entries)
        kept: list[str] = []
        for entry in allow:
            means = meant(self.draft.registry, entry)
            kept += [entry] if means <= bound else sorted(means & bound)
        made["allow"] = list(dict.fromkeys(kept))
        self.draft.note(where, f"GoClaw ignores it. Here the allow list keeps only what {profile} has too.")

    def groups(self, channels: Mapping[str, Foreign]) -> dict[str, Foreign]:
        """Allow lists of channel groups."""
        made: dict[str, Foreign] = {}
        for channel, value in channels.items():
            where = f"channels.{channel}"
            said = self.draft.mapping(value, where)
            for group, rules in self.draft.mapping(said.get("groups"), f"{where}.groups").items():
                self._group(group, rules, f"{where}.groups.{group}", made)
        return made

    def _group(self, group: str, rules: Foreign, where: str, made: dict[str, Foreign]) -> None:
        said = self.draft.mapping(rules, where).get("tools")
        bare: dict[str, Foreign] = {"allow": said}
        tools = bare if isinstance(said, list) else self.draft.mapping(said, f"{where}.tools")
        self.draft.left_out(tools, [key for key in tools if key != "allow"], f"{where}.tools", "A group only allows.")
        allow = self.allow(tools, f"{where}.tools")
        if allow is not None and group.strip():
            made[group] = {"allow": allow}

    def depth(self, found: Mapping[str, Foreign]) -> dict[str, Foreign]:
        """How deep sub-agents may spawn."""
        defaults = mapping_of(mapping_of(found.get("agents")).get("defaults"))
        deepest = mapping_of(defaults.get("subagents")).get("maxSpawnDepth")
        if isinstance(deepest, int) and not isinstance(deepest, bool) and 0 <= deepest <= 10:
            return {"max_spawn_depth": deepest}
        if deepest is not None:
            self.draft.note("agents.defaults.subagents.maxSpawnDepth", "Left out: it is no number from 0 to 10.")
        return {}

    def limits(self, tools: Mapping[str, Foreign]) -> dict[str, Foreign]:
        """Calls an hour and session."""
        rate = tools.get("rate_limit_per_hour")
        if isinstance(rate, int) and not isinstance(rate, bool) and 0 < rate <= 1_000_000_000:
            return {"rate": rate}
        if rate:
            self.draft.note("tools.rate_limit_per_hour", "Left out: it is no whole number.")
        return {}

    def approvals(self, said: Mapping[str, Foreign]) -> list[Foreign]:
        """What the approval of shell commands comes to as a rule."""
        why = "taken over from GoClaw's execApproval"
        if said.get("security") == "deny":
            return [{"tool": "run_shell", "action": "deny", "why": why}]
        asks = said.get("ask") in {"always", "on-miss"} or said.get("security") == "allowlist"
        patterns = self.draft.names(said.get("allowlist"), "tools.execApproval.allowlist") or []
        if not asks:
            self.draft.left_out(said, ["allowlist"], "tools.execApproval", "Nothing asks, so it has no effect.")
            return []
        if patterns:
            what = "The allowlist was left out: a pattern over a whole command also fits what is chained to it."
            self.draft.note("tools.execApproval.allowlist", what, "So every command asks. Allow commands when asked.")
        return [{"tool": "run_shell", "action": "ask", "why": why}]
