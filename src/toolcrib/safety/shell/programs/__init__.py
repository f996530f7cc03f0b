"""Programs of which more must be known than a row of the table can say."""

from toolcrib.safety.shell.programs import (
    changing,
    containers,
    developing,
    editing,
    finding,
    git,
    interpreters,
    network,
    packing,
    removing,
    runtimes,
    shells,
    system,
    windows,
    wrappers,
)
from toolcrib.safety.shell.run import Handle

HANDLES: dict[str, Handle] = {
    **changing.HANDLES,
    **containers.HANDLES,
    **developing.HANDLES,
    **editing.HANDLES,
    **finding.HANDLES,
    **git.HANDLES,
    **interpreters.HANDLES,
    **network.HANDLES,
    **packing.HANDLES,
    **removing.HANDLES,
    **runtimes.HANDLES,
    **shells.HANDLES,
    **system.HANDLES,
    **windows.HANDLES,
    **wrappers.HANDLES,
}

__all__ = ["HANDLES"]
