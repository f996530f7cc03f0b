"""Whatever text comes: a configuration or a refusal with lines. And what is written is what is read."""

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.registry import Registry
from toolcrib.services.config.names import check_names
from toolcrib.services.config.reading import read_config
from toolcrib.services.config.values import Config
from toolcrib.services.imports.importing import detect, import_config
from toolcrib.sources import native

BASE = native.base_grants()
OWN = native.native_tools()
REGISTRY = Registry(OWN, native.names(frozenset(tool.name for tool in OWN)))

SNIPPETS = [
    "agents", "tools", "allow", "toolboxes", "toolkits", "policy", "rules", "limits", ": ", "- ", "\n", "\n  ", "\t", "[", "]",
    "{", "}", "&a ", "*a", "<<: ", "? ", "! ", "!!int ", "|\n", ">-\n", "'", '"', "\\u0041", "#", "---\n", "...\n", "%YAML 1.1\n",
    "${", "${X}", "${X:-1}", "~", "null", "true", "1e5", "0x10", "1_000", ".nan", "\x85", "\u2028", "\ufeff", "\x00", "\x7f",
]  # fmt: skip
words = st.one_of(
    st.text(max_size=12), st.sampled_from([*SNIPPETS, "research", "think", "exec", "group:fs", "*", "nope"])
)
texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(SNIPPETS), max_size=30).map("".join))
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), words)


def nested(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
        max_leaves=12,
    )


def dumped(value: Any) -> str:
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False)


def tried(text: str, **env: str) -> tuple[Config | None, list[Problem]]:
    """The configuration, or what is wrong with it; with the problems of its names."""
    try:
        config = read_config(text, env=env)
    except BadConfig as refused:
        return None, list(refused.problems)
    return config, check_names(config, REGISTRY, BASE)


def sound_or_refused(text: str, kind: str | None) -> None:
    """An import gives a configuration without a problem, or refuses the file itself."""
    try:
        made = import_config(text, REGISTRY, BASE, kind=kind)
    except BadConfig as refused:
        source = refused.source
    else:
        config, found = tried(made.text)
        assert config
        assert not found
        source = "file"
    assert source == "file"


@given(texts)
def test_any_text_is_read_or_refused_with_lines(text: str):
    config, found = tried(text, X="1")
    assert config or found
    assert all(problem.line for problem in found)


OUR_KEYS = st.one_of(
    st.sampled_from(
        [
            "agents",
            "a",
            "toolboxes",
            "toolkits",
            "tools",
            "allow",
            "deny",
            "also_allow",
            "by_provider",
            "openai",
            "policy",
            "profile",
            "providers",
            "groups",
            "rules",
            "tool",
            "action",
            "where",
            "limits",
            "seconds",
            "rate",
            "flow",
            "mode",
            "scrub",
            "env",
            "confirm",
            "description",
            "exact",
            "sub_agents",
            "preset",
            "initial_toolkits",
        ]
    ),
    words,
)


@given(st.dictionaries(OUR_KEYS, nested(OUR_KEYS), max_size=4))
def test_any_structure_is_read_or_refused(value: dict[str, Any]):
    config, found = tried(dumped(value))
    assert config or found
    assert all(problem.line and problem.what for problem in found)


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,12}", fullmatch=True)
lists = st.lists(words.filter(lambda word: bool(word.strip())), max_size=3)
agents = st.fixed_dictionaries(
    {},
    optional={
        "description": words,
        "toolboxes": lists,
        "allow": st.none() | lists,
        "deny": lists,
        "rate": st.integers(0, 10**9),
        "context_files": st.sampled_from(["open", "predefined"]),
        "by_provider": st.dictionaries(names, lists, max_size=2),
        "tools": st.lists(
            st.one_of(names, st.dictionaries(names, st.dictionaries(names, words, max_size=2), min_size=1, max_size=1)),
            max_size=3,
        ),
    },
)


def literal(value: Any) -> Any:
    """The same value with every ${ written so that it is no variable."""
    if isinstance(value, dict):
        return {key: literal(part) for key, part in value.items()}
    if isinstance(value, list):
        return [literal(part) for part in value]
    return value.replace("${", "$${") if isinstance(value, str) else value


@given(st.dictionaries(names, agents, max_size=3))
def test_what_is_written_is_what_is_read(written: dict[str, Any]):
    config = read_config(yaml.safe_dump({"agents": literal(written)}), env={})
    assert set(config.agents) == set(written)
    for name, agent in written.items():
        found = config.agents[name]
        assert found.description == agent.get("description", "")
        assert found.toolboxes == tuple(word.strip() for word in agent.get("toolboxes", []))
        allow = agent.get("allow")
        assert found.allow == (None if allow is None else tuple(word.strip() for word in allow))
        assert found.rate == agent.get("rate")
        assert found.by_provider == {p: tuple(w.strip() for w in ws) for p, ws in agent.get("by_provider", {}).items()}
        own = [(tool, {}) if isinstance(tool, str) else next(iter(tool.items())) for tool in agent.get("tools", [])]
        assert [(tool.name, tool.overrides) for tool in found.tools] == own


FOREIGN_KEYS = st.one_of(
    st.sampled_from(
        [
            "tools",
            "agents",
            "list",
            "defaults",
            "toolkits",
            "toolboxes",
            "toolNames",
            "builtin",
            "name",
            "id",
            "slug",
            "toolboxIds",
            "extraToolNames",
            "kins",
            "profile",
            "allow",
            "deny",
            "alsoAllow",
            "byProvider",
            "execApproval",
            "ask",
            "security",
            "allowlist",
            "rate_limit_per_hour",
            "channels",
            "groups",
            "telegram",
            "role",
            "display_name",
            "allowed_toolkits",
            "initial_toolkits",
            "description",
            "k",
            "subagents",
            "maxSpawnDepth",
        ]
    ),
    words,
)


@given(nested(FOREIGN_KEYS), st.sampled_from(["mindroom", "goclaw", "hivekeep", None]))
def test_any_foreign_structure_becomes_a_sound_configuration_or_is_refused(value: Any, kind: str | None):
    text = dumped(value)
    detect(text)
    sound_or_refused(text, kind)


@given(texts, st.sampled_from(["mindroom", "goclaw", "hivekeep", None]))
def test_any_foreign_text_becomes_a_configuration_or_is_refused(text: str, kind: str | None):
    sound_or_refused(text, kind)
