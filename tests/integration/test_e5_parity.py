"""Our form of multilingual-e5-small gives what the engine of its wheel gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hindsight_common.adapters.e5_onnx import E5OnnxEncoder
from hindsight_common.adapters.e5_onnx.wheel_file import read_weights, unpack_rows, weights_path
from hindsight_common.adapters.e5_wheel import E5WheelEncoder
from hindsight_common.adapters.text_encoder import Kind
from hindsight_common.errors import StopAndFix

PAIRS = Path(__file__).parents[2] / "benchmarks" / "calibration"
KINDS = st.sampled_from(["query", "passage"])
# Mixed scripts, digits, marks, spaces; no "<", so that no control piece is spelt, which the wheel would take for one.
LETTERS = st.text(
    st.one_of(
        st.sampled_from("abcdefg ABC  012.,!?'-_/()@#\t\n\u3000"),
        st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF),
        st.characters(min_codepoint=0xA1, max_codepoint=0x24F),
        st.characters(min_codepoint=0x1F300, max_codepoint=0x1F64F),
        st.characters(codec="utf-8", exclude_characters="<\0"),
    ),
    max_size=80,
)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> E5OnnxEncoder:
    return E5OnnxEncoder(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def reference() -> E5WheelEncoder:
    wheel = E5WheelEncoder()
    wheel.use_one_thread()
    return wheel


def whole(encoder: E5OnnxEncoder, text: str, kind: Kind) -> NDArray[np.float32]:
    total = np.sum(
        [encoder.encode(ids) * np.float32(weight) for ids, weight in encoder.windows(text, kind)], axis=0
    )
    return np.asarray(total / np.linalg.norm(total), np.float32)


def by_wheel(encoder: E5WheelEncoder, text: str, kind: Kind) -> NDArray[np.float32]:
    ((window, _),) = encoder.windows(text, kind)
    return encoder.encode(window)


def side_by_side(
    reference: E5WheelEncoder, job: Callable[[tuple[str, Kind]], float], texts: list[tuple[str, Kind]]
) -> list[float]:
    with ThreadPoolExecutor(2, initializer=reference.use_one_thread) as pool:
        return list(pool.map(job, texts))


def sentences() -> list[tuple[str, Kind]]:
    """A question or a memory of every pair, 244 in both languages."""
    found: list[tuple[str, Kind]] = []
    for language in ("en", "zh"):
        lines = (PAIRS / f"pairs_{language}.jsonl").read_text(encoding="utf-8").splitlines()
        for at, line in enumerate(lines):
            pair = json.loads(line)
            found.append((pair["query"], "query") if at % 2 else (pair["memory"], "passage"))
    return found


@pytest.mark.slow
def test_vectors_agree_in_both_languages(ours: E5OnnxEncoder, reference: E5WheelEncoder) -> None:
    def cosine(asked: tuple[str, Kind]) -> float:
        return float(whole(ours, *asked) @ by_wheel(reference, *asked))

    cosines = side_by_side(reference, cosine, sentences())
    assert len(cosines) >= 240
    assert min(cosines) > 0.999
    assert np.mean(cosines) > 0.9999


def test_texts_beyond_one_window_agree(ours: E5OnnxEncoder, reference: E5WheelEncoder) -> None:
    text = "湖面很平静。The lake was calm that morning. " * 60
    assert len(ours.windows(text, "passage")) == 2
    assert float(whole(ours, text, "passage") @ by_wheel(reference, text, "passage")) > 0.999


@given(text=LETTERS, kind=KINDS)
def test_a_text_has_as_many_pieces_as_by_the_wheel(
    ours: E5OnnxEncoder, reference: E5WheelEncoder, text: str, kind: Kind
) -> None:
    assert len(ours.token_ids(text, kind)) + 2 == reference.token_count(text, kind)


@given(text=st.text(), kind=KINDS)
def test_no_text_holds_a_control_piece(ours: E5OnnxEncoder, text: str, kind: Kind) -> None:
    """0 to 2 and 250001 are `<s>`, `<pad>`, `</s>` and `<mask>`."""
    spelt = f"<s>{text}</s> <mask><pad>"
    assert not {0, 1, 2, 250001} & set(ours.token_ids(spelt, kind))


@given(st.lists(st.text("abcdeé湖面茶", min_size=1, max_size=12), min_size=1, max_size=5))
def test_words_are_cut_alike_whatever_stands_beside_them(ours: E5OnnxEncoder, words: list[str]) -> None:
    prefix = ours.token_ids("", "query")
    apart = [piece for word in words for piece in ours.token_ids(word, "query")[len(prefix) - 1 :]]
    together = ours.token_ids(" ".join(words), "query")
    assert together == [*prefix[:-1], *apart]


def test_a_window_holds_510_pieces_between_begin_and_end(ours: E5OnnxEncoder) -> None:
    windows = ours.windows("lake " * 1200, "passage")
    assert [len(ids) for ids, _ in windows[:-1]] == [512] * (len(windows) - 1)
    assert all(ids[0] == 0 and ids[-1] == 2 for ids, _ in windows)
    assert sum(weight for _, weight in windows) == len(ours.token_ids("lake " * 1200, "passage"))


def test_weights_are_read_as_written() -> None:
    """By the format: half a byte minus 8, times the block's scale; the low halves come first."""
    weights = read_weights(weights_path())
    rows = weights.blocks("emb.word")[:12][None]
    block = rows[0, 0]
    unpacked = unpack_rows(rows)[0]
    assert unpacked.shape == (384,)
    assert unpacked[0] == (int(block["halves"][0]) % 16 - 8) * np.float32(block["scale"])
    assert unpacked[16] == (int(block["halves"][0]) // 16 - 8) * np.float32(block["scale"])


@pytest.mark.parametrize("content", [b"", b"E5S1", b"other file", b"E5S1" + bytes(200)])
def test_a_file_that_holds_no_weights_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(content)
    with pytest.raises(StopAndFix, match="weight file"):
        read_weights(path)
