"""How the page says things: times, numbers, data."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from markupsafe import Markup, escape

from toolcrib.faces.web.assets import asset
from toolcrib.services.finding.catalogue import first_line

_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))
_OUTCOMES = {"done": "ok", "refused": "bad", "failed": "bad", "cancelled": "ask"}


def icon(name: str, more: str = "") -> Markup:
    """One icon of the sprite; for eyes only, the words stand beside it."""
    css = f"icon {more}".strip()
    return Markup('<svg class="{}" aria-hidden="true"><use href="{}#{}"></use></svg>').format(
        css, asset("icons.svg"), name
    )


def ago(moment: float, now: float | None = None) -> str:
    """How long ago something was."""
    past = (time.time() if now is None else now) - moment
    if past < 5:
        return "just now"
    return f"{span(past)} ago"


def span(seconds: float) -> str:
    """A length of time in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"


def when(moment: float) -> Markup:
    """A moment as people read it: how long ago, and exactly when on a second look."""
    exact = datetime.fromtimestamp(moment).astimezone()
    return Markup('<time datetime="{}" title="{}" data-ago="{}">{}</time>').format(
        exact.isoformat(timespec="seconds"), exact.strftime("%Y-%m-%d %H:%M:%S"), int(moment), ago(moment)
    )


def until(moment: float) -> Markup:
    """A moment that is still to come, counted down while one looks."""
    left = max(0, int(moment - time.time()))
    told = f"{left // 60}:{left % 60:02}" if left < 3600 else span(left)
    return Markup('<time data-until="{}">{}</time>').format(int(moment), told)


def day(moment: float) -> str:
    """A date."""
    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d")


def clock(moment: float) -> str:
    """A time of day, with the date where it is another one."""
    at = datetime.fromtimestamp(moment).astimezone()
    today = datetime.now().astimezone().date()
    return at.strftime("%H:%M:%S" if at.date() == today else "%m-%d %H:%M")


def exactly(moment: float) -> str:
    """A date and a time."""
    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def milliseconds(seconds: float) -> str:
    """How long a call took."""
    return f"{seconds * 1000:.2f}" if seconds < 0.01 else f"{seconds * 1000:,.0f}"


def count(many: int, one: str, more: str = "") -> str:
    """A number with its noun."""
    return f"{many:,} {one if many == 1 else more or one + 's'}"


def thousands(number: int) -> str:
    """A number that can be read."""
    return f"{number:,}"


def pretty(value: object) -> str:
    """Data as indented JSON; text that holds JSON likewise."""
    try:
        raw = value.encode() if isinstance(value, str) else msgspec.json.encode(value)
        return msgspec.json.format(raw, indent=2).decode()
    except (msgspec.MsgspecError, TypeError):
        return str(value)


def fields(text: str) -> list[tuple[str, str]]:
    """JSON arguments, each as text to read."""
    try:
        found: Any = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return [("", text)]
    if not isinstance(found, Mapping):
        return [("", text)]
    return [(str(name), told(value)) for name, value in msgspec.to_builtins(found).items()]


def told(value: Any) -> str:  # noqa: ANN401 - JSON
    """A value as text: a text as it is, all else as JSON."""
    if isinstance(value, str):
        return value
    return pretty(value) if not isinstance(value, bool | int | float | None) else msgspec.json.encode(value).decode()


def brief(text: str, most: int = 80) -> str:
    """JSON arguments in one line."""
    line = ", ".join(f"{name}={_short(value)}" if name else value for name, value in fields(text))
    return line if len(line) <= most else line[: most - 1] + "…"


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= 60 else line[:59] + "…"


def tone(status: str) -> str:
    """The colour of an outcome."""
    return _OUTCOMES.get(status, "ask")


def paragraphs(text: str) -> Markup:
    """Words with their paragraphs."""
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    return Markup("").join(Markup("<p>{}</p>").format(escape(part)) for part in parts)


WORDS: Mapping[str, Callable[..., Any]] = {
    "ago": ago,
    "brief": brief,
    "clock": clock,
    "count": count,
    "day": day,
    "exactly": exactly,
    "fields": fields,
    "first_line": first_line,
    "milliseconds": milliseconds,
    "paragraphs": paragraphs,
    "pretty": pretty,
    "span": span,
    "thousands": thousands,
    "told": told,
    "tone": tone,
    "until": until,
    "when": when,
}
