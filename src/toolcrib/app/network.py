"""The way out: the one client, and who searches the web with it."""

from collections.abc import Mapping
from typing import Any

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.heavy import heavy
from toolcrib.core.registry import Registry
from toolcrib.services.config.values import Config


def way_out(config: Config, registry: Registry) -> tuple[Any, Any]:
    """The client, and what searches with it. Raises BadConfig with every problem and its line."""
    client, chain = heavy("toolcrib.machine.http").LocalHttp, heavy("toolcrib.providers.search.chain").Chain
    agent = f"toolcrib/{heavy('toolcrib').__version__}"
    problems: list[Problem] = []
    http = search = None

    def meant(entry: str) -> tuple[str, ...]:
        return registry.names_of(registry.mask((entry,)))

    try:
        http = client(config.network, meant=meant, agent=agent)
    except BadConfig as error:
        problems += error.problems
    try:
        search = chain(config.search, http)
    except BadConfig as error:
        problems += error.problems
    if problems:
        raise config.refusal(problems)
    return http, search


def search_keys(config: Config) -> Mapping[str, str]:
    """The keys of search providers, which no result may show."""
    return {f"search-{one.name}": one.key for one in config.search.providers if one.key}
