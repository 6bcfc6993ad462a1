"""Text to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Language = Literal["zh", "en"]


class Embedder(Protocol):
    """Turns text into unit vectors of one model.

    Never blocks the event loop. Raises `RetryLater` when the model cannot answer now; texts of any length are
    accepted (longer than the model's window: windows averaged), an empty text gives a vector too.
    """

    @property
    def model_id(self) -> str:
        """Model and variant that wrote a vector, e.g. `multilingual-e5-small/q4`; vectors of two ids never mix."""
        ...

    @property
    def dimension(self) -> int: ...

    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimension), rows of length 1, in the order given."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `embed_queries`, with the model's prefix for stored text."""
        ...

    def calibrate(self, cosine: float, language: Language) -> float:
        """Cosine → similarity in 0–1: unrelated pairs near 0, true query–memory pairs high. Monotone."""
        ...
