"""The family of tools that turn to a person."""

from toolcrib.core.tool import Family

family = Family(name="people", label="People", about="Ask a person, or tell them something.", icon="user-round")
