"""The eraser: what a tombstone names leaves every store.

Every step can be repeated, so a killed eraser begins again and a store that was away is waited for. The order: the
tombstone stands already; the projections drop what it names; turns in flight and dead letters go; of a whole user
the key; then, in the background, the log's sequences.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from hindsight_common.clock import Clock
from hindsight_common.domain.memory import Forgotten, Piece
from hindsight_common.errors import RetryLater
from hindsight_common.events.requests import Receipt, StoreReceipt
from hindsight_common.ids import Owner
from hindsight_common.ports.dead_letters import DeadLetters
from hindsight_common.ports.graph import GraphStore
from hindsight_common.ports.keys import Keyring
from hindsight_common.ports.log import Logged, MemoryLog
from hindsight_common.ports.memory_index import IndexFilter
from hindsight_common.ports.progress import Projections
from hindsight_common.ports.raw_turns import RawTurns
from hindsight_common.ports.turns import TurnStore
from hindsight_common.ports.working_memory import WorkingMemory
from hindsight_pruner.application.live_index import LiveIndex

_PAGE = 500
_log = structlog.get_logger(__name__)

_NUMBERS_REMAIN = (
    "text is unreadable; numbers of deleted rows stay in the store's files until its segments are rewritten"
)
_ITEM_REMAINS = (
    "what is left of single items is sealed, until the user's remaining memories are sealed anew; what was decided "
    "about them is removed in the background"
)
_MEMORY_ONLY = "it was never on disk, and sealed; memory that is freed is not overwritten at once"


@dataclass(frozen=True, slots=True)
class Erase:
    log: MemoryLog
    turns: TurnStore
    raw_turns: RawTurns
    dead_letters: DeadLetters
    keyring: Keyring
    index: LiveIndex
    graph: GraphStore
    projections: Projections
    clock: Clock
    working: WorkingMemory
    # one erasure after the other seals anew: none may renew under the next key what the one behind it ends
    renewing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, tombstone: Logged, forgotten: Forgotten) -> Receipt:
        """Carries out all but the background work. Raises `RetryLater` while a store is away."""
        owner, whole_user = tombstone.owner, forgotten.scope == "user"
        whole = frozenset(turn_key for turn_key, memory_id in forgotten.pieces if memory_id is None)
        touched = frozenset(turn_key for turn_key, _ in forgotten.pieces)
        stores: dict[str, StoreReceipt] = {}
        await self.projections.await_position("vectors", tombstone.sequence)
        stores["vectors"] = await self._vectors(owner, forgotten, tombstone.sequence)
        await self.projections.await_position("graph", tombstone.sequence)
        stores["graph"] = await self._graph(owner, forgotten)
        removed = 0
        async for stored in self.turns.list(owner):
            if stored.turn_key in touched:
                await self.turns.delete(stored.sequence)
                removed += 1
        stores["turns"] = self._gone(removed)
        # behind the turns: one that intake accepts again from here on is dropped by its reader, here too
        stores["working"] = await self._working(owner, touched, whole_user=whole_user)
        stores["intake"] = self._gone(await self._raw(owner, whole))
        stores["dead_letters"] = self._gone(
            await self.dead_letters.erase(owner, None if whole_user else touched)
        )
        stores["keys"] = await self._key(owner) if whole_user else self._gone(0)
        stores["log"] = self._log_receipt(forgotten.scope)
        return Receipt(
            id=tombstone.event_id,
            status="done",
            stores=stores,
            unreachable_at=max(s.unreachable_at for s in stores.values() if s.unreachable_at),
        )

    async def sweep_log(self, tombstone: Logged, forgotten: Forgotten) -> int:
        """The background work: sequences of the log that nobody can or may read any more. Returns how many went."""
        owner, removed = tombstone.owner, 0
        whole = {turn_key for turn_key, memory_id in forgotten.pieces if memory_id is None}
        if whole or forgotten.scope == "user":
            key_ids = await self.keyring.destroyed(owner) if forgotten.scope == "user" else frozenset[str]()
            removed = await self.log.erase(owner, key_ids=key_ids, turn_keys=whole)
        # one decision may be about what several tombstones cover together
        removed += await self.log.erase_decisions(owner, await self._ever_forgotten(owner))
        _log.info("erasure.log_swept", removed=removed, scope=forgotten.scope)
        return removed

    async def _vectors(self, owner: Owner, forgotten: Forgotten, position: int) -> StoreReceipt:
        """The projection has dropped the rows; this looks whether it is so."""
        named = {memory_id for _, memory_id in forgotten.pieces if memory_id is not None}
        if forgotten.scope == "user":
            left = await self._rows_before(owner, position)
        else:
            rows = await self.index.now().get(owner, sorted(named)) if named else []
            left = [row.memory_id for row in rows if row.sequence < position]
        if left:
            raise RetryLater("the vector store still holds rows that a tombstone covers")
        return self._gone(len(named), bytes_gone=False, detail=_NUMBERS_REMAIN)

    async def _rows_before(self, owner: Owner, position: int) -> list[str]:
        found: list[str] = []
        cursor: str | None = None
        while True:
            page = await self.index.now().list(owner, IndexFilter(), cursor, _PAGE)
            found += [row.memory_id for row in page.rows if row.sequence < position]
            if (cursor := page.cursor) is None:
                return found

    async def _graph(self, owner: Owner, forgotten: Forgotten) -> StoreReceipt:
        named = {memory_id for _, memory_id in forgotten.pieces if memory_id is not None}
        still = {edge.memory_id for edge in (await self.graph.read(owner)).edges} & named
        living = set[str]()
        if still:
            # a memory may live on other evidence than the forgotten; the projection knows
            living = {row.memory_id for row in await self.index.now().get(owner, sorted(still))}
        if still - living:
            raise RetryLater("the graph still holds what a tombstone covers")
        return self._gone(0)

    async def _working(self, owner: Owner, touched: frozenset[str], *, whole_user: bool) -> StoreReceipt:
        """What was said in the turns, also where only one item of a turn is forgotten; of a user all that was said."""
        # by name also of a whole user: one that intake has accepted and not remembered yet must not come in behind it
        gone = await self.working.forget_turns(owner, touched)
        if whole_user:
            gone += await self.working.forget_owner(owner)
        return self._gone(gone, bytes_gone=False, detail=_MEMORY_ONLY)

    async def _raw(self, owner: Owner, whole: frozenset[str]) -> int:
        removed = 0
        async for raw in self.raw_turns.waiting(owner):
            if raw.turn_key in whole:
                removed += await self.raw_turns.delete(raw.sequence)
        return removed

    async def _key(self, owner: Owner) -> StoreReceipt:
        """Destroys the user's key; what was said since the tombstone is sealed anew first."""
        async with self.renewing:
            before = await self.keyring.destroyed(owner)
            destroyed = await self.keyring.mark_destroyed(owner)
            covered = await self._ever_forgotten(owner)
            for key in await self.keyring.doomed(owner):
                async for stored in self.turns.list(owner):
                    if stored.key_id == key.key_id and (stored.turn_key, None) not in covered:
                        await self.turns.reseal(stored, key)
                await self.log.reseal(owner, key, covered)
                await self.keyring.wipe(owner, key)
        return self._gone(len(destroyed - before))

    async def _ever_forgotten(self, owner: Owner) -> frozenset[Piece]:
        """What any tombstone covers: of two erasures at once neither may renew what the other ends."""
        covered = set[Piece]()
        async for logged in self.log.read(owner, kinds=("forgotten",)):
            if isinstance(logged.event, Forgotten):
                covered |= set(logged.event.pieces)
        return frozenset(covered)

    def _log_receipt(self, scope: str) -> StoreReceipt:
        if scope == "user":
            return self._gone(
                0, detail="unreadable: the key is destroyed; sequences are removed in the background"
            )
        if scope == "session":
            return self._gone(
                0, bytes_gone=False, detail="sequences of whole turns are removed in the background"
            )
        return self._gone(0, bytes_gone=False, detail=_ITEM_REMAINS)

    def _gone(self, removed: int, *, bytes_gone: bool = True, detail: str | None = None) -> StoreReceipt:
        now: datetime = self.clock.now()
        return StoreReceipt(
            status="done",
            removed=removed,
            unreachable_at=now,
            bytes_gone_at=now if bytes_gone else None,
            detail=detail,
        )
