"""Servers that several tests of this folder share."""

from __future__ import annotations

from qdrant_stand_in.fixture import qdrant_url
from server_form.fixture import form

__all__ = ["form", "qdrant_url"]
