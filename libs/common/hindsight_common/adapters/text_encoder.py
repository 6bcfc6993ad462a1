"""What a model must give so that `SideBySideEmbedder` can serve it: two blocking steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Kind = Literal["query", "passage"]
Window = TypeVar("Window")


class TextEncoder(Protocol[Window]):
    """Both steps run in a worker thread, several at once."""

    @property
    def model_id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def windows(self, text: str, kind: Kind) -> Sequence[tuple[Window, float]]:
        """Pieces of `text` that fit the model, at least one, each with its weight (its number of tokens)."""
        ...

    def encode(self, window: Window) -> NDArray[np.float32]:
        """Shape (dimension,), not normalised. Raises `RetryLater` when the model cannot answer now."""
        ...
