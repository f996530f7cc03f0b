"""The way out to the network: one client that looks before it connects."""

from toolcrib.machine.http.client import LocalHttp

__all__ = ["LocalHttp"]
