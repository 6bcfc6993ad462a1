"""Any encoder exported to ONNX, in the layout of sentence-transformers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from hindsight_common.adapters.onnx_session import open_session, run_session
from hindsight_common.adapters.text_encoder import Kind
from hindsight_common.errors import StopAndFix

_MAX_TOKENS = 256
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
Pooling = Literal["mean", "cls"]


@dataclass(frozen=True, slots=True)
class FolderModel:
    """What a folder says: files, tokens per window with the special ones, pooling, and the prefix of each kind."""

    name: str
    graph: Path
    tokenizer: Path
    max_tokens: int = _MAX_TOKENS
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""

    def digest(self) -> str:
        """8 hex digits of everything that shapes a vector."""
        seen = hashlib.sha256(
            repr((self.max_tokens, self.pooling, self.query_prefix, self.passage_prefix)).encode()
        )
        for path in (self.graph, self.tokenizer):
            with path.open("rb") as file:
                seen.update(hashlib.file_digest(file, "sha256").digest())
        return seen.hexdigest()[:8]


def read_folder(folder: Path, *, name: str | None = None, graph: Path | None = None) -> FolderModel:
    """Reads `model.onnx` (or `onnx/model.onnx`), `tokenizer.json` and, where present, the files of
    sentence-transformers: `sentence_bert_config.json` (max_seq_length), `1_Pooling/config.json`, and
    `config_sentence_transformers.json` (prompts named query, and passage or document).

    `graph` stands for a model file that lies elsewhere. Raises `StopAndFix` naming what is missing or unreadable.
    """
    graphs = [graph] if graph else [folder / "model.onnx", folder / "onnx" / "model.onnx"]
    found = next((path for path in graphs if path.is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if found is None or not tokenizer.is_file():
        missing = "model.onnx" if found is None else "tokenizer.json"
        raise StopAndFix(f"embedding.model_name: {folder} has no {missing}")
    prompts = _read(folder / "config_sentence_transformers.json").get("prompts") or {}
    return FolderModel(
        name=name or folder.resolve().name,
        graph=found,
        tokenizer=tokenizer,
        max_tokens=int(_read(folder / "sentence_bert_config.json").get("max_seq_length") or _MAX_TOKENS),
        pooling=_pooling(folder / "1_Pooling" / "config.json"),
        query_prefix=str(prompts.get("query", "")),
        passage_prefix=str(prompts.get("passage", prompts.get("document", ""))),
    )


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as fault:
        raise StopAndFix(f"embedding.model_name: {path} is not JSON: {fault}") from fault
    return content if isinstance(content, dict) else {}


def _pooling(path: Path) -> Pooling:
    config = _read(path)
    modes = [key for key, on in config.items() if key.startswith("pooling_mode_") and on is True]
    known: dict[str, Pooling] = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    if not modes:
        return "mean"
    if len(modes) > 1 or modes[0] not in known:
        raise StopAndFix(
            f"embedding.model_name: {path} asks for {', '.join(modes)}; mean or cls can be served"
        )
    return known[modes[0]]


class OnnxFolderEncoder:
    """Each window runs alone, without padding: a text's vector does not depend on others.

    Longer texts are cut into windows. Special tokens spelt out in a text are plain text.
    """

    def __init__(self, model: FolderModel) -> None:
        self._model = model
        self._session = open_session(model.graph)
        self._inputs = [given.name for given in self._session.get_inputs()]
        self._output = _choose_output(self._session, model.graph)
        self._tokenizer = _open_tokenizer(model)
        self.model_id = f"{model.name}/{model.digest()}"
        self.dimension = len(self.encode(self.windows("", "query")[0][0]))

    def windows(self, text: str, kind: Kind) -> list[tuple[Encoding, float]]:
        prefix = self._model.query_prefix if kind == "query" else self._model.passage_prefix
        readable = (prefix + text).encode("utf-8", "replace").decode("utf-8")
        first = self._tokenizer.encode(readable)
        return [(window, float(max(len(window.ids), 1))) for window in (first, *first.overflowing)]

    def encode(self, window: Encoding) -> NDArray[np.float32]:
        """A model that pools itself is taken at its word."""
        ids = window.ids or [0]  # a tokenizer without special tokens makes nothing of an empty text
        given = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, len(ids)), np.int64),
            "token_type_ids": np.zeros((1, len(ids)), np.int64),
            "position_ids": np.arange(len(ids), dtype=np.int64)[None],
        }
        result = run_session(self._session, self._output, {name: given[name] for name in self._inputs})[0]
        if result.ndim > 1:
            result = result.mean(axis=0) if self._model.pooling == "mean" else result[0]
        return np.asarray(result, np.float32)


def _choose_output(session: Any, graph: Path) -> str:
    """Token vectors before a pooled one: long texts need the plain mean of their windows."""
    names = [output.name for output in session.get_outputs()]
    unknown = {given.name for given in session.get_inputs()} - _KNOWN_INPUTS
    if unknown:
        raise StopAndFix(f"embedding.model_name: {graph} asks for the inputs {', '.join(sorted(unknown))}")
    return next((name for name in _TOKEN_OUTPUTS if name in names), names[0])


_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}


def _open_tokenizer(model: FolderModel) -> Tokenizer:
    """The file's own truncation and padding are replaced: exported ones pad every text to one length."""
    try:
        tokenizer = Tokenizer.from_file(str(model.tokenizer))
    except Exception as fault:
        raise StopAndFix(f"embedding.model_name: {model.tokenizer} cannot be read: {fault}") from fault
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=model.max_tokens)
    tokenizer.encode_special_tokens = True
    return tokenizer
