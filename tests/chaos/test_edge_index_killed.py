"""The index in process under kill -9: what was committed is there, and the rest can be applied again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from edge_writer import DIMENSION, OWNERS, STEPS, apply

from hindsight_common.adapters.in_memory.memory_index import InMemoryIndex
from hindsight_common.adapters.qdrant_edge import QdrantEdgeIndex
from hindsight_common.errors import StopAndFix
from hindsight_common.ports.memory_index import IndexFilter, IndexRow, MemoryIndex

WRITER = Path(__file__).with_name("edge_writer.py")


def opened(folder: Path) -> QdrantEdgeIndex:
    return QdrantEdgeIndex(folder, dimension=DIMENSION, model_id="test/1")


def killed_while_applying(folder: Path, steps: int, delay_s: float) -> tuple[int, int]:
    """Starts the writer and kills it `delay_s` into the last of so many steps; last committed, last begun."""
    committed, begun, seen = 0, 0, 0
    with subprocess.Popen(
        [sys.executable, str(WRITER), str(folder)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            what, number = line.split()
            if what == "committed":
                committed = int(number)
                continue
            begun, seen = int(number), seen + 1
            if seen == steps:
                time.sleep(delay_s)
                os.kill(writer.pid, signal.SIGKILL)
                break
        else:
            pytest.fail("the writer came to an end before it was killed")
        writer.wait()
    return committed, begun


@pytest.mark.slow
async def test_after_every_kill_the_committed_rows_are_there_and_a_replay_gives_the_same_index(
    tmp_path: Path,
) -> None:
    chance = random.Random(11)
    furthest = 0
    for steps in (3, 17, 8, 24, 12):
        committed, begun = killed_while_applying(tmp_path, steps, chance.uniform(0, 0.02))
        assert begun > committed, "there was work in hand"
        furthest = max(furthest, begun)  # an earlier, longer try may have left rows behind as well
        index = opened(tmp_path)
        position = await index.position()
        assert position >= committed
        await holds_what_was_committed(index, await undisturbed(position), await undisturbed(furthest))
        for step in range(position + 1, furthest + 1):
            await apply(index, step)
        await same_answers(index, await undisturbed(furthest))
        await index.close()
    index = opened(tmp_path)
    for step in range(await index.position() + 1, STEPS + 1):
        await apply(index, step)
    await index.commit(STEPS)
    await index.close()
    index = opened(tmp_path)
    assert await index.position() == STEPS
    await same_answers(index, await undisturbed(STEPS))
    await index.close()


async def undisturbed(steps: int) -> MemoryIndex:
    twin = InMemoryIndex(dimension=DIMENSION)
    for step in range(1, steps + 1):
        await apply(twin, step)
    return twin


async def all_of(index: MemoryIndex) -> dict[str, IndexRow]:
    pages = [await index.list(owner, IndexFilter(), None, 1000) for owner in OWNERS]
    return {row.memory_id: row for page in pages for row in page.rows}


async def holds_what_was_committed(index: MemoryIndex, then: MemoryIndex, after: MemoryIndex) -> None:
    """Before any replay: every committed row that the work in hand did not touch is there as it was."""
    found, later = await all_of(index), await all_of(after)
    for memory_id, row in (await all_of(then)).items():
        if memory_id in later and later[memory_id].sequence == row.sequence:
            assert found[memory_id].sealed == row.sealed


async def same_answers(one: MemoryIndex, other: MemoryIndex) -> None:
    rows, expected = await all_of(one), await all_of(other)
    assert rows.keys() == expected.keys()
    for memory_id, row in rows.items():
        assert all(
            getattr(row, name) == getattr(expected[memory_id], name) for name in ("sequence", "sealed")
        )
    assert await one.count() == await other.count()
    query = np.ones(DIMENSION, dtype=np.float32)
    words = dict.fromkeys(range(0, 500, 7), 1.0)
    for owner in OWNERS:
        for where in (
            IndexFilter(),
            IndexFilter(statuses=("active",), type="fact"),
            IndexFilter(held_at=1e9),
        ):
            hits = [
                [(hit.memory_id, hit.score) for hit in await index.search_vector(owner, query, where, 20)]
                + [(hit.memory_id, hit.score) for hit in await index.search_words(owner, words, where, 400)]
                for index in (one, other)
            ]
            assert dict(hits[0]) == pytest.approx(dict(hits[1]), abs=1e-5)


async def test_a_folder_in_use_by_another_process_is_refused_and_says_by_whom(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, str(WRITER), str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(StopAndFix, match=str(writer.pid)):
            opened(tmp_path)
        writer.kill()
        writer.wait()
    await opened(tmp_path).close()
