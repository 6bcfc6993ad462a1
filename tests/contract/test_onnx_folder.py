"""How a folder with an ONNX model is read: layout, pooling, prefixes, windows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_onnx import WORDS, word_vectors, write_model

from hindsight_common.adapters.onnx_folder import OnnxFolderEncoder, read_folder
from hindsight_common.errors import StopAndFix

VECTORS = word_vectors()


def mean_of(*words: str) -> list[float]:
    return [float(value) for value in VECTORS[[WORDS.index(word) for word in words]].mean(axis=0)]


def encoded(folder: Path, text: str = "tea", kind: str = "passage") -> list[list[float]]:
    encoder = OnnxFolderEncoder(read_folder(folder))
    windows = encoder.windows(text, "query" if kind == "query" else "passage")
    return [[float(value) for value in encoder.encode(window)] for window, _ in windows]


def test_the_mean_of_all_tokens_is_the_vector_where_nothing_else_is_said(tmp_path: Path) -> None:
    assert encoded(write_model(tmp_path)) == [pytest.approx(mean_of("[CLS]", "tea", "[SEP]"))]


def test_the_first_token_is_the_vector_where_the_folder_says_so(tmp_path: Path) -> None:
    assert encoded(write_model(tmp_path, pooling="cls_token")) == [mean_of("[CLS]")]


def test_a_pooling_that_cannot_be_served_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StopAndFix, match=r"embedding\.model_name.*pooling_mode_max_tokens"):
        read_folder(write_model(tmp_path, pooling="max_tokens"))


def test_each_kind_of_text_has_its_prefix(tmp_path: Path) -> None:
    folder = write_model(tmp_path, prompts={"query": "query ", "document": "passage "})
    assert encoded(folder, kind="query") == [pytest.approx(mean_of("[CLS]", "query", "tea", "[SEP]"))]
    assert encoded(folder) == [pytest.approx(mean_of("[CLS]", "passage", "tea", "[SEP]"))]


def test_a_text_beyond_the_limit_is_cut_into_windows_with_their_own_special_tokens(tmp_path: Path) -> None:
    folder = write_model(tmp_path, max_tokens=4)
    assert encoded(folder, "tea lake dog") == [
        pytest.approx(mean_of("[CLS]", "tea", "lake", "[SEP]")),
        pytest.approx(mean_of("[CLS]", "dog", "[SEP]")),
    ]


def test_the_padding_and_cutting_of_the_tokenizer_file_are_ignored(tmp_path: Path) -> None:
    (vector,) = encoded(write_model(tmp_path), "lake " * 100)
    assert vector[WORDS.index("lake")] == pytest.approx(100 / 102)


def test_a_special_token_spelt_in_a_text_is_plain_text(tmp_path: Path) -> None:
    (vector,) = encoded(write_model(tmp_path), "tea [SEP]")
    assert vector[WORDS.index("[SEP]")] == pytest.approx(vector[WORDS.index("[CLS]")])


def test_inputs_are_given_as_the_model_asks(tmp_path: Path) -> None:
    every = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    assert encoded(write_model(tmp_path / "one", inputs=every)) == encoded(write_model(tmp_path / "two"))
    with pytest.raises(StopAndFix, match="pixel_values"):
        OnnxFolderEncoder(read_folder(write_model(tmp_path / "three", inputs=("input_ids", "pixel_values"))))


def test_the_model_id_changes_with_everything_that_changes_a_vector(tmp_path: Path) -> None:
    plain = write_model(tmp_path / "a" / "tiny")
    others = [
        write_model(tmp_path / "b" / "tiny", max_tokens=8),
        write_model(tmp_path / "c" / "tiny", pooling="cls_token"),
        write_model(tmp_path / "d" / "tiny", prompts={"query": "query "}),
        write_model(tmp_path / "e" / "tiny", inputs=("input_ids",)),
    ]
    ids = {OnnxFolderEncoder(read_folder(folder)).model_id for folder in (plain, *others)}
    assert len(ids) == 5
    assert OnnxFolderEncoder(read_folder(write_model(tmp_path / "f" / "tiny"))).model_id in ids
    assert {name.partition("/")[0] for name in ids} == {"tiny"}


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_named(tmp_path: Path, missing: str) -> None:
    (write_model(tmp_path) / missing).unlink()
    with pytest.raises(StopAndFix, match=missing):
        read_folder(tmp_path)


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json", "sentence_bert_config.json"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, broken: str) -> None:
    (write_model(tmp_path) / broken).write_text("{ not what it should be")
    with pytest.raises(StopAndFix, match=broken):
        OnnxFolderEncoder(read_folder(tmp_path))


def test_a_model_that_pools_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    folder = write_model(tmp_path, pooled_output=True)
    assert encoded(folder) == [pytest.approx(list(np.sum([VECTORS[1], VECTORS[9], VECTORS[2]], axis=0)))]
