"""Figures, as JSON lines: `toolcrib bench [NAME...]`. Each takes its floor in the same run.

A bench reports; it does not fail on a slow day. One module for each name, with `run()` that yields the figures.
"""

BENCHES = {
    "call": "calling",
    "batch": "batching",
    "resolve": "resolving",
    "import": "importing",
    "help": "helping",
    "audit": "auditing",
    "path": "path",
    "scrub": "scrub",
    "shell": "shelling",
    "url": "urling",
    "vault": "vault",
    "sandbox": "sandbox",
    "gateway": "gateway",
    "up": "upping",
    "load": "loading",
    "crowd": "crowding",
    "api": "apiing",
}
