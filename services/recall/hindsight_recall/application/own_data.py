"""Where a store returns what is somebody else's, no answer leaves: it is counted, logged and said, once for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import structlog

from hindsight_common.errors import RequestError
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexRow, OwnerMismatch
from hindsight_recall.application.telemetry import RecallTelemetry

_log = structlog.get_logger(__name__)


@contextmanager
def own_data_only(asked: str, telemetry: RecallTelemetry) -> Iterator[None]:
    """Raises `RequestError` (`owner_mismatch`, 500) for an `OwnerMismatch`; `asked` is the request's name."""
    try:
        yield
    except OwnerMismatch as fault:
        telemetry.mismatch()
        _log.error("owner_mismatch", asked=asked)
        reason = "the answer was stopped: a store returned another owner's data"
        raise RequestError("owner_mismatch", reason, status=500) from fault


def compare_owners(owner: Owner, rows: Sequence[IndexRow]) -> None:
    """Raises `OwnerMismatch`."""
    if any(row.owner != owner for row in rows):
        raise OwnerMismatch("a store returned another owner's row")
