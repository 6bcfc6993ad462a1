"""Traces, metrics and structured logs; never the text of a memory, never a user id."""

from __future__ import annotations

from hindsight_common.observability.setup import meter, setup, shutdown, tracer

__all__ = ["meter", "setup", "shutdown", "tracer"]
