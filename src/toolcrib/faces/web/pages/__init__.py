"""One folder a noun: `page.py` with its place in the navigation and its routes, and its templates."""
