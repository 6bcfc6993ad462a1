"""The checks before a graph is written: it hangs together, contradicts itself nowhere unsaid, and runs on in time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from hindsight_common.domain.graph import Edge, UserGraph
from hindsight_common.domain.predicates import predicate


@dataclass(frozen=True, slots=True)
class Checked:
    """The graph without what cannot stand, and how often each fault was met; a conflict stays, and is told."""

    graph: UserGraph
    faults: Mapping[str, int]


def checked(graph: UserGraph) -> Checked:
    """Drops edges without both ends (`dangling`) or that end before they begin, and nodes without edges (`orphan`).

    A `conflict` is a second value that a predicate of one value has at the same time. A sound graph comes back whole.
    """
    places = {(node.type, node.key) for node in graph.nodes}
    joined = [edge for edge in graph.edges if edge.source in places and edge.target in places]
    edges = [edge for edge in joined if not _ends_before_it_begins(edge)]
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    nodes = [node for node in graph.nodes if (node.type, node.key) in ends]
    faults = {
        "dangling": len(graph.edges) - len(joined),
        "backwards": len(joined) - len(edges),
        "orphan": len(graph.nodes) - len(nodes),
        "conflict": _conflicts(edges),
    }
    return Checked(
        UserGraph(tuple(nodes), tuple(edges)), {kind: count for kind, count in faults.items() if count}
    )


def _ends_before_it_begins(edge: Edge) -> bool:
    if edge.valid_until is None:
        return False
    return datetime.fromisoformat(edge.valid_until) < datetime.fromisoformat(edge.valid_from)


def _conflicts(edges: Iterable[Edge]) -> int:
    """How many values hold although another one of the same thing, which can have only one, still holds."""
    standing: dict[tuple[str, str], set[str]] = defaultdict(set)
    for edge in edges:
        if predicate(edge.predicate).cardinality != "many" and edge.valid_until is None and not edge.negated:
            standing[edge.source[1], edge.predicate].add(edge.target[1])
    return sum(len(values) - 1 for values in standing.values())
