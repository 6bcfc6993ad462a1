"""Someone's word about a memory goes into the log: `memory.decide`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from hindsight_common.clock import Clock
from hindsight_common.domain.decisions import Correction, Decision, Pin, Word
from hindsight_common.domain.fold import Ledger
from hindsight_common.domain.hybrid_time import HybridClock
from hindsight_common.domain.memory import Memory
from hindsight_common.errors import RequestError
from hindsight_common.events.log import body_of
from hindsight_common.events.requests import DecideRequest, MemoryAnswer, parse_request
from hindsight_common.events.shown import shown
from hindsight_common.ids import IdFactory, Owner
from hindsight_common.ports.log import MemoryLog, Overtaken
from hindsight_extractor.domain.corrections import corrected_event, corrected_fact

# about 90 bytes a piece, once in the clear header and once in the body: well below what a message may weigh
MOST_PIECES: Final = 4000

_KINDS: Final = {"fact": "a fact", "event": "an event"}


@dataclass(slots=True)
class _History:
    """A user's folded log, up to where, and for each memory that was corrected the last word about it."""

    ledger: Ledger
    position: int = 0
    corrected: dict[str, tuple[Decision, Correction]] = field(default_factory=dict)

    def note(self, decision: Decision) -> None:
        for word in decision.words:
            if isinstance(word, Correction):
                standing = self.corrected.get(decision.memory_id)
                if standing is None or standing[0].at < decision.at:
                    self.corrected[decision.memory_id] = (decision, word)


@dataclass(frozen=True, slots=True)
class Decide:
    """`redact` replaces what may not be kept, as it does for turns."""

    ids: IdFactory
    log: MemoryLog
    redact: Callable[[str], str]
    clock: Clock
    hybrid: HybridClock = field(default_factory=HybridClock)

    async def answer(self, tenant: str, data: bytes) -> MemoryAnswer:
        """The memory as it is then. A request that was carried out already changes nothing.

        Raises `RequestError`: `not_found` (404) for a memory that this user does not have, `invalid_request` naming
        the field for a word that does not fit the memory.
        """
        request = parse_request(DecideRequest, data)
        owner = self.ids.owner(tenant, request.user_id)
        while True:
            # what is forgotten meanwhile must not get a word into the log that no eraser would find again
            with suppress(Overtaken):
                return await self._decide(owner, request)

    async def _decide(self, owner: Owner, request: DecideRequest) -> MemoryAnswer:
        """Raises `Overtaken` too, if somebody forgets something meanwhile."""
        tombstone = await self.log.last_tombstone(owner)
        history = await self._history(owner)
        memory = history.ledger.memory(request.memory_id) or self._corrected_before(owner, request, history)
        words = tuple(self._words(owner, request, memory, history.ledger))
        if not words:
            return MemoryAnswer(memory=shown(memory), position=history.position)
        position = await self._record(owner, memory, words, history.ledger, tombstone)
        moved = next((w.memory_id for w in words if isinstance(w, Correction)), memory.memory_id)
        after = history.ledger.memory(moved)
        if after is None:
            raise _unknown()
        return MemoryAnswer(memory=shown(after), position=position)

    async def _history(self, owner: Owner) -> _History:
        history = _History(Ledger())
        async for logged in self.log.read(owner):
            history.ledger.apply(logged.event_id, logged.event)
            history.position = logged.sequence
            if isinstance(logged.event, Decision):
                history.note(logged.event)
        return history

    def _corrected_before(self, owner: Owner, request: DecideRequest, history: _History) -> Memory:
        """What the memory was corrected to, if this request asks for just that: then it is a repetition."""
        _, correction = history.corrected.get(request.memory_id, (None, None))
        memory = history.ledger.memory(correction.memory_id) if correction else None
        if memory is None or (request.object is None and request.content is None):
            raise _unknown()
        if self._correction(owner, request, memory, history.ledger) is not None:
            raise _unknown()
        return memory

    def _words(self, owner: Owner, request: DecideRequest, memory: Memory, ledger: Ledger) -> Iterator[Word]:
        """What the request changes, nothing where all is as it says."""
        correction = self._correction(owner, request, memory, ledger)
        if correction is not None:
            yield correction
        if request.pinned is not None and request.pinned != memory.pinned:
            yield Pin(request.pinned)

    def _correction(
        self, owner: Owner, request: DecideRequest, memory: Memory, ledger: Ledger
    ) -> Correction | None:
        """None if none is asked for, or the memory says so already."""
        misplaced, given = ("content", "object") if memory.type == "fact" else ("object", "content")
        if getattr(request, misplaced) is not None:
            raise _invalid(
                misplaced, f"does not fit: this memory is {_KINDS[memory.type]}, say {given} instead"
            )
        instead: str | None = getattr(request, given)
        if instead is None:
            return None
        said = ledger.evidence(memory.memory_id)[-1]
        make = corrected_fact if memory.type == "fact" else corrected_event
        correction = make(self.ids, owner, said, instead, self.redact)
        if correction is None:
            raise _invalid(given, "has nothing in it that could be remembered")
        if correction.memory_id == memory.memory_id:
            same = memory.object == correction.object and memory.type == "fact"
            return None if same or memory.content == correction.content else correction
        if any(ledger.is_forgotten(turn, correction.memory_id) for turn, _ in ledger.roots(memory.memory_id)):
            raise _invalid(given, "was forgotten where this was said; say it in a new turn instead")
        return correction

    async def _record(
        self, owner: Owner, memory: Memory, words: tuple[Word, ...], ledger: Ledger, tombstone: int
    ) -> int:
        """Appends, unless a tombstone came meanwhile, and joins to the ledger. Returns the last part's position."""
        now, roots, position = self.clock.now(), ledger.roots(memory.memory_id), 0
        at = self.hybrid.tick(now, ledger.decided_at)
        for start in range(0, len(roots), MOST_PIECES):
            part = Decision(memory.memory_id, roots[start : start + MOST_PIECES], words, at, now)
            position = await self.log.append(owner, part, accepted_at=now, after_tombstone=tombstone)
            ledger.apply(self.ids.event_id(owner, "decision", body_of(part).decode()), part)
        return position


def _unknown() -> RequestError:
    return RequestError("not_found", "this user has no such memory", status=404, field="memory_id")


def _invalid(name: str, reason: str) -> RequestError:
    return RequestError("invalid_request", f"{name} {reason}", field=name)
