"""How long the index in process takes to answer, beside a plain scan of the same vectors.

    python -m benchmarks.index [--rows 50000] [--owners 50] [--queries 300]

Everything is measured in one run on one core, so that the ratios hold on another machine. The floor is what any
exact search has to do: numpy multiplies the vectors of one user, already in memory, with the question and takes the
best ten.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hindsight_common.adapters.qdrant_edge import QdrantEdgeIndex
from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexFilter, IndexRow

DIMENSION = 384
LIMIT = 10
WORDS_PER_ROW = 14
VOCABULARY = 30_000
RECALLED = IndexFilter(statuses=("active", "provisional"), roles=("shared",), held_at=1.9e9)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--owners", type=int, default=50)
    parser.add_argument("--queries", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), arguments.rows, arguments.owners, arguments.queries))


async def measure(folder: Path, rows: int, owner_count: int, queries: int) -> None:
    random = np.random.default_rng(3)
    owners = [Owner("default", f"{number:032x}") for number in range(owner_count)]
    vectors = random.standard_normal((rows, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = QdrantEdgeIndex(folder, dimension=DIMENSION, model_id="benchmark/1")
    idle = resident_mib()
    began = time.perf_counter()
    for start in range(0, rows, 1000):
        await index.upsert(
            [row(random, owners, vectors, each) for each in range(start, min(start + 1000, rows))]
        )
    print(f"{rows} rows of {owner_count} owners, {rows / (time.perf_counter() - began):,.0f} rows/s written")
    began = time.perf_counter()
    await index.commit(rows)
    print(f"commit                     {1e3 * (time.perf_counter() - began):8.1f} ms")
    print(f"resident, beyond the empty index and the vectors of this script {resident_mib() - idle:.0f} MiB")

    own = [np.ascontiguousarray(vectors[number::owner_count]) for number in range(owner_count)]
    floor = await timed(queries, random, scan(own, random))
    print(f"{'':26} {'P50':>9} {'P95':>9}   P50 / floor")
    report("numpy scan (floor)", floor, floor)
    for name, where in (("any", IndexFilter()), ("as recall asks", RECALLED)):

        async def by_vector(owner: int, where: IndexFilter = where) -> None:
            query = random.standard_normal(DIMENSION, dtype=np.float32)
            await index.search_vector(owners[owner], query, where, LIMIT)

        async def by_words(owner: int, where: IndexFilter = where) -> None:
            await index.search_words(owners[owner], words(random, 6), where, LIMIT)

        report(f"search_vector, {name}", await timed(queries, random, by_vector, owner_count), floor)
        report(f"search_words, {name}", await timed(queries, random, by_words, owner_count), floor)
    await index.close()
    began = time.perf_counter()
    index = QdrantEdgeIndex(folder, dimension=DIMENSION, model_id="benchmark/1")
    print(f"open again                 {1e3 * (time.perf_counter() - began):8.1f} ms")
    await index.close()


def row(
    random: np.random.Generator, owners: list[Owner], vectors: NDArray[np.float32], number: int
) -> IndexRow:
    since = 1.7e9 + number
    return IndexRow(
        memory_id=str(uuid.UUID(int=int(random.integers(2**63)) << 64 | number)),
        owner=owners[number % len(owners)],
        sequence=number + 1,
        type="fact" if number % 3 else "event",
        status="superseded" if number % 10 == 0 else "active",
        predicate="likes",
        role_scope=("shared",) if number % 4 else ("presales",),
        session_keys=(f"{number // 30:032x}",),
        importance=0.5,
        confidence=0.9,
        occurred_at=since,
        recorded_at=since,
        last_confirmed_at=since,
        intervals=((since, None),) if number % 50 else ((since, since + 5), (since + 9, None)),
        sealed=random.bytes(400),
        key_id="k1",
        vector=vectors[number],
        words=words(random, WORDS_PER_ROW),
    )


def words(random: np.random.Generator, count: int) -> dict[int, float]:
    """Words as unevenly frequent as those of a language."""
    ranks = np.minimum(random.zipf(1.3, count), VOCABULARY)
    return {int(rank) * 131_071 % 2**32: float(random.random() + 0.1) for rank in ranks}


def scan(own: list[NDArray[np.float32]], random: np.random.Generator) -> Callable[[int], Awaitable[None]]:
    async def once(owner: int) -> None:
        scores = own[owner] @ random.standard_normal(DIMENSION, dtype=np.float32)
        best = np.argpartition(scores, -LIMIT)[-LIMIT:]
        best[np.argsort(-scores[best])]

    return once


async def timed(
    queries: int, random: np.random.Generator, ask: Callable[[int], Awaitable[None]], owner_count: int = 50
) -> NDArray[np.float64]:
    """Milliseconds of each query, after a few that warm up."""
    taken = []
    for number in range(-20, queries):
        owner = int(random.integers(owner_count))
        began = time.perf_counter()
        await ask(owner)
        if number >= 0:
            taken.append(1e3 * (time.perf_counter() - began))
    return np.array(taken)


def report(name: str, taken: NDArray[np.float64], floor: NDArray[np.float64]) -> None:
    p50, p95 = np.percentile(taken, [50, 95])
    print(f"{name:30} {p50:6.3f} ms {p95:6.3f} ms {p50 / np.median(floor):8.1f}")


def resident_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
