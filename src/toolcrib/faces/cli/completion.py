"""`toolcrib completion`: the Tab key completes commands, options, agents, tools and toolboxes."""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from toolcrib.faces.cli.frame import command as declare

VARIABLE = "_TOOLCRIB_COMPLETE"
# Where each shell looks by itself, relative to the home folder; zsh has to be told of the folder.
PLACES = {
    "bash": ".local/share/bash-completion/completions/toolcrib",
    "zsh": ".zfunc/_toolcrib",
    "fish": ".config/fish/completions/toolcrib.fish",
}
ZSH = "Put this in ~/.zshrc unless it is there: fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit"


@declare("completion", "toolcrib completion bash", "toolcrib completion zsh --install", json=False)
@click.argument("shell", required=False, type=click.Choice(list(PLACES)))
@click.option("--install", is_flag=True, help="Write it where the shell looks for it.")
def command(shell: str | None, install: bool) -> None:
    """Print the completion script of a shell, or install it. Without SHELL it is the one you use.

    For this session only: eval "$(toolcrib completion bash)"
    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in PLACES:
        raise click.UsageError(f"Say which shell: {', '.join(PLACES)}.")
    kind = get_completion_class(name)
    assert kind is not None  # noqa: S101 - for the type checker: click knows these three
    program = click.get_current_context().find_root().command
    made = kind(program, {}, "toolcrib", VARIABLE)
    text = made.source_template % made.source_vars()
    if not install:
        click.echo(text)
        return
    place = Path.home() / PLACES[name]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    click.echo(f"Wrote {place}. It works in new shells." + (f" {ZSH}" if name == "zsh" else ""))
