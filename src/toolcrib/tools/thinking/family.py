"""The family of tools for an agent's own head."""

from toolcrib.core.tool import Family

family = Family(name="thinking", label="Thinking", about="Think, and keep a to-do list.", icon="brain")
