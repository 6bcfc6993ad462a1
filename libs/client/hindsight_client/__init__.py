"""Long-term memory for an application that talks with people: write turns, ask for what matters, forget."""

from __future__ import annotations

from hindsight_client.client import HindsightClient
from hindsight_client.turn_publishing import PublishedTurn
from hindsight_common.errors import RequestError, StopAndFix

__all__ = ["HindsightClient", "PublishedTurn", "RequestError", "StopAndFix"]
