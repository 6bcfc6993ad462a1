"""Nodes and edges as rows for Neo4j and back, and what has to change for one graph to become another."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import astuple, dataclass, field
from typing import Any, Final

from hindsight_common.adapters.neo4j_connection import Row
from hindsight_common.adapters.neo4j_cypher import NODE_TYPES
from hindsight_common.domain.graph import Edge, Node, NodeType, UserGraph
from hindsight_common.domain.graph_terms import name_terms
from hindsight_common.domain.graph_walk import Place
from hindsight_common.domain.predicates import Relation
from hindsight_common.ids import Owner
from hindsight_common.ports.graph import FAN

# rows written in one transaction: about 100 MB of the server's memory
MOST_CHANGES: Final = 20_000


@dataclass(slots=True)
class Change:
    """Rows to write, by type; ids and elements to delete; ids of nodes with many edges, and with many no more.

    `complete` = nothing is left to do after it.
    """

    nodes: dict[NodeType, list[Row]] = field(default_factory=lambda: defaultdict(list))
    edges: dict[Relation, list[Row]] = field(default_factory=lambda: defaultdict(list))
    gone_edges: list[str] = field(default_factory=list)
    gone_nodes: list[str] = field(default_factory=list)
    crowded: list[str] = field(default_factory=list)
    uncrowded: list[str] = field(default_factory=list)
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Standing:
    """What the store has of an owner: node id → name, edge id → element, and the nodes that remember their best."""

    nodes: Mapping[str, str]
    edges: Mapping[str, str]
    crowded: Set[str]

    @staticmethod
    def of(nodes: Sequence[Row], edges: Sequence[Row]) -> Standing:
        return Standing(
            {row["id"]: row["name"] for row in nodes},
            {row["id"]: row["element"] for row in edges},
            {row["id"] for row in nodes if row["crowded"]},
        )

    def after(self, change: Change) -> Standing:
        """What stands once the change is made. New edges have no element yet: nothing deletes them before the end."""
        nodes, edges = dict(self.nodes), dict(self.edges)
        nodes.update({row["id"]: row["name"] for rows in change.nodes.values() for row in rows})
        edges.update({row["id"]: "" for rows in change.edges.values() for row in rows})
        gone = set(change.gone_edges)
        kept = {edge_id: element for edge_id, element in edges.items() if element not in gone}
        return Standing(nodes, kept, self.crowded)


class Wanted:
    """A user's graph as it is to stand, with the ids of its nodes and edges."""

    def __init__(self, owner: Owner, graph: UserGraph) -> None:
        self.owner = owner
        self.nodes = {node_id(owner, (node.type, node.key)): node for node in graph.nodes}
        self.edges = {_digest(str(owner), *map(repr, astuple(edge))): edge for edge in graph.edges}

    def change(self, standing: Standing, most: int | None = None) -> Change:
        """From what stands to this graph, at most `most` edges (by default `MOST_CHANGES`) at a time.

        New edges come first, with the nodes they need, then old ones go: no node ever stands alone in between.
        """
        change, room = Change(), MOST_CHANGES if most is None else most
        nodes, edges = standing.nodes, standing.edges
        lacking = {key for key, node in self.nodes.items() if nodes.get(key) != node.name}
        new = sorted(self.edges.keys() - edges.keys())
        needed: set[str] = set()
        for edge_id in new[:room]:
            edge = self.edges[edge_id]
            row = _edge_row(self.owner, edge_id, edge)
            change.edges[edge.relation].append(row)
            needed |= {row["source"], row["target"]}
        room -= len(new)
        if room >= 0:
            needed = lacking  # the last of the new edges: what only changed its name comes too
            gone = sorted(edges.keys() - self.edges.keys())
            change.gone_edges = [edges[edge_id] for edge_id in gone[:room]]
            room -= len(gone)
        if room >= 0:
            change.gone_nodes = sorted(nodes.keys() - self.nodes.keys())
            crowded = self._crowded()
            change.crowded = sorted(crowded)
            change.uncrowded = sorted((standing.crowded - crowded) & self.nodes.keys())
        change.complete = room >= 0
        for key in sorted(lacking & needed):
            node = self.nodes[key]
            change.nodes[node.type].append(
                {"id": key, "key": node.key, "name": node.name, "terms": " ".join(name_terms(node.name))}
            )
        return change

    def _crowded(self) -> set[str]:
        ends = Counter(end for edge in self.edges.values() for end in {edge.source, edge.target})
        return {node_id(self.owner, place) for place, degree in ends.items() if degree > FAN}


def _edge_row(owner: Owner, edge_id: str, edge: Edge) -> Row:
    source, target = node_id(owner, edge.source), node_id(owner, edge.target)
    return {
        "id": edge_id,
        "source": source,
        "target": target,
        # ascending: the most important first, equals by memory id
        "weight": f"{1 - edge.importance:.9f}/{edge.memory_id}",
        "memory_id": edge.memory_id,
        "predicate": edge.predicate,
        "negated": edge.negated,
        "importance": edge.importance,
        "evidence": edge.evidence,
        "valid_from": edge.valid_from,
        "valid_until": edge.valid_until,
    }


def edge_of(row: Row) -> Edge:
    return Edge(
        memory_id=row["memory_id"],
        relation=row["relation"],
        source=(row["source_type"], row["source_key"]),
        target=(row["target_type"], row["target_key"]),
        predicate=row["predicate"],
        negated=row["negated"],
        importance=row["importance"],
        evidence=row["evidence"],
        valid_from=row["valid_from"],
        valid_until=row["valid_until"],
    )


def ends_of(row: Row) -> Iterator[Node]:
    for end in ("source", "target"):
        yield Node(row[f"{end}_type"], row[f"{end}_key"], row[f"{end}_name"])


def nodes_of(rows: Sequence[Row]) -> list[Node]:
    """By type and key, each once."""
    return sorted({Node(row["type"], row["key"], row["name"]) for row in rows}, key=lambda n: (n.type, n.key))


def node_id(owner: Owner, place: Place) -> str:
    return _digest(str(owner), *place)


def ids_of(owner: Owner, keys: Sequence[str] | set[str]) -> list[str]:
    """The ids that nodes with these keys may have, in a fixed order."""
    return sorted(node_id(owner, (node_type, key)) for key in keys for node_type in NODE_TYPES)


def owner_id(owner: Owner) -> str:
    return _digest(str(owner))


def words_query(owner: Owner, terms: Sequence[str]) -> str:
    """Of this owner's nodes those with any of the terms, in the index's language, every sign escaped."""
    return f"+scope:{owner_id(owner)} +terms:({' '.join(map(_escaped, terms))})"


def _escaped(term: str) -> str:
    return "".join(character if character.isalnum() else f"\\{character}" for character in term)


def _digest(*parts: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        raw = str(part).encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(4, "big") + raw)
    return digest.hexdigest()[:32]
