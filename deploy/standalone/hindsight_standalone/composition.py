"""Which workers the embedded form runs, and with what."""

from __future__ import annotations

from hindsight_common.worker import Worker
from hindsight_standalone.process import Resources


def build_workers(resources: Resources) -> list[Worker]:
    """In the order in which they start; they stop in reverse."""
    del resources
    return []
