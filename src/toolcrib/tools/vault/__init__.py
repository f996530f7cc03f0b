"""Vault: see `family`."""

from toolcrib.tools.vault import entries, read, write
from toolcrib.tools.vault.family import family

__all__ = ["entries", "family", "read", "write"]
