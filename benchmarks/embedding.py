"""Speed of multilingual-e5-small in ONNX Runtime beside the engine of its wheel, in one run on one machine.

    python -m benchmarks.embedding [--rounds 5] [--cache-dir D]

Prints milliseconds a text and ratios for: one text after the other, texts side by side in as many threads as the
machine allows (what Hindsight does), and batches of texts of one length in one call. Ratios hold on a busy machine,
milliseconds do not. Texts are the memories of `benchmarks/calibration`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from hindsight_common.adapters.cpu_share import usable_threads
from hindsight_common.adapters.e5_onnx import E5OnnxEncoder
from hindsight_common.adapters.e5_wheel import E5WheelEncoder
from hindsight_common.adapters.onnx_session import open_session, run_session

PAIRS = Path(__file__).parent / "calibration"
BATCH = 32


def memories(language: str) -> list[str]:
    lines = (PAIRS / f"pairs_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["memory"] for line in lines]


class Measured:
    """One way of embedding all texts; `seconds` holds a figure for each round."""

    def __init__(self, name: str, run: Callable[[list[str]], object]) -> None:
        self.name = name
        self.seconds: list[float] = []
        self._run = run

    def round(self, texts: list[str]) -> None:
        began = time.perf_counter()
        self._run(texts)
        self.seconds.append(time.perf_counter() - began)


class Ways:
    """All ways to compare, on one pair of models."""

    def __init__(self, cache_dir: Path | None) -> None:
        self.threads = usable_threads()
        self._onnx = E5OnnxEncoder(cache_dir)
        self._wheel = E5WheelEncoder()
        self._wheel.use_one_thread()
        self._batches = open_session(self._onnx.graph)
        self._pool = ThreadPoolExecutor(self.threads, initializer=self._wheel.use_one_thread)

    def every(self) -> list[Measured]:
        return [
            Measured("wheel, one by one", lambda texts: [self._by_wheel(text) for text in texts]),
            Measured("onnx, one by one", lambda texts: [self._by_onnx(text) for text in texts]),
            Measured("onnx, batches", self._in_batches),
            Measured(
                f"wheel, {self.threads} side by side",
                lambda texts: list(self._pool.map(self._by_wheel, texts)),
            ),
            Measured(
                f"onnx, {self.threads} side by side", lambda texts: list(self._pool.map(self._by_onnx, texts))
            ),
            Measured(f"onnx, batches, {self.threads} side by side", self._in_batches_side_by_side),
        ]

    def _by_wheel(self, text: str) -> NDArray[np.float32]:
        ((window, _),) = self._wheel.windows(text, "passage")
        return self._wheel.encode(window)

    def _by_onnx(self, text: str) -> NDArray[np.float32]:
        ((window, _),) = self._onnx.windows(text, "passage")
        return self._onnx.encode(window)

    def _one_batch(self, windows: list[list[int]]) -> None:
        stacked = np.stack([self._onnx.embedded(window) for window in windows])
        run_session(self._batches, "mean", {"embedded": stacked})

    def _equal_lengths(self, texts: list[str]) -> list[list[list[int]]]:
        """Batches without padding: the best case for a batch."""
        by_length: dict[int, list[list[int]]] = defaultdict(list)
        for text in texts:
            for window, _ in self._onnx.windows(text, "passage"):
                by_length[len(window)].append(window)
        return [group[at : at + BATCH] for group in by_length.values() for at in range(0, len(group), BATCH)]

    def _in_batches(self, texts: list[str]) -> None:
        for batch in self._equal_lengths(texts):
            self._one_batch(batch)

    def _in_batches_side_by_side(self, texts: list[str]) -> None:
        list(self._pool.map(self._one_batch, self._equal_lengths(texts)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="the median of them is printed")
    parser.add_argument("--cache-dir", type=Path, help="where built models are kept")
    options = parser.parse_args()
    ways = Ways(options.cache_dir)
    for language in ("en", "zh"):
        texts = memories(language)
        measured = ways.every()
        for _ in range(options.rounds):
            for way in measured:  # in turn, so that a busy moment hits all
                way.round(texts)
        reference = median(measured[0].seconds)
        print(f"{language}: {len(texts)} texts")
        for way in measured:
            seconds = median(way.seconds)
            each = 1000 * seconds / len(texts)
            print(f"  {way.name:34s} {each:7.2f} ms a text {reference / seconds:6.2f} x the wheel one by one")


if __name__ == "__main__":
    main()
