"""Long-term memory for an application that talks with people: write turns, ask for what matters, forget.

`HindsightClient` is for programs with an event loop, `SyncHindsightClient` for those without; what they raise is
drawn in `hindsight_client.errors`.
"""

from __future__ import annotations

from hindsight_client.client import HindsightClient
from hindsight_client.errors import (
    AccessDenied,
    ClientClosed,
    HindsightError,
    NoServer,
    RequestError,
    StopAndFix,
)
from hindsight_client.options import Message, Turn
from hindsight_client.snapshot_paragraph import snapshot_paragraph
from hindsight_client.sync import SyncHindsightClient
from hindsight_client.turn_publishing import PublishedTurn

__all__ = [
    "AccessDenied",
    "ClientClosed",
    "HindsightClient",
    "HindsightError",
    "Message",
    "NoServer",
    "PublishedTurn",
    "RequestError",
    "StopAndFix",
    "SyncHindsightClient",
    "Turn",
    "snapshot_paragraph",
]
