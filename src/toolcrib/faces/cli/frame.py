"""What every command has: where the crib is, `--json`, examples in its help; and groups with a default command."""

from collections.abc import Callable, Sequence
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from toolcrib.faces.cli.output import colour


class Asked(Struct, frozen=True, kw_only=True):
    """What stands on the command line whatever the command is."""

    home: str | None = None
    config: str | None = None
    json: bool = False
    debug: bool = False


_VALUED = ("--home", "--config")
_FLAGS = ("--json", "--debug")


def _params(*, json: bool) -> list[click.Parameter]:
    """The options of every command. They are made anew for each: click keeps them per command."""
    made: list[click.Parameter] = [
        click.Option(["--home"], metavar="DIR", help="The folder where everything is kept."),
        click.Option(["--config"], metavar="FILE", help="The configuration, instead of toolcrib.yaml in that folder."),
        click.Option(["--debug"], is_flag=True, default=None, hidden=True),
    ]
    words = "Print JSON, for programs."
    made.append(click.Option(["--json"], is_flag=True, default=None, help=words, hidden=not json))
    return made


class Command(click.Command):
    """A command with examples. Its function is given an `Asked` first, when it asks for it with `pass_asked`."""

    def __init__(self, name: str | None, *, examples: Sequence[str] = (), json: bool = True, **more: Any) -> None:
        super().__init__(name, **more)
        self.examples = tuple(examples)
        self.params += _params(json=json)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - whatever the command gives
        _settle(ctx)
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        _write_examples(self.examples, formatter)


class Group(click.Group):
    """Commands under one name. With a default, that one runs when none is named."""

    def __init__(
        self,
        name: str | None,
        *,
        examples: Sequence[str] = (),
        default: str = "",
        **more: Any,
    ) -> None:
        super().__init__(name, invoke_without_command=not default, no_args_is_help=False, **more)
        self.subcommand_metavar = "[COMMAND] [ARGS]..."
        self.examples = tuple(examples)
        self.default = default
        self.params += _params(json=True)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.commands)  # in the order in which they are written, which is meant

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self.default and not (ctx.resilient_parsing and not args):
            args = self._routed(args)
        return super().parse_args(ctx, args)

    def _routed(self, args: list[str]) -> list[str]:
        """Name the default command where none is named."""
        i = 0
        while i < len(args) and args[i].partition("=")[0] in (*_VALUED, *_FLAGS):
            i += 2 if args[i] in _VALUED else 1
        named = i < len(args) and (args[i] in self.commands or args[i] == "--help")
        return args if named else [self.default, *args]

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - whatever the command gives
        _settle(ctx)
        if not self.default and not ctx._protected_args:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - click tells it no other way
            click.echo(ctx.get_help())
            return 0
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of the default command stand with it, or nobody would find them."""
        if self.default:
            params = self.commands[self.default].params
            rows = [row for param in params if (row := param.get_help_record(ctx))]
            with formatter.section("Options"):
                formatter.write_dl([*rows, ("--help", "Show this message and exit.")])
            self.format_commands(ctx, formatter)
        else:
            super().format_options(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        _write_examples(self.examples, formatter)


def _settle(ctx: click.Context) -> None:
    """Take what stands on every command out of the arguments; what is said later wins."""
    said = {name: ctx.params.pop(name, None) for name in Asked.__struct_fields__}
    before = ctx.obj if isinstance(ctx.obj, Asked) else Asked()
    ctx.color = colour()  # without a word on it, click leaves colours out of what is no terminal
    ctx.obj = replace(before, **{name: value for name, value in said.items() if value is not None})


def _write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


def command(name: str, *examples: str, json: bool = True) -> Callable[[Callable[..., object]], Command]:
    """Make a function a command. Its docstring is the help."""
    return click.command(name, cls=Command, examples=examples, json=json)


pass_asked = click.pass_obj
