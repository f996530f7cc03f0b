"""`toolcrib bench`: figures, each beside its floor, taken in one run."""

import click

from toolcrib.core.heavy import heavy
from toolcrib.core.registry import near
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.output import write_line


@declare("bench", "toolcrib bench resolve", "toolcrib bench import help", json=False)
@click.argument("names", nargs=-1)
def command(names: tuple[str, ...]) -> None:
    """Measure, and print each figure as a JSON line: bench, figure, value, unit, floor, ratio.

    Without NAMES all of them run. Compare ratios, not times: another machine has another floor.
    """
    benches: dict[str, str] = heavy("toolcrib_bench").BENCHES
    for name in names:
        if name not in benches:
            close = near(name, benches)
            meant = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(benches)}."
            raise click.UsageError(f"There is no bench {name!r}. {meant}")
    for name in names or benches:
        for line in heavy(f"toolcrib_bench.{benches[name]}").run():
            write_line(line)
