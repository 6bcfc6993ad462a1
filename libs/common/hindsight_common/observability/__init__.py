"""Traces, metrics and structured logs; never the text of a memory, never a user id."""

from __future__ import annotations

from hindsight_common.observability.setup import meter, setup, shutdown, tracer
from hindsight_common.observability.spans import mark_failed, span

__all__ = ["mark_failed", "meter", "setup", "shutdown", "span", "tracer"]
