"""`toolcrib check url`: whether the web tools would fetch an address."""

from collections.abc import Mapping, Sequence

import click
import msgspec

from toolcrib.core.errors import BadConfig
from toolcrib.core.heavy import heavy
from toolcrib.core.registry import Registry
from toolcrib.faces.cli.check.lines import Row, answer, asked_rows, plain_rows
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import find
from toolcrib.faces.cli.output import one_line
from toolcrib.safety.domains import Lists
from toolcrib.safety.reach import Lookup, judge

Answers = Mapping[str, str | Sequence[str | Sequence[str]]]


class Line(msgspec.Struct):
    """What a program asks about on one line."""

    url: str
    dns: dict[str, str | list[str | list[str]]] | None = None
    redirects: list[str] = []
    allow: list[str] | None = None


class Judge(msgspec.Struct, frozen=True):
    """Judges by the lists of a configuration, for an agent and a tool if they are named."""

    lists: Lists
    agent: str
    tool: str
    look_up: Lookup | None

    def __call__(self, line: Line) -> Row:
        judged = judge(
            line.url,
            dns=self.look_up if line.dns is None else {host: _rounds(each) for host, each in line.dns.items()},
            redirects=line.redirects,
            allow=line.allow,
            allow_private=self.lists.private,
            leaves_out=self._leaves_out,
        )
        told: Row = {"verdict": judged.verdict, "why": judged.why}
        return {**told, "connected": judged.connected} if judged.connected else told

    def _leaves_out(self, host: str) -> str:
        return self.lists.leaves_out(host, self.agent, self.tool)


def unread(why: str) -> Row:
    """What is not understood is refused."""
    return {"verdict": "deny", "code": "input", "why": why}


@declare(
    "url",
    "toolcrib check url https://example.com/ https://1.1.1.1/",
    "echo https://1.1.1.1/ | toolcrib check url --resolve",
    'echo \'{"url": "http://a.example/", "dns": {"a.example": ["1.1.1.1"]}}\' | toolcrib check url --jsonl',
)
@click.argument("urls", nargs=-1)
@click.option("--jsonl", is_flag=True, help='Read {"url", "dns", "redirects", "allow"} lines, write verdicts as lines.')
@click.option("--resolve", is_flag=True, help="Look names up, and judge what they lead to. Nothing is connected to.")
@click.option("--agent", default="", help="Hold to the domains of this agent too.")
@click.option("--tool", default="", help="Hold to the domains of this tool too.")
@pass_asked
def command(asked: Asked, urls: tuple[str, ...], *, jsonl: bool, resolve: bool, agent: str, tool: str) -> int:
    """Say whether the web tools would fetch each address: those named, or one a line of standard input.

    Without --resolve a name is judged as it is written, and nothing is sent: what it leads to is judged when it is
    connected to. `dns` of a line stands in for look-ups: for each host its addresses, or a list of such lists, one for
    each look-up. Lists of `network` in the configuration hold. Exit code 1 if an address is refused, 2 if a line could
    not be read.
    """
    _, config = find(asked)
    try:
        lists = Lists(config.network, _meant)
    except BadConfig as error:
        raise config.refusal(error.problems) from None
    look_up = heavy("toolcrib.machine.http.names").look_up if resolve else None
    judged_by = Judge(lists, agent, _name(tool), look_up)
    if jsonl:
        rows = asked_rows(Line, judged_by, unread)
    else:
        rows = plain_rows(urls, lambda url: {"url": _shown(url), **judged_by(Line(url))}, unread)
    return answer(rows, as_json=jsonl or asked.json)


def _shown(url: str) -> str:
    """An address as it can be printed; bytes that were no text are not."""
    return one_line(url.encode("utf-8", "replace").decode())


def _rounds(answers: str | Sequence[str | Sequence[str]]) -> Sequence[str | Sequence[str]]:
    return (answers,) if isinstance(answers, str) else answers


def _meant(entry: str) -> Sequence[str]:
    """The tools that an entry of a list stands for."""
    registry = _registry()
    return registry.names_of(registry.mask((entry,)))


def _name(tool: str) -> str:
    known = _registry().get(tool) if tool else None
    return known.name if known else tool


def _registry() -> Registry:
    source = heavy("toolcrib.sources.native")
    tools = source.native_tools()
    return Registry(tools, source.names(frozenset(tool.name for tool in tools)))
