"""How texts, windows, centre and recent queries become vectors, on a model of a few lines."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from hindsight_common.adapters.calibration_tables import GENERIC_TABLES, CalibrationTables
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.adapters.text_encoder import Kind
from hindsight_common.domain.calibration import Calibration
from hindsight_common.errors import RetryLater, StopAndFix

TRUSTED = CalibrationTables(
    dict.fromkeys(("zh", "en"), Calibration([(-1, 0), (1, 1)])), frozenset({"zh", "en"})
)


class LetterEncoder:
    """A window is a word; its vector counts a, b and c."""

    model_id = "letters/1"
    dimension = 3

    def __init__(self) -> None:
        self.encoded: list[str] = []
        self.threads: set[str] = set()

    def windows(self, text: str, kind: Kind) -> list[tuple[str, float]]:
        return [(word, float(len(word))) for word in text.split()] or [("abc", 1.0)]

    def encode(self, window: str) -> NDArray[np.float32]:
        self.encoded.append(window)
        self.threads.add(threading.current_thread().name)
        if window == "fail":
            raise RetryLater("the model is ill")
        return np.array([window.count(letter) for letter in "abc"], np.float32) / np.float32(len(window))


@pytest.fixture
def encoder() -> LetterEncoder:
    return LetterEncoder()


def unit(*values: float) -> NDArray[np.float32]:
    vector = np.array(values, np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


async def test_windows_are_averaged_by_their_weights(encoder: LetterEncoder) -> None:
    embedder = SideBySideEmbedder(encoder, threads=1, tables=GENERIC_TABLES)
    (row,) = await embedder.embed_passages(["aaa b"])
    embedder.close()
    assert row == pytest.approx(unit(3, 1, 0))


async def test_the_model_runs_in_other_threads(encoder: LetterEncoder) -> None:
    embedder = SideBySideEmbedder(encoder, threads=1, tables=GENERIC_TABLES)
    await embedder.embed_queries(["a"])
    embedder.close()
    assert threading.current_thread().name not in encoder.threads


async def test_of_a_very_long_text_the_ends_are_read_and_some_between(encoder: LetterEncoder) -> None:
    embedder = SideBySideEmbedder(encoder, threads=1, tables=GENERIC_TABLES)
    words = [f"a{number}" for number in range(100)]
    await embedder.embed_passages([" ".join(words)])
    embedder.close()
    assert len(encoder.encoded) == 12
    assert encoder.encoded[0] == words[0]
    assert encoder.encoded[-1] == words[-1]
    gaps = {
        int(right[1:]) - int(left[1:])
        for left, right in zip(encoder.encoded, encoder.encoded[1:], strict=False)
    }
    assert gaps <= {8, 9, 10}


async def test_the_centre_is_taken_off_and_marked_in_the_id(encoder: LetterEncoder) -> None:
    centred = CalibrationTables(GENERIC_TABLES.lines, frozenset(), (0.5, 0.5, 0.0))
    embedder = SideBySideEmbedder(encoder, threads=1, tables=centred)
    (row,) = await embedder.embed_passages(["a"])
    embedder.close()
    assert row == pytest.approx(unit(0.5, -0.5, 0.0))
    other = SideBySideEmbedder(encoder, tables=CalibrationTables(centred.lines, frozenset(), (0.5, 0.4, 0.0)))
    plain = SideBySideEmbedder(encoder, tables=GENERIC_TABLES)
    assert len({embedder.model_id, other.model_id, plain.model_id}) == 3
    assert plain.model_id == "letters/1"


async def test_a_recent_query_is_not_computed_again_and_a_passage_is_not_a_query(
    encoder: LetterEncoder,
) -> None:
    embedder = SideBySideEmbedder(encoder, threads=1, tables=GENERIC_TABLES)
    await embedder.embed_queries(["a", "b", "a"])
    await embedder.embed_queries(["b", "a"])
    assert encoder.encoded == ["a", "b"]
    await embedder.embed_passages(["a"])
    assert encoder.encoded == ["a", "b", "a"]
    embedder.close()


async def test_the_recent_queries_have_an_end(encoder: LetterEncoder) -> None:
    embedder = SideBySideEmbedder(encoder, threads=1, tables=GENERIC_TABLES)
    await embedder.embed_queries(["first", *(f"later{n}" for n in range(600))])
    encoder.encoded.clear()
    await embedder.embed_queries(["later599", "first"])
    embedder.close()
    assert encoder.encoded == ["first"]


async def test_a_fault_of_the_model_reaches_the_caller_and_the_next_call_works(
    encoder: LetterEncoder,
) -> None:
    embedder = SideBySideEmbedder(encoder, threads=1, tables=GENERIC_TABLES)
    with pytest.raises(RetryLater):
        await embedder.embed_queries(["fail"])
    assert (await embedder.embed_queries(["b"]))[0] == pytest.approx(unit(0, 1, 0))
    embedder.close()
    with pytest.raises(RetryLater):
        await embedder.embed_passages(["b"])


async def test_a_model_that_does_not_fit_its_calibration_is_stopped(encoder: LetterEncoder) -> None:
    """Letters say nothing about peanuts, though the table claims that they do."""
    embedder = SideBySideEmbedder(encoder, threads=1, tables=TRUSTED)
    with pytest.raises(StopAndFix, match=r"embedding\.model_name.*letters/1"):
        await embedder.verify()
    embedder.close()
