"""multilingual-e5-small: token ids by the unigram tokenizer, embeddings by numpy, the encoder by ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hindsight_common.adapters.e5_onnx.graph import BUILDER_VERSION, build_graph
from hindsight_common.adapters.e5_onnx.graph_cache import cached_file, default_cache_dir
from hindsight_common.adapters.e5_onnx.tokenizer import UnigramTokenizer
from hindsight_common.adapters.e5_onnx.wheel_file import (
    BLOCK_SIZE,
    read_weights,
    unpack_rows,
    weights_digest,
    weights_path,
)
from hindsight_common.adapters.onnx_session import open_session, run_session
from hindsight_common.adapters.text_encoder import Kind

_PREFIXES: dict[Kind, str] = {"query": "query: ", "passage": "passage: "}


class E5OnnxEncoder:
    """A text's vector depends on nothing but the text: each window runs alone, without padding.

    A window is up to 510 pieces between `<s>` and `</s>`. Vectors agree with the wheel's own engine to a cosine
    above .999. Raises `StopAndFix` when the weights are missing or the cache cannot be written.
    """

    model_id = "multilingual-e5-small/q4"

    def __init__(self, cache_dir: Path | None = None) -> None:
        path = weights_path()
        weights = read_weights(path)
        name = f"e5-small-q4-{weights_digest(path)[:16]}-b{BUILDER_VERSION}.onnx"
        self.graph = cached_file(cache_dir or default_cache_dir(), name, lambda: build_graph(weights))
        self._session = open_session(self.graph)
        self.dimension = weights.hidden
        self._tokenizer = UnigramTokenizer(weights.vocabulary)
        self._begin, self._end = weights.vocabulary.begin, weights.vocabulary.end
        self._longest = weights.positions - 2
        self._words = weights.blocks("emb.word").reshape(-1, weights.hidden // BLOCK_SIZE)
        positions = weights.floats("emb.pos").reshape(weights.positions, weights.hidden)
        self._places = positions + weights.floats("emb.type")[: weights.hidden]

    def token_ids(self, text: str, kind: Kind) -> list[int]:
        """Ids of the prefixed text, without `<s>` and `</s>`."""
        return self._tokenizer(_PREFIXES[kind] + text)

    def windows(self, text: str, kind: Kind) -> list[tuple[list[int], float]]:
        ids = self.token_ids(text, kind)
        cuts = [ids[at : at + self._longest] for at in range(0, len(ids), self._longest)]
        return [([self._begin, *cut, self._end], float(len(cut))) for cut in cuts]

    def encode(self, window: list[int]) -> NDArray[np.float32]:
        mean = run_session(self._session, "mean", {"embedded": self.embedded(window)[None]})
        return np.asarray(mean[0])

    def embedded(self, window: list[int]) -> NDArray[np.float32]:
        """What the graph takes: the sum of word, place and type, shape (tokens, dimension)."""
        return np.asarray(unpack_rows(self._words[window]) + self._places[: len(window)], np.float32)
