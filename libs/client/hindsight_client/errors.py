"""What a client raises, branched by what its caller should do.

HindsightError
├── RequestError      a call failed: `code`, HTTP-like `status`, `message` with the way out, and the `field` at fault
│                     400, 404, 409, 413  change the call; repeating it changes nothing
│                     502, 503, 504       try again later; the client has done so `retries` times already
├── StopAndFix        nothing will work until somebody changes an address, a name or a file
│   └── NoServer      nobody let us in at the address
│       └── AccessDenied  a server is there and refuses the credentials
└── ClientClosed      the client was used after `close`, or closed during the call
"""

from __future__ import annotations

from typing import Final

from hindsight_common.errors import HindsightError, RequestError, StopAndFix

__all__ = ["AccessDenied", "ClientClosed", "HindsightError", "NoServer", "RequestError", "StopAndFix"]

_TEMPORARY: Final = frozenset({"no_responders", "timeout", "unavailable", "no_stream", "not_published"})


class NoServer(StopAndFix):
    """Nobody let us in at `places` within `patience_s` seconds; `fault` names what refused us, if something did."""

    def __init__(self, places: str, patience_s: float, fault: str = "") -> None:
        super().__init__(
            f"no NATS server let us in at {places} within {patience_s:g} s; start Hindsight, "
            "or name another address with --nats-url or HINDSIGHT_NATS_URL" + (f" ({fault})" if fault else "")
        )
        self.places = places
        self.patience_s = patience_s
        self.fault = fault


class AccessDenied(NoServer):
    """A server is there and does not take our credentials."""

    def __init__(self, places: str) -> None:
        super().__init__(places, 0, "")
        self.args = (
            f"the NATS server at {places} refuses these credentials; give others in the address "
            "(nats://user:password@host:port) or by HINDSIGHT_NATS_USER and HINDSIGHT_NATS_PASSWORD",
        )


class ClientClosed(HindsightError):
    """The client is closed; a new one is made by `connect`."""

    def __init__(self) -> None:
        super().__init__("this client is closed; make a new one with connect()")


def is_temporary(error: RequestError) -> bool:
    """Whether the same call may succeed in a moment, with nothing changed."""
    return error.code in _TEMPORARY
