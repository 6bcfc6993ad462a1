"""Servers that several tests of this folder share."""

from __future__ import annotations

from qdrant_stand_in.fixture import qdrant_url

__all__ = ["qdrant_url"]
