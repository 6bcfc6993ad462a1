"""Qdrant as the configuration names it."""

from __future__ import annotations

from hindsight_common.adapters.qdrant_connection import QdrantConnection
from hindsight_common.settings import Settings


def qdrant(settings: Settings) -> QdrantConnection:
    assert settings.qdrant_url is not None, "the worker is declared to need it"
    key = settings.qdrant_api_key
    return QdrantConnection(settings.qdrant_url, api_key=key.get_secret_value() if key else None)
