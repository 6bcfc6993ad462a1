"""How long one request may take, and how much of that may pass before the search begins."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Self

# what the question is made into, and what is around it in the graph: words can be searched without either
_BEFORE_THE_SEARCH: Final = 0.5


@dataclass(frozen=True, slots=True)
class Deadline:
    """Moments of the event loop's clock: `early` ends what the search can do without, `end` everything.

    `end` None = somebody else ends it.
    """

    early: float
    end: float | None

    @classmethod
    def within(cls, seconds: float) -> Self:
        """From now on."""
        now = asyncio.get_running_loop().time()
        return cls(early=now + seconds * _BEFORE_THE_SEARCH, end=now + seconds)
