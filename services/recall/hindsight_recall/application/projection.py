"""The projection of the log into vectors and words.

A batch of events is joined into the ledgers of its users; of every group that an event touched, the rows are made
again. A row carries the log position it reflects and never yields to an older one, so a replay from any earlier
position ends where the log ends.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hindsight_common.domain.memory import Forgotten, Memory
from hindsight_common.domain.timeline import GroupKey
from hindsight_common.ids import Owner
from hindsight_common.ports.embedding import Embedder
from hindsight_common.ports.log import Logged
from hindsight_common.ports.memory_index import IndexFilter, IndexRow, MemoryIndex
from hindsight_common.sealing import KeyDestroyed
from hindsight_recall.application.ledgers import Folded, Ledgers
from hindsight_recall.application.rows import RowMaker

_PAGE = 500
# whose last position is known without asking the log
_RECENT_OWNERS = 100_000


@dataclass(frozen=True, slots=True)
class _Change:
    """What one owner's events of a batch come to."""

    owner: Owner
    folded: Folded
    living: dict[str, Memory]
    gone: frozenset[str]


@dataclass(slots=True)
class _Draft:
    row: IndexRow
    text: str


class Projection:
    """Writes one index. `applied` positions are of events whose rows a search can see."""

    def __init__(
        self, ledgers: Ledgers, index: MemoryIndex | None, embedder: Embedder, rows: RowMaker
    ) -> None:
        self._index = index
        self._ledgers = ledgers
        self._embedder = embedder
        self._rows = rows
        self._applied: OrderedDict[Owner, int] = OrderedDict()
        # held while the index changes, so that another can be put in its place in between
        self.writing = asyncio.Lock()
        self._news = asyncio.Condition()
        self._batches = 0
        # every event up to here is visible
        self.position = 0

    @property
    def index(self) -> MemoryIndex:
        """The index that it writes; without one at first, it is set before anything is applied."""
        assert self._index is not None, "the index is opened when the worker starts"
        return self._index

    @index.setter
    def index(self, index: MemoryIndex) -> None:
        self._index = index

    @property
    def is_open(self) -> bool:
        return self._index is not None

    def applied(self, owner: Owner) -> int | None:
        """The position of this owner's last event here; None if none came lately. Then `position` covers it."""
        return self._applied.get(owner)

    async def apply(self, batch: Sequence[Logged]) -> None:
        """Joins a batch in log order and makes it visible. Idempotent. Raises `RetryLater`, then nothing counts."""
        async with self.writing:
            await self._apply(batch)
        self._batches += 1
        async with self._news:
            self._news.notify_all()

    async def _apply(self, batch: Sequence[Logged]) -> None:
        by_owner: dict[Owner, list[Logged]] = defaultdict(list)
        for logged in batch:
            by_owner[logged.owner].append(logged)
        changes = [await self._join(owner, events) for owner, events in by_owner.items()]
        try:
            await self._write(changes)
        except BaseException:
            # the ledgers are ahead of the index now; folded anew, the same events touch the same groups again
            for change in changes:
                self._ledgers.forget(change.owner)
            raise
        for change in changes:
            self._applied[change.owner] = change.folded.position
            self._applied.move_to_end(change.owner)
        while len(self._applied) > _RECENT_OWNERS:
            self._applied.popitem(last=False)
        if batch:
            self.position = max(self.position, batch[-1].sequence)

    async def until(self, reached: Callable[[], Awaitable[bool]]) -> None:
        """Returns once `reached` is true, asked again after every batch; the caller limits the time."""
        while True:
            seen = self._batches
            if await reached():
                return
            async with self._news:
                while self._batches == seen:
                    await self._news.wait()

    async def _join(self, owner: Owner, events: list[Logged]) -> _Change:
        folded = await self._ledgers.before(owner, events[0].sequence)
        touched: set[GroupKey] = set()
        for logged in events:
            # also of a repetition: an erasure may have sealed it anew, and then the key of its rows is gone
            touched |= folded.ledger.apply(logged.event_id, logged.event)
        folded.position = max(folded.position, events[-1].sequence)
        living: dict[str, Memory] = {}
        seen: set[str] = set()
        for group in touched:
            living |= folded.ledger.members(group)
            seen |= folded.ledger.memory_ids(group)
        if any(isinstance(logged.event, Forgotten) for logged in events):
            seen |= await self._orphans(owner, folded)
        return _Change(owner, folded, living, frozenset(seen - living.keys()))

    async def _orphans(self, owner: Owner, folded: Folded) -> set[str]:
        """Rows that no living evidence stands behind: what was forgotten may be gone from the log already."""
        alive, orphans, cursor = folded.ledger.memories(), set[str](), None
        while True:
            page = await self.index.list(owner, IndexFilter(), cursor, _PAGE)
            orphans |= {row.memory_id for row in page.rows if row.memory_id not in alive}
            if (cursor := page.cursor) is None:
                return orphans

    async def _write(self, changes: list[_Change]) -> None:
        drafts: list[_Draft] = []
        for change in changes:
            known = await self.index.get(change.owner, [*change.living, *change.gone])
            standing = {row.memory_id: row for row in known}
            drafts += await self._drafts(change, standing)
            gone = [
                m for m in change.gone if m in standing and standing[m].sequence <= change.folded.position
            ]
            if gone:
                await self.index.delete(change.owner, gone)
        to_embed = [draft for draft in drafts if draft.row.vector is None]
        if to_embed:
            vectors = await self._embedder.embed_passages([draft.text for draft in to_embed])
            for draft, vector in zip(to_embed, vectors, strict=True):
                draft.row = replace(draft.row, vector=vector)
        if drafts:
            await self.index.upsert([draft.row for draft in drafts])

    async def _drafts(self, change: _Change, standing: dict[str, IndexRow]) -> list[_Draft]:
        key = await self._rows.key(change.owner)
        position, ledger = change.folded.position, change.folded.ledger
        drafts: list[_Draft] = []
        for memory in change.living.values():
            before = standing.get(memory.memory_id)
            if before is not None and before.sequence >= position:
                continue  # a replay of what the row reflects already
            turns = (ledger.turn(turn_key) for turn_key, _ in memory.evidence)
            row = self._rows.row(
                change.owner,
                memory,
                sequence=position,
                session_keys=tuple(sorted({turn.session_key for turn in turns if turn is not None})),
                key=key,
                vector=await self._same_vector(before, memory),
            )
            drafts.append(_Draft(row, memory.search_text))
        return drafts

    async def _same_vector(self, standing: IndexRow | None, memory: Memory) -> NDArray[np.float32] | None:
        """The vector that stands, if it is of the same text: most changes of a memory leave its text as it is."""
        if standing is None or standing.vector is None:
            return None
        try:
            before = await self._rows.memory(standing)
        except KeyDestroyed:
            return None
        return standing.vector if before.search_text == memory.search_text else None
