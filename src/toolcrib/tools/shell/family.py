"""The family of tools that run commands."""

from toolcrib.core.tool import Family

family = Family(name="shell", label="Shell", about="Run commands, and processes in the background.", icon="terminal")
