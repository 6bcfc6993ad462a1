"""Spans that never quote an exception: its message may hold what somebody said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from hindsight_common.errors import GiveUp, RequestError
from hindsight_common.observability.setup import tracer


@contextmanager
def span(
    name: str,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    context: Context | None = None,
    attributes: Mapping[str, str | int] | None = None,
) -> Iterator[Span]:
    """The block's current span, in `context` or else below the current one.

    An exception that leaves the block marks it as failed, with the error's code, else its type, as `error.type`.
    """
    with tracer().start_as_current_span(
        name,
        context=context,
        kind=kind,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield current
        except Exception as error:
            mark_failed(
                current, error.code if isinstance(error, GiveUp | RequestError) else type(error).__name__
            )
            raise


def mark_failed(failed: Span, cause: str) -> None:
    failed.set_attribute("error.type", cause)
    failed.set_status(Status(StatusCode.ERROR))
