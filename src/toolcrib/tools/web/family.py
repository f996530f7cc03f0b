"""The family of tools that reach the web."""

from toolcrib.core.tool import Family

family = Family(name="web", label="Web", about="Search the web, read its pages, speak to its services.", icon="globe")
