"""The gateway's way in: HTTP."""

from __future__ import annotations

from hindsight_gateway.consumers.api import application

__all__ = ["application"]
