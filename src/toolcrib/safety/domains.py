"""The domains that a configuration names: for everybody, for single agents, for single tools."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.safety.reach import Domains, Private
from toolcrib.safety.urls import BadUrl
from toolcrib.services.config.nodes import at
from toolcrib.services.http import Network

T = TypeVar("T")
Meant = Callable[[str], Iterable[str]]  # of an entry of network.tools: the tools that it stands for


class Lists:
    """Which hosts may be asked, and for whom. Every list that is about a call has to hold the host.

    `private` is what may be reached though it is not public.
    """

    def __init__(self, network: Network, meant: Meant) -> None:
        """Raises BadConfig with every entry that means nothing."""
        self._problems: list[Problem] = []
        self.private = self._read("network.allow_private", Private, network.allow_private)
        every = network.allow
        self._everybody = () if every is None else (("network.allow", self._read("network.allow", Domains, every)),)
        self._agents = {name: (each,) for name, each in self._named("network.agents", network.agents).items()}
        self._tools: dict[str, list[tuple[str, Domains]]] = {}
        for entry, each in self._named("network.tools", network.tools).items():
            for tool in meant(entry):
                self._tools.setdefault(tool, []).append(each)
        if self._problems:
            raise BadConfig(self._problems)

    def leaves_out(self, host: str, agent: str = "", tool: str = "") -> str:
        """The list that does not hold a host, by its place in the configuration; "" if every one does."""
        lists = (*self._everybody, *self._agents.get(agent, ()), *self._tools.get(tool, ()))
        return next((place for place, domains in lists if host not in domains), "")

    def _named(self, where: str, lists: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, Domains]]:
        return {
            name: (at(where, name), self._read(at(where, name), Domains, entries)) for name, entries in lists.items()
        }

    def _read(self, where: str, kind: Callable[[Sequence[str]], T], entries: Sequence[str]) -> T:
        sound: list[str] = []
        for i, entry in enumerate(entries):
            try:
                kind((entry,))
            except BadUrl as error:
                mend = "Write a name such as example.com, or *.example.com for all names below it."
                self._problems.append(Problem(at(where, i), f"{entry!r} means nothing: {error}.", mend))
            else:
                sound.append(entry)
        return kind(sound)
