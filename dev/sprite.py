"""Makes the page's sprite of icons out of the npm package lucide-static: only the icons that are used.

python -m dev.sprite node_modules/lucide-static
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "toolcrib"
WEB = ROOT / "faces" / "web"
ALWAYS = {"wrench", "plug", "package"}  # what is drawn for domains that say nothing
NAMED = re.compile(r"""icon\(["']([a-z0-9-]+)["']|icon=["']([a-z0-9-]+)["']|sign=["']([a-z0-9-]+)["']""")
LISTED = re.compile(r"""\(\s*["'][\w-]+["'], ["']([a-z0-9-]+)["'], ["'][A-Z]""")
CALLED = re.compile(r"""(?:empty|alert|post)\(["']([a-z0-9-]+)["'],""")
POSTED = re.compile(r"""post\([^)]*?csrf, "[^"]*", "([a-z0-9-]+)\"""")
BODY = re.compile(r"<svg[^>]*>(.*?)</svg>", re.DOTALL)


def used() -> set[str]:
    """Every icon that a template, a page or a family names."""
    texts = [path.read_text(encoding="utf-8") for path in (*WEB.rglob("*.html"), *WEB.rglob("*.py"))]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "tools").glob("*/family.py")]
    found = {name for text in texts for match in NAMED.finditer(text) for name in match.groups() if name}
    found |= {match[1] for text in texts for rule in (LISTED, CALLED, POSTED) for match in rule.finditer(text)}
    return found | ALWAYS


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    icons = Path(sys.argv[1]) / "icons"
    drawn: list[str] = []
    missing: list[str] = []
    for name in sorted(used()):
        path = icons / f"{name}.svg"
        found = BODY.search(path.read_text(encoding="utf-8")) if path.exists() else None
        if found is None:
            missing.append(name)
            continue
        drawn.append(f'<symbol id="{name}" viewBox="0 0 24 24">{" ".join(found[1].split())}</symbol>')
    made = '<svg xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(drawn) + "\n</svg>\n"
    (WEB / "files" / "icons.svg").write_text(made, encoding="utf-8")
    print(f"{len(drawn)} icons" + (f"; not in the package: {', '.join(missing)}" if missing else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
