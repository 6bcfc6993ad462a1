"""The collection of the server's index: how it is made, rows and conditions in the client's classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from hindsight_common.adapters import qdrant_conditions as conditions
from hindsight_common.adapters import qdrant_rows as points
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexRow

_KINDS: Mapping[points.IndexKind, models.PayloadSchemaType | models.KeywordIndexParams] = {
    "tenant": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "keyword": models.PayloadSchemaType.KEYWORD,
    "float": models.PayloadSchemaType.FLOAT,
}


async def create_collection(client: AsyncQdrantClient, name: str, dimension: int) -> None:
    """Makes the collection where it is missing, with its payload indexes; idempotent, safe under a race."""
    if not await client.collection_exists(name):
        try:
            await client.create_collection(
                name,
                vectors_config={
                    points.DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)
                },
                sparse_vectors_config={points.WORDS: models.SparseVectorParams()},
                # no graph: every search is an exact scan of one user's rows
                hnsw_config=models.HnswConfigDiff(m=0),
            )
        except UnexpectedResponse as error:
            if error.status_code != 409:  # another worker made it in the meantime
                raise
    # before the first point: an index over rows that are already there may miss some of them, and a server in
    # strict mode refuses to filter by a field without one
    for field, kind in points.PAYLOAD_INDEXES.items():
        await client.create_payload_index(name, field, _KINDS[kind], wait=True)


def server_point(row: IndexRow) -> models.PointStruct:
    vectors: dict[str, list[float] | models.SparseVector] = {}
    if row.vector is not None:
        vectors[points.DENSE] = row.vector.tolist()
    if row.words:
        vectors[points.WORDS] = models.SparseVector(indices=list(row.words), values=list(row.words.values()))
    return models.PointStruct(id=row.memory_id, vector=vectors, payload=points.payload(row))


def server_row(owner: Owner, record: models.Record) -> IndexRow:
    vectors = record.vector if isinstance(record.vector, dict) else {}
    dense, sparse = vectors.get(points.DENSE), vectors.get(points.WORDS)
    vector = np.asarray(dense, dtype=np.float32) if isinstance(dense, list) else None
    words: dict[int, float] = {}
    if isinstance(sparse, models.SparseVector):
        words = dict(zip(sparse.indices, sparse.values, strict=True))
    return points.row_of(owner, record.id, record.payload or {}, vector, words)


def server_filter(wanted: Sequence[conditions.Condition]) -> models.Filter:
    return models.Filter(must=[_condition(each) for each in wanted])


def _condition(asked: conditions.Condition) -> models.Condition:
    match asked:
        case conditions.Equals(key, value):
            return models.FieldCondition(key=key, match=models.MatchValue(value=value))
        case conditions.OneOf(key, values):
            return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))
        case conditions.HasId(ids):
            return models.HasIdCondition(has_id=[each for each in ids if points.is_memory_id(each)])
        case conditions.Within(key, gte, gt, lt, lte):
            return models.FieldCondition(key=key, range=models.Range(gte=gte, gt=gt, lt=lt, lte=lte))
        case conditions.Element(key, inner):
            return models.NestedCondition(nested=models.Nested(key=key, filter=server_filter(inner)))
        case conditions.AnyOf(inner):
            return models.Filter(should=[_condition(each) for each in inner])
