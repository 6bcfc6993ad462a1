"""Serves a `TextEncoder` as the `Embedder` port: texts run side by side, each alone in a thread of its own."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hindsight_common.adapters.calibration_tables import CalibrationTables, load_tables
from hindsight_common.adapters.cpu_share import usable_threads
from hindsight_common.adapters.known_pairs import check_known_pairs
from hindsight_common.adapters.lanes import Lanes
from hindsight_common.adapters.text_encoder import Kind, TextEncoder, Window
from hindsight_common.ports.embedding import Language

_QUERIES_REMEMBERED = 512
# A window of 512 tokens takes a third of a second: of longer texts this many are read, spread from end to end.
_MOST_WINDOWS: dict[Kind, int] = {"query": 4, "passage": 12}

Weighted = TypeVar("Weighted")

_log = logging.getLogger(__name__)


class SideBySideEmbedder(Generic[Window]):
    """An `Embedder`.

    A text gives the same vector alone and in any company; queries overtake passages.

    Side by side was chosen over batches (`benchmarks/embedding.py`, two shared cores, multilingual-e5-small): 3.4 to
    4.7 times the wheel's engine one by one; batches of texts of one length, their best case, 3.6 to 6.9 times, but a
    query would wait for a whole batch, and padding would make vectors depend on their company.

    `threads` None takes what the machine allows (`usable_threads`); on a busy machine 1 leaves the rest to others.
    Vectors are moved to the centre that ships with the model's calibration, if one does: multilingual-e5 gives all
    texts one large common part, without which it tells related from unrelated far better (benchmarks/calibration).
    Windows of a long text run as jobs of their own, so that none holds up a query for longer than one window takes;
    of a text of more than 12 windows (a query: 4) that many are read.
    """

    def __init__(
        self,
        encoder: TextEncoder[Window],
        *,
        threads: int | None = None,
        tables: CalibrationTables | None = None,
        lanes: Lanes | None = None,
    ) -> None:
        self._encoder = encoder
        self._tables = tables or load_tables(encoder.model_id)
        self._centre = np.array(self._tables.centre or np.zeros(encoder.dimension), np.float32)
        self._lanes = lanes or Lanes(usable_threads(threads))
        self._queries = _RecentVectors(_QUERIES_REMEMBERED)

    @property
    def model_id(self) -> str:
        """The encoder's, with a mark of the centre: another centre gives other vectors."""
        if self._tables.centre is None:
            return self._encoder.model_id
        return f"{self._encoder.model_id}-c{hashlib.sha256(self._centre.tobytes()).hexdigest()[:6]}"

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    @property
    def sound_languages(self) -> frozenset[Language]:
        """Languages in which the model was measured to tell related from unrelated text."""
        return self._tables.sound

    async def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Recent queries are answered from memory."""
        known = {text: vector for text in texts if (vector := self._queries.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        for text, vector in zip(missing, await self._embed(missing, "query"), strict=True):
            known[text] = vector
            self._queries.put(text, vector)
        return self._stacked([known[text] for text in texts])

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._stacked(await self._embed(texts, "passage"))

    def calibrate(self, cosine: float, language: Language) -> float:
        return self._tables.lines[language](cosine)

    async def verify(self) -> None:
        """Raises `StopAndFix` when the model gives other vectors than its calibration was measured on."""
        await check_known_pairs(self, self._tables.sound)

    def close(self) -> None:
        """Ends the threads; later calls raise `RetryLater`."""
        self._lanes.close()

    async def _embed(self, texts: Sequence[str], kind: Kind) -> list[NDArray[np.float32]]:
        urgent = kind == "query"
        cut = [partial(self._encoder.windows, text, kind) for text in texts]
        windows = [_spread(parts, _MOST_WINDOWS[kind]) for parts in await self._lanes.run(cut, urgent=urgent)]
        jobs = [partial(self._encoder.encode, window) for parts in windows for window, _ in parts]
        vectors = iter(await self._lanes.run(jobs, urgent=urgent))
        return [self._merged([(next(vectors), weight) for _, weight in parts]) for parts in windows]

    def _merged(self, parts: Sequence[tuple[NDArray[np.float32], float]]) -> NDArray[np.float32]:
        """The mean of the windows' vectors by their weights, as the model would give it, moved to the centre."""
        whole = np.sum([vector * np.float32(weight) for vector, weight in parts], axis=0)
        return _unit(_unit(whole) - self._centre)

    def _stacked(self, rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)


class _RecentVectors:
    """Remembers by a keyed hash, so that no query's text stays in memory."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._key = secrets.token_bytes(32)
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    def _name(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).digest()

    def get(self, text: str) -> NDArray[np.float32] | None:
        name = self._name(text)
        if name in self._vectors:
            self._vectors.move_to_end(name)
        return self._vectors.get(name)

    def put(self, text: str, vector: NDArray[np.float32]) -> None:
        self._vectors[self._name(text)] = vector
        while len(self._vectors) > self._size:
            self._vectors.popitem(last=False)


def _spread(windows: Sequence[Weighted], most: int) -> Sequence[Weighted]:
    """At most `most` windows: the first, the last, and evenly between."""
    if len(windows) <= most:
        return windows
    _log.info("a text of %d windows is embedded by %d of them", len(windows), most)
    return [windows[round(at * (len(windows) - 1) / (most - 1))] for at in range(most)]


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), np.float32)
