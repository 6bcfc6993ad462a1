"""Steps through a user's graph, nearest first; a store only has to tell the edges of some nodes."""

from __future__ import annotations

from collections.abc import Iterable

from hindsight_common.domain.graph import USER_KEY, Edge, NodeType

Place = tuple[NodeType, str]

_USER: Place = ("Entity", USER_KEY)


class Walk:
    """Begins at some places. While `frontier` is not empty, hand its edges to `step`; `edges` is what was found.

    The user's own node joins everything with everything, so it is never a step on the way to somewhere else.
    """

    def __init__(self, start: Iterable[Place], *, hops: int, limit: int) -> None:
        self.edges: dict[Edge, None] = {}
        self.frontier = list(dict.fromkeys(start)) if hops > 0 and limit > 0 else []
        self._hops_left = hops
        self._limit = limit
        self._seen = set(self.frontier)

    def step(self, found: Iterable[Edge]) -> None:
        """Takes the edges of the frontier, in any order, repetitions included."""
        new = sorted({edge for edge in found if edge not in self.edges}, key=_by_weight)
        new = new[: self._limit - len(self.edges)]
        self.edges.update(dict.fromkeys(new))
        self._hops_left -= 1
        ends = dict.fromkeys(end for edge in new for end in (edge.source, edge.target))
        going_on = self._hops_left > 0 and len(self.edges) < self._limit
        self.frontier = [end for end in ends if end not in self._seen and end != _USER] if going_on else []
        self._seen.update(self.frontier)

    def places(self) -> set[Place]:
        """The ends of all edges found."""
        return {end for edge in self.edges for end in (edge.source, edge.target)}


def _by_weight(edge: Edge) -> tuple[float, str, str, Place, Place]:
    return (-edge.importance, edge.memory_id, edge.relation, edge.source, edge.target)
