"""A model small enough to be built in a test: each word has a vector, a text is what its pooling makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = ["[UNK]", "[CLS]", "[SEP]", "query", "passage", "peanuts", "train", "lake", "dog", "tea"]
DIMENSION = 16


def write_model(
    folder: Path,
    *,
    max_tokens: int | None = None,
    pooling: str | None = None,
    prompts: dict[str, str] | None = None,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    pooled_output: bool = False,
) -> Path:
    """`pooled_output`: the graph sums the tokens itself and gives nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_graph(folder / "model.onnx", inputs, pooled_output=pooled_output)
    _write_tokenizer(folder / "tokenizer.json")
    if max_tokens is not None:
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": max_tokens}))
    if pooling is not None:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{pooling}": True}))
    if prompts is not None:
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return folder


def word_vectors() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Row i belongs to WORDS[i]; orthogonal, so that every word shows in a mean."""
    return np.eye(len(WORDS), DIMENSION, dtype=np.float32)


def _write_graph(path: Path, inputs: tuple[str, ...], *, pooled_output: bool) -> None:
    nodes = [helper.make_node("Gather", ["vectors", "input_ids"], ["last_hidden_state"], axis=0)]
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", DIMENSION]
    )
    tensors = [numpy_helper.from_array(word_vectors(), "vectors")]
    if pooled_output:
        nodes.append(helper.make_node("ReduceSum", ["last_hidden_state", "axis"], ["pooled"], keepdims=0))
        output = helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["batch", DIMENSION])
        tensors.append(numpy_helper.from_array(np.array([1], np.int64), "axis"))
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs]
    graph = helper.make_graph(nodes, "tiny", given, [output], initializer=tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))


def _write_tokenizer(path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.add_special_tokens(["[CLS]", "[SEP]"])
    # exported files often pad and cut every text to one length
    tokenizer.enable_padding(length=8)
    tokenizer.enable_truncation(max_length=8)
    tokenizer.save(str(path))
