"""Everything that this package compiles once for a process."""

from __future__ import annotations

from hindsight_extractor.domain.testimony.instructions import instructs
from hindsight_extractor.domain.testimony.signs import signs, signs_alone, signs_at_the_start, table


def compile_signs() -> None:
    """Later calls take no time."""
    for name in {**table("testimony_en"), **table("testimony_zh")}:
        signs(name)
    for name in ("text_tasks", "returns", "supposes", "points"):
        signs_at_the_start(name)
    for name in ("fields", "other_roles", "own_roles"):
        signs_alone(name)
    instructs("")
