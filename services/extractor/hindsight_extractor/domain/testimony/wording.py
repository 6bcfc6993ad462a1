"""The words in which a person is told why something is not kept."""

from __future__ import annotations

from typing import Literal

from hindsight_extractor.domain.testimony.reasons import Reason
from hindsight_extractor.domain.testimony.signs import table


def reason_told(reason: Reason, language: Literal["zh", "en"]) -> str:
    return str(table("reasons")[language][reason.value])
