"""What a look at one thing gave."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """`way_out` is what to do; empty when there is nothing to do."""

    level: Literal["ok", "warning", "fault"]
    what: str
    found: str
    way_out: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)
