"""`python -m tests.requirements`: how much of the mission is met, and with `--open` what is still owed."""

import sys

from tests.requirements import claims, counts, open_ones

met, deferred = counts()
owed = open_ones(claims())
print(f"requirements: {met} met, {deferred} deferred" + (f", {len(owed)} open" if owed else ""))
if "--open" in sys.argv[1:]:
    print(*owed, sep="\n")
