"""The family of tools that ask for more tools."""

from toolcrib.core.tool import Family

family = Family(name="access", label="Access", about="Ask a person for more tools.", icon="key-round")
