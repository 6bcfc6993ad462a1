"""Which memories enter the graph: what holds, is not in doubt, and matters or was said more than once."""

from __future__ import annotations

from typing import Final

from hindsight_common.domain.fold import Ledger
from hindsight_common.domain.memory import Memory, Promotion

RULE: Final = "promote/1"
IMPORTANT: Final = 0.5


def deserves_promotion(memory: Memory) -> bool:
    """Facts that hold or held, and events; provisional, disputed and quarantined ones wait until they are settled."""
    if memory.status not in ("active", "superseded"):
        return False
    return memory.type == "fact" or memory.importance >= IMPORTANT or len(memory.evidence) > 1


def promotions(ledger: Ledger) -> tuple[Promotion, ...]:
    """What is not in the graph yet, or rests on more evidence than it entered with; in order of memory id."""
    standing = ledger.promoted()
    return tuple(
        Promotion(memory_id, memory.evidence)
        for memory_id, memory in sorted(ledger.memories().items())
        if deserves_promotion(memory) and not set(memory.evidence) <= standing.get(memory_id, frozenset())
    )
