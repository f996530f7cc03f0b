"""`./toolcrib test [PYTEST ARGUMENTS]` and `./toolcrib dev check|new-tool|docs`."""

import argparse
import sys

from dev import docs, new_tool, steps


def main() -> int:
    parser = argparse.ArgumentParser(prog="./toolcrib", description="Commands for those who build Toolcrib.")
    commands = parser.add_subparsers(dest="command", required=True)
    test = commands.add_parser("test", help="run everything: format, lint, types, contracts, docs, checks, all tests")
    test.add_argument("rest", nargs=argparse.REMAINDER, help="given to pytest; with any, only pytest runs")
    dev = commands.add_parser("dev", help="check, new-tool, docs").add_subparsers(dest="what", required=True)
    dev.add_parser("check", help="format, lint, types, contracts, docs and house checks; no tests")
    new = dev.add_parser("new-tool", help="write a function and a case that fails")
    new.add_argument("family", help="the folder under src/toolcrib/tools; made if it is new")
    new.add_argument("name", help="verb_noun, at most four words")
    page = dev.add_parser("docs", help="write the reference pages anew from the code")
    page.add_argument("--check", action="store_true", help="only say whether they are up to date")
    asked = parser.parse_args()
    if asked.command == "test":
        return steps.test(asked.rest)
    if asked.what == "check":
        return steps.check()
    if asked.what == "new-tool":
        return new_tool.write(asked.family, asked.name)
    return docs.write(only_check=asked.check)


if __name__ == "__main__":
    sys.exit(main())
