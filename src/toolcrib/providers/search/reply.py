"""What search providers have in common: one request, a JSON answer, and a list of results in it."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec

from toolcrib.core.errors import ToolFailed
from toolcrib.safety.reach import Domains
from toolcrib.safety.urls import BadUrl, read_url
from toolcrib.services.http import Http, Outgoing
from toolcrib.services.web import Hit, Query

SECONDS = 15.0
BYTES = 2 * 1024 * 1024


class Engine(Protocol):
    """One provider."""

    async def search(self, query: Query) -> list[Hit]:
        """What it finds. Raises a ToolError when it cannot be asked."""
        ...


def opened(url: str) -> tuple[str, ...]:
    """What a request to a provider may reach though it is not public: the configuration names its address."""
    if not url:
        return ()
    at = read_url(url)
    return (f"[{at.host}]:{at.port}" if ":" in at.host else f"{at.host}:{at.port}",)


async def ask(http: Http, request: Outgoing, forbidden: str = "its key was refused") -> Mapping[str, Any]:
    """The JSON object that a provider answers with. `forbidden` is what its status 403 means."""
    came = await http.send(request)
    if came.status >= 300:
        raise ToolFailed(_status(came.status, forbidden), code="search_failed", data={"status": came.status})
    try:
        found: object = msgspec.json.decode(came.body)
    except (ValueError, RecursionError):  # the second for what is nested without end
        raise ToolFailed("it did not answer with JSON", code="search_failed") from None
    if not isinstance(found, dict):
        raise ToolFailed("its answer has another form than it should", code="search_failed")
    return found  # pyright: ignore[reportUnknownVariableType] - JSON objects have names for keys


def rows(found: object, *path: str) -> list[Mapping[str, Any]]:
    """The objects in a list somewhere in an answer; none where the answer has another form."""
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType]


def hit(row: Mapping[str, Any], url: str, snippet: str, date: str = "") -> Hit:
    """A result out of a row, by the names that its fields have there."""
    return Hit(title=text(row, "title"), url=text(row, url), snippet=text(row, snippet), date=text(row, date))


def text(row: Mapping[str, Any], name: str) -> str:
    """A text field; "" for anything else."""
    value = row.get(name) if name else ""
    return value.strip() if isinstance(value, str) else ""


def fitting(hits: Iterable[Hit], query: Query) -> tuple[Hit, ...]:
    """Hits with a sound address, each once, within the domains that were asked for. Providers only try to."""
    include = [f"*.{name}" for name in query.include] + list(query.include)
    exclude = [f"*.{name}" for name in query.exclude] + list(query.exclude)
    wanted, unwanted = Domains(include), Domains(exclude)
    found: dict[str, Hit] = {}
    for one in hits:
        try:
            url = read_url(one.url)
        except BadUrl:
            continue
        if url.host not in unwanted and (not include or url.host in wanted):
            found.setdefault(str(url), one)
    return tuple(found.values())[: query.count]


def with_sites(query: Query) -> str:
    """The words, with the domains as the operators that most engines know."""
    wanted = " OR ".join(f"site:{name}" for name in query.include)
    unwanted = "".join(f" -site:{name}" for name in query.exclude)
    return f"{query.text}{f' ({wanted})' if len(query.include) > 1 else f' {wanted}' if wanted else ''}{unwanted}"


def percent(words: Mapping[str, str]) -> str:
    """The query of an address."""
    safe = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    def quoted(value: str) -> str:
        return "".join(chr(byte) if byte in safe else f"%{byte:02X}" for byte in value.encode("utf-8", "replace"))

    return "&".join(f"{quoted(name)}={quoted(value)}" for name, value in words.items() if value)


def _status(status: int, forbidden: str) -> str:
    known = {
        401: "its key was refused",
        403: forbidden,
        402: "its credit is used up",
        429: "it has been asked too often",
    }
    return f"{known.get(status, 'it answered with an error')} (status {status})"
