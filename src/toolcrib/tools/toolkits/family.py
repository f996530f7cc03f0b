"""The family of tools that load and unload toolkits."""

from toolcrib.core.tool import Family

family = Family(
    name="toolkits", label="Toolkits", about="Load and unload groups of tools while working.", icon="layers"
)
