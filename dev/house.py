"""The house's own check of every native tool: names, words, cost, services, lists."""

import sys

from toolcrib import checks
from toolcrib.app import Crib


def main() -> int:
    crib = Crib(native=True)
    found = checks.faults(crib.resolver.registry, crib.resolver.grants.toolboxes, crib.services)
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
