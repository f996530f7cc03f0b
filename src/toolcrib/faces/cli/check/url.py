"""`toolcrib check url`: whether the web tools would fetch an address."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import click
import msgspec

from toolcrib.core.errors import BadConfig
from toolcrib.core.heavy import heavy
from toolcrib.core.registry import Registry
from toolcrib.faces.cli.faults import FAILED
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import find
from toolcrib.faces.cli.output import one_line, plain, write_json, write_line
from toolcrib.safety.domains import Lists
from toolcrib.safety.reach import Judged, Lookup, judge

LONGEST = 1 << 20
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

    def __call__(self, line: Line) -> Judged:
        return judge(
            line.url,
            dns=self.look_up if line.dns is None else {host: _rounds(each) for host, each in line.dns.items()},
            redirects=line.redirects,
            allow=line.allow,
            allow_private=self.lists.private,
            leaves_out=self._leaves_out,
        )

    def _leaves_out(self, host: str) -> str:
        return self.lists.leaves_out(host, self.agent, self.tool)


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
    each look-up. Lists of `network` in the configuration hold. The exit code is 1 if any address is refused.
    """
    _, config = find(asked)
    try:
        lists = Lists(config.network, _meant)
    except BadConfig as error:
        raise config.refusal(error.problems) from None
    look_up = heavy("toolcrib.machine.http.names").look_up if resolve else None
    judged_by = Judge(lists, agent, _name(tool), look_up)
    if jsonl:
        return _lines(judged_by)
    verdicts = [(url, judged_by(Line(url))) for url in urls or _written()]
    if asked.json:
        write_json([{"url": url, **_told(judged)} for url, judged in verdicts])
    else:
        for url, judged in verdicts:
            at = f" ({judged.connected})" if judged.connected else ""
            click.echo(plain(f"{judged.verdict:5}  {one_line(url)}{at}: {judged.why}"))
    return _code(judged for _, judged in verdicts)


def _lines(judged_by: Judge) -> int:
    code = 0
    for raw in _read():
        judged = _judged(raw, judged_by)
        write_line(_told(judged))
        code = code or _code([judged])
    return code


def _judged(raw: bytes, judged_by: Judge) -> Judged:
    if len(raw) > LONGEST:
        return Judged("deny", f"this line is longer than {LONGEST:,} bytes")
    try:
        return judged_by(msgspec.json.decode(raw, type=Line))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Judged("deny", f'this line is not {{"url": "..."}}: {error}')


def _read() -> Iterator[bytes]:
    """The lines of standard input that are not empty; of a line that is too long, the beginning."""
    stream = sys.stdin.buffer
    while raw := stream.readline(LONGEST + 1):
        rest = raw
        while len(rest) > LONGEST and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST + 1)
        if line := raw.strip():
            yield line if len(raw) <= LONGEST else raw


def _written() -> Iterator[str]:
    return (raw.decode(errors="replace") for raw in _read())


def _rounds(answers: str | Sequence[str | Sequence[str]]) -> Sequence[str | Sequence[str]]:
    return (answers,) if isinstance(answers, str) else answers


def _told(judged: Judged) -> dict[str, str]:
    told = {"verdict": judged.verdict, "why": judged.why}
    return {**told, "connected": judged.connected} if judged.connected else told


def _code(verdicts: Iterable[Judged]) -> int:
    return FAILED if any(judged.verdict == "deny" for judged in verdicts) else 0


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
