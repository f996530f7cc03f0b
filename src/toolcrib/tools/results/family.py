"""The family of tools that read kept results."""

from toolcrib.core.tool import Family

family = Family(name="results", label="Results", about="Read long results piece by piece.", icon="scroll-text")
