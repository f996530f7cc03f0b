"""What can go wrong on the way, in words. Nothing that was sent is repeated in them."""

from toolcrib.core.errors import TimedOut, ToolError, ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.safety.addresses import Address
from toolcrib.safety.urls import Url

_LATER = "Try again later, or give it more time."


def untrusted(error: Exception) -> bool:
    """Whether the other side could not show who it is."""
    return _tls_fault(error) is not None


def not_connected(url: Url, address: Address, error: Exception) -> ToolError:
    """No connection came about."""
    if (fault := _tls_fault(error)) is not None:
        why = getattr(fault, "verify_message", "") or "no safe connection came about"
        return ToolFailed(f"{url.host} was not asked: {why}.", code="tls_failed")
    slow = isinstance(error, heavy("httpcore2").ConnectTimeout)
    what = "did not answer in time" if slow else "cannot be connected to"
    return ToolFailed(f"{url.host} port {url.port} {what} at {address}.", code="not_reachable", retryable=True)


def broken(url: Url, error: Exception) -> ToolError:
    """A connection broke off, or what came is no HTTP."""
    if isinstance(error, heavy("httpcore2").TimeoutException):
        return TimedOut(f"{url.host} stopped answering.", hint=_LATER)
    said = str(error)[:200].rstrip(".") or "the connection broke off"
    return ToolFailed(f"{url.host} gave no proper answer: {said}.", code="bad_response")


def too_slow(url: Url, seconds: float) -> ToolError:
    """The time is up."""
    return TimedOut(f"{url.host} took longer than {seconds:g} seconds.", hint=_LATER)


def _tls_fault(error: Exception) -> BaseException | None:
    """The fault of TLS that lies under an error, however many layers have put their own round it."""
    fault: BaseException | None = error
    while fault is not None and not isinstance(fault, heavy("ssl").SSLError):
        fault = fault.__cause__ or fault.__context__
    return fault
