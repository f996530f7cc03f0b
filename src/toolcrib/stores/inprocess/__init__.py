"""The store of the library form and of the tests: real, in memory, gone when the process ends."""

from toolcrib.stores.inprocess.opening import MemoryStore, open_store

__all__ = ["MemoryStore", "open_store"]
