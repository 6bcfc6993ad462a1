"""What a tombstone has to name, for each way of asking to forget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from hindsight_common.domain.fold import Ledger, closings_of
from hindsight_common.domain.memory import Forgotten, LogEvent, Memory, Piece

Scope = Literal["items", "session", "user"]

# about 70 bytes a turn, once in the clear header and once in the body: well below what a message may weigh
MOST_PIECES: Final = 5000


def pieces_of_memories(ledger: Ledger, memories: Iterable[Memory]) -> tuple[Piece, ...]:
    """Under every id they are known by: what was corrected must not come back as what it was before."""
    return tuple(sorted({piece for m in memories for piece in ledger.pieces(m.memory_id)}, key=_order))


def pieces_of_turns(turn_keys: Iterable[str]) -> tuple[Piece, ...]:
    return tuple((turn_key, None) for turn_key in sorted(set(turn_keys)))


def turns_of_session(ledger: Ledger, session_key: str) -> set[str]:
    return {given.turn_key for given in ledger.turns() if given.session_key == session_key}


def resting_on(ledger: Ledger, pieces: Iterable[Piece]) -> list[Memory]:
    """The living memories that lose evidence by a tombstone over these pieces, in order of id."""
    turns = {turn_key for turn_key, memory_id in pieces if memory_id is None}
    items = {piece for piece in pieces if piece[1] is not None}
    return [
        memory
        for _, memory in sorted(ledger.memories().items())
        if any(piece[0] in turns or piece in items for piece in memory.evidence)
    ]


def tombstone(
    events: list[tuple[str, LogEvent]],
    scope: Scope,
    pieces: tuple[Piece, ...],
    now: datetime,
) -> Forgotten:
    """The tombstone over some pieces, with what it must keep so that a forgotten successor still ends what it ended."""
    bare = Forgotten(scope, pieces, now)
    if scope == "user":
        return bare
    before, after = Ledger(), Ledger()
    for event_id, event in events:
        before.apply(event_id, event)
        after.apply(event_id, event)
    after.apply("", bare)
    return Forgotten(scope, pieces, now, closings_of(before, after))


def parts(whole: Forgotten, most: int = MOST_PIECES) -> list[Forgotten]:
    """A tombstone in parts that fit into a message, to be written in order; the last one has the whole's scope.

    Together they cover the same, and until the last is written nobody's key is destroyed.
    """
    earlier = range(0, max(0, len(whole.pieces) - most), most)
    rest = len(earlier) * most
    scope: Scope = "items" if whole.scope == "items" else "session"
    return [
        *(Forgotten(scope, whole.pieces[start : start + most], whole.decided_at) for start in earlier),
        replace(whole, pieces=whole.pieces[rest:]),
    ]


def _order(piece: Piece) -> tuple[str, str]:
    return (piece[0], piece[1] or "")
