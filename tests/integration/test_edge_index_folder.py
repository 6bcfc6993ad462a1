"""The folder of the index in process: what it keeps, what it refuses, what it leaves behind."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import numpy as np
import pytest

from hindsight_common.adapters.qdrant_edge import QdrantEdgeIndex
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexFilter, IndexRow

ANNA = Owner("default", "a1" * 16)
DIMENSION = 48


def opened(folder: Path, model_id: str = "e5/q4", dimension: int = DIMENSION) -> QdrantEdgeIndex:
    return QdrantEdgeIndex(folder, dimension=dimension, model_id=model_id)


def a_row(number: int, owner: Owner = ANNA) -> IndexRow:
    vector = np.random.default_rng(number).standard_normal(DIMENSION).astype(np.float32)
    return IndexRow(
        memory_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{owner}:{number}")),
        owner=owner,
        sequence=number + 1,
        type="event",
        status="active",
        predicate=None,
        role_scope=("shared",),
        session_keys=("s1",),
        importance=0.1,
        confidence=0.3,
        occurred_at=1_700_000_000.123456,
        recorded_at=1_700_000_000.654321,
        last_confirmed_at=1_700_000_000.123456,
        intervals=((1_700_000_000.123456, None),),
        sealed=b"sealed",
        key_id="k1",
        vector=vector / np.linalg.norm(vector),
        words={number: 1.0},
    )


async def test_what_was_committed_is_there_after_closing_to_the_last_bit(tmp_path: Path) -> None:
    index = opened(tmp_path)
    await index.upsert([a_row(number) for number in range(120)])
    await index.commit(77)
    await index.close()
    index = opened(tmp_path)
    assert await index.position() == 77
    assert await index.count(ANNA) == 120
    wanted = a_row(5)
    (kept,) = await index.get(ANNA, [wanted.memory_id])
    assert (kept.occurred_at, kept.recorded_at, kept.importance) == (
        wanted.occurred_at,
        wanted.recorded_at,
        wanted.importance,
    )
    edge = IndexFilter(occurred_from=wanted.occurred_at, held_at=wanted.occurred_at)
    assert len((await index.list(ANNA, edge, None, 500)).rows) == 120
    await index.close()


@pytest.mark.parametrize(("model_id", "dimension"), [("other/1", DIMENSION), ("e5/q4", DIMENSION + 1)])
async def test_an_index_of_another_model_is_not_opened_and_both_are_named(
    tmp_path: Path, model_id: str, dimension: int
) -> None:
    await opened(tmp_path).close()
    with pytest.raises(StopAndFix, match="e5/q4") as refused:
        opened(tmp_path, model_id, dimension)
    assert model_id in str(refused.value)
    await opened(tmp_path).close()  # the refusal let the folder go


async def test_a_second_opening_in_this_process_is_refused_until_the_first_is_closed(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(StopAndFix, match=str(os.getpid())):
        opened(tmp_path)
    await first.close()
    await first.close()
    await opened(tmp_path).close()


async def test_a_shard_that_was_only_half_made_is_made_again(tmp_path: Path) -> None:
    half = tmp_path / "shard.new" / "segments"
    half.mkdir(parents=True)
    (half / "junk").write_bytes(b"x")
    index = opened(tmp_path)
    await index.upsert([a_row(1)])
    assert await index.count() == 1
    await index.close()


async def test_a_closed_index_says_so_and_asks_to_come_back_later(tmp_path: Path) -> None:
    index = opened(tmp_path)
    await index.close()
    with pytest.raises(RetryLater, match="closed"):
        await index.count()


@pytest.mark.parametrize("whole_user", [True, False])
async def test_a_deleted_vector_is_on_no_disk_after_the_commit(tmp_path: Path, whole_user: bool) -> None:
    index = opened(tmp_path)
    await index.upsert([a_row(number) for number in range(70)])
    await index.commit(1)
    doomed = a_row(3)
    (kept,) = await index.get(ANNA, [doomed.memory_id])
    assert kept.vector is not None
    assert files_with(tmp_path, kept.vector.tobytes())
    if whole_user:
        assert await index.delete_owner(ANNA) == 70
    else:
        await index.delete(ANNA, [doomed.memory_id])
    await index.commit(2)
    assert not files_with(tmp_path, kept.vector.tobytes())
    await index.close()


def files_with(folder: Path, content: bytes) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and content in file.read_bytes()]
