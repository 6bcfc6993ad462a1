"""Trace context in NATS headers, and span names that carry no user.

Only `traceparent` and `tracestate` travel: baggage could carry whatever a caller put into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_PROPAGATOR: Final = TraceContextTextMapPropagator()
_TWO_TOKEN_ROOTS: Final = frozenset({"conversation", "memory", "admin"})


def inject(headers: dict[str, str]) -> None:
    """Adds the current span's context to the headers; leaves them as they are outside of any span."""
    _PROPAGATOR.inject(headers)


def extract(headers: Mapping[str, str]) -> Context:
    """The context that the headers carry; an empty one, never the caller's, when they carry none."""
    return _PROPAGATOR.extract(headers, context=Context())


def template_of(subject: str) -> str:
    """The part of a subject that names no tenant, user or turn, as `conversation.turn` or `log`."""
    root, _, rest = subject.partition(".")
    if root in _TWO_TOKEN_ROOTS and rest:
        return f"{root}.{rest.partition('.')[0]}"
    return root
