"""The house's own check of every native tool: names, words, cost, services, lists."""

import sys

from toolcrib import checks
from toolcrib.app import Crib


def faults() -> list[checks.Fault]:
    """What the checks find in the tools that come with the crib."""
    crib = Crib(native=True)
    return checks.faults(crib.resolver.registry, crib.resolver.grants.toolboxes, crib.services)


def main() -> int:
    found = faults()
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
