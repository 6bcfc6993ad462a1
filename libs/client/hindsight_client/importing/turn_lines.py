"""Turns as JSON lines, each one as it would be published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.events.strict_json import read_object


def read_turn_lines(path: Path) -> list[dict[str, Any]]:
    """Every line that is not blank. A turn needs its `turn_id` here: without one, a second run would store it
    again. Raises `StopAndFix` that names the line.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise StopAndFix(f"{path} cannot be read: {error.strerror}") from error
    turns: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            turn = read_object(line, code="invalid_turn")
        except RequestError as error:
            raise StopAndFix(f"{path}, line {number}: {error.message}") from error
        if "turn_id" not in turn:
            raise StopAndFix(
                f"{path}, line {number}: turn_id is required, so that a second run repeats nothing"
            )
        turns.append(turn)
    return turns
