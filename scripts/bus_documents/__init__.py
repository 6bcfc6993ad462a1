"""The published language as data: every subject with who speaks, who listens, its schema and why repetition is safe.

`docs/events.md` and the AsyncAPI document are written from it, and tests hold it against the declared subjects,
streams and consumers, so that nothing new on the bus stays unnamed.
"""

from __future__ import annotations

from scripts.bus_documents.events import EVENTS
from scripts.bus_documents.model import Event, Exchange, Words
from scripts.bus_documents.requests import EXCHANGES

__all__ = ["EVENTS", "EXCHANGES", "Event", "Exchange", "Words"]
