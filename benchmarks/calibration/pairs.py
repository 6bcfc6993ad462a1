"""Labelled pairs of a question and the memory that answers it, and the vectors and cosines that a model gives them.

A line of `pairs_<language>.jsonl` has the question (`query`) and its `memory`, worded as memories are: facts in the
third person, events in a speaker's own words behind their name. `who` names the person that both speak of; without
it they speak of the user. `hard_negative` is another memory of the same person with the question's words or setting
that does not answer it, `predicate` the kind of fact, and `part` says whether the pair may shape the calibration
("fit") or only judges it ("held").

Unrelated pairs are what recall really meets: a question beside another memory of the same person. Where two pairs
name different people, the memory is told of the question's person, or the names alone would keep them apart. Pairs
on one `topic` might answer each other and are not crossed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.adapters.words import BackgroundWords

# questions are compared as recall compares them
WORDS = BackgroundWords()
HERE = Path(__file__).resolve().parent
Part = Literal["fit", "held"]
Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Pair:
    part: Part
    topic: str
    query: str
    memory: str
    who: str | None = None
    predicate: str | None = None
    hard_negative: str | None = None

    def memory_of(self, who: str | None) -> str:
        """The memory, told of somebody else."""
        return self.memory.replace(self.who, who) if self.who and who else self.memory


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The question of the pair at `asked` and a memory that does not answer it, from the pair at `beside`."""

    asked: int
    beside: int
    memory: str


def read_pairs(language: str, part: Part) -> list[Pair]:
    lines = (HERE / f"pairs_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [pair for pair in (Pair(**json.loads(line)) for line in lines) if pair.part == part]


def unrelated(pairs: Sequence[Pair]) -> list[Mismatch]:
    """Every question beside each memory of the same person (or of the user) on another topic."""
    return [
        Mismatch(asked, beside, other.memory_of(pair.who))
        for asked, pair in enumerate(pairs)
        for beside, other in enumerate(pairs)
        if (pair.who is None) == (other.who is None) and pair.topic != other.topic
    ]


def hard_negatives(pairs: Sequence[Pair]) -> list[Mismatch]:
    return [Mismatch(at, at, pair.hard_negative) for at, pair in enumerate(pairs) if pair.hard_negative]


@dataclass(frozen=True, slots=True)
class Cosines:
    """Of some pairs of one language, those about the user apart from those that share a person's name (`_named`).

    `true` is of both; `same` compares each memory as a query with itself as a passage.
    """

    true: Rows
    true_user: Rows
    true_named: Rows
    unrelated: Rows
    unrelated_named: Rows
    hard: Rows
    same: Rows

    def separation(self) -> float:
        """Chance that a true pair about the user has a higher cosine than an unrelated one."""
        return _chance_above(self.true_user, self.unrelated)

    def named_separation(self) -> float:
        """The same of pairs that share a person's name."""
        return _chance_above(self.true_named, self.unrelated_named)


@dataclass(frozen=True, slots=True)
class Beside:
    """Vectors of memories that do not answer, each with the row of the question it stands beside."""

    asked: NDArray[np.intp]
    memories: Rows

    def cosines(self, queries: Rows, centre: Rows) -> Rows:
        """`queries` are centred already."""
        return np.asarray(np.sum(queries[self.asked] * _centred(self.memories, centre), axis=1), np.float32)


@dataclass(frozen=True, slots=True)
class Vectors:
    """Of some pairs of one language, as the model gives them."""

    is_named: NDArray[np.bool_]
    queries: Rows
    memories: Rows
    memories_as_queries: Rows
    unrelated: Beside
    unrelated_named: Beside
    hard: Beside

    def cosines(self, centre: Rows) -> Cosines:
        queries, memories = _centred(self.queries, centre), _centred(self.memories, centre)
        true = np.sum(queries * memories, axis=1)
        return Cosines(
            true=true,
            true_user=true[~self.is_named],
            true_named=true[self.is_named],
            unrelated=self.unrelated.cosines(queries, centre),
            unrelated_named=self.unrelated_named.cosines(queries, centre),
            hard=self.hard.cosines(queries, centre),
            same=np.sum(_centred(self.memories_as_queries, centre) * memories, axis=1),
        )


async def embed_pairs(embedder: SideBySideEmbedder[Any], pairs: Sequence[Pair]) -> Vectors:
    memories = [pair.memory for pair in pairs]
    crossed = unrelated(pairs)

    async def beside(mismatches: list[Mismatch]) -> Beside:
        texts = list(dict.fromkeys(mismatch.memory for mismatch in mismatches))
        rows, place = await embedder.embed_passages(texts), {text: at for at, text in enumerate(texts)}
        return Beside(
            np.array([mismatch.asked for mismatch in mismatches]),
            rows[[place[mismatch.memory] for mismatch in mismatches]],
        )

    return Vectors(
        is_named=np.array([pair.who is not None for pair in pairs]),
        queries=await embedder.embed_queries([WORDS.without_names(pair.query) for pair in pairs]),
        memories=await embedder.embed_passages(memories),
        memories_as_queries=await embedder.embed_queries(memories),
        unrelated=await beside([one for one in crossed if pairs[one.asked].who is None]),
        unrelated_named=await beside([one for one in crossed if pairs[one.asked].who is not None]),
        hard=await beside(hard_negatives(pairs)),
    )


def joined(parts: Sequence[Cosines]) -> Cosines:
    columns = [[getattr(part, field.name) for part in parts] for field in fields(Cosines)]
    return Cosines(*map(np.concatenate, columns))


def mean_vector(every: Iterable[Vectors]) -> Rows:
    """Questions and memories, and the languages, weigh the same."""
    means = [rows.mean(axis=0) for one in every for rows in (one.queries, one.memories)]
    return np.asarray(np.mean(means, axis=0).round(4), np.float32)


def _chance_above(higher: Rows, lower: Rows) -> float:
    return float(np.searchsorted(np.sort(lower), higher).mean() / len(lower))


def _centred(vectors: Rows, centre: Rows) -> Rows:
    moved = vectors - centre
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), np.float32)
