"""The family of tools that find tools."""

from toolcrib.core.tool import Family

family = Family(
    name="discovery", label="Discovery", about="Find tools, and learn why one is there or not.", icon="search"
)
