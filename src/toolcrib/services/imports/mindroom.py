"""MindRoom's config.yaml: its toolkits, and the tools and toolkits of its agents."""

from collections.abc import Mapping

from toolcrib.services.imports.foreign import Draft, Foreign

BOX = "mindroom"
_FILES = ("read_file", "write_file", "edit_file", "multi_edit", "list_directory", "glob", "grep")
_SEARCH, _PAGE = ("web_search",), ("browse_url",)
_SEND, _BROWSER = ("send_channel_message",), ("browser",)
_IMAGE, _SPEECH = ("generate_image",), ("text_to_speech",)
_MEMORY = ("recall", "memorize", "update_memory", "forget", "list_memories")
_READ_FILES = ("read_file", "list_directory", "glob", "grep")

# MindRoom's tools are bundles of functions named after a product; these are the tools here that do the same.
TABLE: Mapping[str, tuple[str, ...]] = {
    "file": _FILES,
    "local_file_system": _FILES,
    "coding": _FILES,
    "shell": ("run_shell",),
    "reasoning": ("think",),
    **dict.fromkeys(
        ("duckduckgo", "googlesearch", "baidusearch", "bravesearch", "tavily", "exa", "serpapi", "serper", "searxng"),
        _SEARCH,
    ),
    **dict.fromkeys(("linkup", "websearch", "web_search"), _SEARCH),
    **dict.fromkeys(("website", "jina", "trafilatura", "newspaper4k", "newspaper", "crawl4ai", "firecrawl"), _PAGE),
    "spider": ("browse_url", "extract_links"),
    **dict.fromkeys(("web_browser_tools", "browserbase", "browser"), _BROWSER),
    **dict.fromkeys(("slack", "discord", "telegram", "whatsapp", "matrix_message", "webex"), _SEND),
    **dict.fromkeys(("dalle", "fal", "replicate", "lumalabs"), _IMAGE),
    **dict.fromkeys(("eleven_labs", "cartesia", "desi_vocal"), _SPEECH),
    "groq": ("transcribe_audio", "text_to_speech"),
    "openai": ("generate_image", "transcribe_audio", "text_to_speech"),
    "gemini": ("generate_image", "create_video"),
    **dict.fromkeys(("gmail", "email"), ("group:email",)),
    "google_calendar": ("group:calendar",),
    **dict.fromkeys(("memory", "mem0", "zep"), _MEMORY),
    "custom_api": ("http_request",),
    "scheduler": ("cron",),
    "attachments": ("attach_file",),
    "knowledge": ("search_knowledge", "list_knowledge_sources"),
    "subagents": ("spawn_self", "spawn_agent"),
    "delegate": ("delegate",),
    "csv": _READ_FILES,
}
_STEERING = frozenset({"dynamic_tools", "self_config"})
_LOSS = "An MCP server can bring such a tool later."


def convert(found: Mapping[str, Foreign], draft: Draft) -> dict[str, Foreign]:
    """The configuration that corresponds to a MindRoom file."""
    kits: dict[str, Foreign] = {}
    renamed: dict[str, str] = {}
    for name, kit in draft.mapping(found.get("toolkits"), "toolkits").items():
        made = _toolkit(name, kit, draft)
        if made:
            renamed[name] = draft.own_name(name, kits, f"toolkits.{name}")
            kits[renamed[name]] = made
    given = _defaults(found, draft)
    agents: dict[str, Foreign] = {}
    for name, agent in draft.mapping(found.get("agents"), "agents").items():
        where = f"agents.{name}"
        agents[draft.own_name(name, agents, where)] = _agent(where, draft.mapping(agent, where), given, renamed, draft)
    rest = [key for key in found if key not in {"toolkits", "agents", "defaults"}]
    draft.left_out(found, rest, "", "Only toolkits and the agents' tools are taken over.")
    if agents:
        what = f"MindRoom has no core floor, so its agents have the exact toolbox {BOX!r} and hold only what they list."
        draft.note("agents", what, "Take the toolbox from an agent to give it the core floor.")
    box: dict[str, Foreign] = {
        "description": "Nothing but the tools an agent lists itself: no core floor.",
        "exact": True,
        "tools": [],
    }
    return {"toolboxes": {BOX: box} if agents else {}, "toolkits": kits, "agents": agents}


def _defaults(found: Mapping[str, Foreign], draft: Draft) -> list[Foreign]:
    """The tools that MindRoom gives to every agent that does not opt out."""
    defaults = draft.mapping(found.get("defaults"), "defaults")
    draft.left_out(defaults, [key for key in defaults if key != "tools"], "defaults", "They are about running agents.")
    return draft.items(defaults.get("tools"), "defaults.tools")


def _toolkit(name: str, kit: Foreign, draft: Draft) -> dict[str, Foreign] | None:
    where = f"toolkits.{name}"
    said = draft.mapping(kit, where)
    listed = _tools(draft.items(said.get("tools"), f"{where}.tools"), f"{where}.tools", draft)
    tools = draft.in_kit(listed, f"{where}.tools")
    if not tools:
        draft.note(where, "The toolkit was left out: none of its tools is known here.")
        return None
    description = draft.words(said.get("description"), f"{where}.description")
    return ({"description": description} if description else {}) | {"tools": tools}


def _tools(entries: list[Foreign], where: str, draft: Draft) -> list[str]:
    """Entries are names, or one name each with settings."""
    names: list[str] = []
    for entry in entries:
        if isinstance(entry, dict):
            for name, settings in draft.mapping(entry, where).items():
                names.append(name)
                if settings:
                    draft.note(where, f"The settings of {name} were left out: they are about MindRoom's own tool.")
        elif word := draft.words(entry, where):
            names.append(word)
    steering = [name for name in names if name.lower() in _STEERING]
    if steering:
        draft.note(where, f"Left out: {', '.join(steering)}. Such a tool is never granted by a list.")
    return draft.ours([name for name in names if name not in steering], where, TABLE, _LOSS)


def _agent(
    where: str, said: Mapping[str, Foreign], given: list[Foreign], kits: Mapping[str, str], draft: Draft
) -> dict[str, Foreign]:
    entries = draft.items(said.get("tools"), f"{where}.tools")
    if said.get("include_default_tools") is not False:
        entries = [*entries, *(entry for entry in given if entry not in entries)]
    allowed = _kits(said, "allowed_toolkits", where, kits, draft)
    initial = _kits(said, "initial_toolkits", where, kits, draft)
    if beyond := [name for name in initial if name not in allowed]:
        draft.note(f"{where}.initial_toolkits", f"Left out, for they are not allowed: {', '.join(beyond)}.")
    taken = {"role", "description", "tools", "include_default_tools", "allowed_toolkits", "initial_toolkits"}
    draft.left_out(said, [key for key in said if key not in taken], where, "They are about running the agent.")
    description = draft.words(said.get("role") or said.get("description"), f"{where}.role")
    made = {
        "description": description,
        "toolboxes": [BOX],
        "tools": _tools(entries, f"{where}.tools", draft),
        "allowed_toolkits": allowed,
        "initial_toolkits": [name for name in initial if name in allowed],
    }
    return {key: value for key, value in made.items() if value}


def _kits(said: Mapping[str, Foreign], key: str, where: str, kits: Mapping[str, str], draft: Draft) -> list[str]:
    names = draft.names(said.get(key), f"{where}.{key}") or []
    if lost := [name for name in names if name not in kits]:
        draft.note(f"{where}.{key}", f"Left out, for there is no such toolkit: {', '.join(lost)}.")
    return [kits[name] for name in names if name in kits]
