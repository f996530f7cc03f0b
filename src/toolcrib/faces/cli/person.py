"""Who sits at the keyboard, and the times that people write."""

import getpass
import re
import time
from datetime import datetime
from typing import Any

import click

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SPAN = re.compile(r"(\d{1,6})([smhdw])")


def me() -> str:
    """The name under which a person's decision is recorded."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in many containers
        return "command line"


class Span(click.ParamType[float]):
    """A length of time such as 30m, 2h or 7d, in seconds."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's own
        found = _SPAN.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is not a length of time. Write 30m, 2h or 7d.", param, ctx)
        return float(int(found[1]) * _UNITS[found[2]])


class Moment(click.ParamType[float]):
    """A moment: a date, a date with a time, or how long ago; in seconds since 1970."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's own
        if found := _SPAN.fullmatch(str(value)):
            return time.time() - int(found[1]) * _UNITS[found[2]]
        try:
            return datetime.fromisoformat(str(value)).timestamp()
        except ValueError:
            self.fail(f"{value!r} is not a moment. Write 2h for two hours ago, or 2026-11-18T09:30.", param, ctx)


def at(moment: float) -> str:
    """A moment as people read it, in their own time zone."""
    return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")
