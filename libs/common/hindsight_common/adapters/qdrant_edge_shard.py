"""The shard of the embedded index: its files, and rows and conditions in the classes of the engine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge as edge

from hindsight_common.adapters import qdrant_conditions as conditions
from hindsight_common.adapters import qdrant_rows as points
from hindsight_common.adapters.durable_file import sync_folder, write_durably
from hindsight_common.errors import StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexRow


class IndexDamaged(StopAndFix):
    """Its files are not what was written; it has to be made again from the log."""


class IndexOfAnotherModel(StopAndFix):
    """Vectors of two models never mix: it has to be made again from the log, or the model set back."""


def check_description(path: Path, dimension: int, model_id: str) -> None:
    wanted = {"format": 1, "model_id": model_id, "dimension": dimension}
    if not path.exists():
        write_durably(path, json.dumps(wanted).encode())
        return
    found = _read(path)
    if found != wanted:
        raise IndexOfAnotherModel(
            f"{path.parent} was written by {found.get('model_id')} ({found.get('dimension')} numbers, format "
            f"{found.get('format')}) and was opened for {model_id} ({dimension} numbers, format 1): "
            "vectors of two models never mix"
        )


@dataclass(frozen=True, slots=True)
class Committed:
    """How far the log is in the index, and how many rows it held then; None where that was not written down."""

    position: int = 0
    rows: int | None = None

    def write(self, path: Path) -> None:
        write_durably(path, json.dumps({"position": self.position, "rows": self.rows}).encode())


def read_committed(path: Path) -> Committed:
    if not path.exists():
        return Committed()
    found = _read(path)
    if not isinstance(found.get("position"), int):
        raise IndexDamaged(f"{path} names no position")
    return Committed(found["position"], found.get("rows"))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except ValueError as fault:
        raise IndexDamaged(f"{path} cannot be read") from fault
    if not isinstance(found, dict):
        raise IndexDamaged(f"{path} cannot be read")
    return found


def open_shard(path: Path, dimension: int, committed: Committed) -> edge.EdgeShard:
    """Loads the shard, or makes one that appears whole or not at all. Raises `IndexDamaged` if rows are lost."""
    shard = path / "shard"
    if not shard.exists():
        if committed.position:
            raise IndexDamaged(f"{shard} is gone")
        fresh = path / "shard.new"
        if fresh.exists():
            shutil.rmtree(fresh)
        _create_shard(fresh, dimension)
        fresh.rename(shard)
        sync_folder(path)
    loaded = _load(shard)
    if committed.rows and not loaded.count(edge.CountRequest(exact=True)):
        loaded.close()
        raise IndexDamaged(f"{shard} has lost its rows")
    return loaded


def _load(shard: Path) -> edge.EdgeShard:
    try:
        return edge.EdgeShard.load(str(shard))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as fault:
        raise IndexDamaged(f"{shard} cannot be loaded: {type(fault).__name__}") from fault


def _create_shard(path: Path, dimension: int) -> None:
    config = edge.EdgeConfig(
        vectors={points.DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
        sparse_vectors={points.WORDS: edge.EdgeSparseVectorParams()},
        # beyond any size: no graph is built, every search scans one user's rows
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=10**9),
        wal_enabled=False,
    )
    shard = edge.EdgeShard.create(str(path), config)
    kinds: Mapping[points.IndexKind, edge.PayloadSchemaType | edge.KeywordIndexParams] = {
        "tenant": edge.KeywordIndexParams(is_tenant=True),
        "keyword": edge.PayloadSchemaType.Keyword,
        "float": edge.PayloadSchemaType.Float,
    }
    # before the first point: an index over rows that are already there may miss some of them
    for field, kind in points.PAYLOAD_INDEXES.items():
        shard.update(edge.UpdateOperation.create_field_index(field, kinds[kind]))
    shard.flush()
    shard.close()


def edge_point(row: IndexRow) -> edge.Point:
    vectors: dict[str, edge.NamedVector] = {}
    if row.vector is not None:
        vectors[points.DENSE] = row.vector.tolist()
    if row.words:
        vectors[points.WORDS] = edge_sparse(row.words)
    return edge.Point(row.memory_id, vectors, points.payload(row))


def edge_sparse(words: Mapping[int, float]) -> edge.SparseVector:
    return edge.SparseVector(list(words), list(words.values()))


def edge_row(owner: Owner, record: edge.Record) -> IndexRow:
    vectors = record.vector if isinstance(record.vector, dict) else {}
    dense, sparse = vectors.get(points.DENSE), vectors.get(points.WORDS)
    words: dict[int, float] = {}
    if isinstance(sparse, edge.SparseVector):
        words = dict(zip(sparse.indices, sparse.values, strict=True))
    vector = np.asarray(dense, dtype=np.float32) if isinstance(dense, list) else None
    return points.row_of(owner, record.id, record.payload or {}, vector, words)


def edge_filter(wanted: Sequence[conditions.Condition]) -> edge.Filter:
    return edge.Filter(must=[_condition(each) for each in wanted])


def _condition(asked: conditions.Condition) -> edge.ConditionType:
    match asked:
        case conditions.Equals(key, value):
            return edge.FieldCondition(key, match=edge.MatchValue(value))
        case conditions.OneOf(key, values):
            return edge.FieldCondition(key, match=edge.MatchAny(list(values)))
        case conditions.HasId(ids):
            return edge.HasIdCondition({each for each in ids if points.is_memory_id(each)})
        case conditions.Within(key, gte, gt, lt, lte):
            return edge.FieldCondition(key, range=edge.RangeFloat(gte=gte, gt=gt, lte=lte, lt=lt))
        case conditions.Element(key, inner):
            return edge.NestedCondition(key, edge_filter(inner))
        case conditions.AnyOf(inner):
            return edge.Filter(should=[_condition(each) for each in inner])
