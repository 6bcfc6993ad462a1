"""Applies a fixed course of writes to an index and says where it is, until somebody kills it.

Run as a script: `edge_writer.py FOLDER`. It goes on from the position of the store.
"""

from __future__ import annotations

import asyncio
import random
import sys
import uuid
from pathlib import Path

import numpy as np

from hindsight_common.adapters.qdrant_edge import QdrantEdgeIndex
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexRow, MemoryIndex

DIMENSION = 32
STEPS = 160
OWNERS = [Owner("default", f"{number:02x}" * 16) for number in range(4)]


async def apply(index: MemoryIndex, step: int) -> None:
    """One step of the course: 40 to 120 rows, new ones and rewritten ones, then perhaps a deletion."""
    chance = random.Random(step)
    rows = [_row(chance, step) for _ in range(chance.randint(40, 120))]
    await index.upsert(list({row.memory_id: row for row in rows}.values()))
    if step % 5 == 0:
        await index.delete(rows[0].owner, [row.memory_id for row in rows[:30]])
    if step % 37 == 0:
        await index.delete_owner(OWNERS[step % 4])


def _row(chance: random.Random, step: int) -> IndexRow:
    owner = chance.choice(OWNERS)
    since = chance.uniform(0, 2e9)
    vector = np.array([chance.gauss(0, 1) for _ in range(DIMENSION)], dtype=np.float32)
    return IndexRow(
        memory_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{owner}:{chance.randrange(400)}")),
        owner=owner,
        sequence=step,
        type=chance.choice(["fact", "event"]),
        status=chance.choice(["active", "superseded"]),
        predicate=chance.choice([None, "likes"]),
        role_scope=("shared",),
        session_keys=(f"s{chance.randrange(9)}",),
        importance=chance.random(),
        confidence=0.9,
        occurred_at=since,
        recorded_at=since + 60,
        last_confirmed_at=since,
        intervals=((since, None),),
        sealed=chance.randbytes(chance.randint(20, 300)),
        key_id="k1",
        vector=vector if chance.random() < 0.9 else None,
        words={chance.randrange(500): chance.random() + 0.1 for _ in range(6)},
    )


async def main(folder: Path) -> None:
    index = QdrantEdgeIndex(folder, dimension=DIMENSION, model_id="test/1")
    for step in range(await index.position() + 1, STEPS + 1):
        print(f"applying {step}", flush=True)
        await apply(index, step)
        if step % 7 == 0:
            await index.commit(step)
            print(f"committed {step}", flush=True)
    await index.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
