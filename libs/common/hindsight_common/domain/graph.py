"""A user's knowledge graph, derived from the memories that consolidation promoted.

Three node types and twelve relation types, a closed set; whatever a predicate is called, it becomes one of them and
keeps its own name as a property. No node stands alone: every node hangs on the user or on an event of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from hindsight_common.domain.memory import Memory
from hindsight_common.domain.predicates import Relation, predicate
from hindsight_common.domain.text import normal_key

NodeType = Literal["Entity", "Event", "Context"]
USER_KEY: Final = "user"


@dataclass(frozen=True, slots=True)
class Node:
    """`key` is the same for every spelling of a name; `name` is how it was last said."""

    type: NodeType
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Edge:
    """One relation, resting on one memory. Times as ISO 8601 text, until None = still holds."""

    memory_id: str
    relation: Relation
    source: tuple[NodeType, str]
    target: tuple[NodeType, str]
    predicate: str
    negated: bool
    importance: float
    evidence: int
    valid_from: str
    valid_until: str | None


@dataclass(frozen=True, slots=True)
class UserGraph:
    """Nodes by (type, key), edges in a stable order."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph_of(memories: Iterable[Memory]) -> UserGraph:
    """The graph of some memories of one user; the same memories give the same graph in any order."""
    nodes: dict[tuple[NodeType, str], Node] = {}
    edges: list[Edge] = []
    for memory in sorted(memories, key=lambda m: m.memory_id):
        for node, edge in _parts(memory):
            nodes.setdefault((node.type, node.key), node)
            edges.append(edge)
        if memory.type == "event":
            nodes["Event", memory.memory_id] = Node("Event", memory.memory_id, memory.content)
        actor = _actor(memory)
        nodes.setdefault((actor.type, actor.key), actor)
    return UserGraph(
        nodes=tuple(sorted(nodes.values(), key=lambda n: (n.type, n.key))),
        edges=tuple(sorted(edges, key=lambda e: (e.memory_id, e.relation, e.target, e.source))),
    )


def _actor(memory: Memory) -> Node:
    if memory.type == "fact":
        return Node("Entity", memory.subject_key or USER_KEY, memory.subject or USER_KEY)
    return Node("Entity", normal_key(memory.speaker), memory.speaker)


def _parts(memory: Memory) -> Iterable[tuple[Node, Edge]]:
    """(the node at an edge's far end, the edge), for every edge that the memory gives."""
    actor = _actor(memory)
    actor_key: tuple[NodeType, str] = (actor.type, actor.key)
    if memory.type == "fact" and memory.predicate is not None:
        target = Node("Entity", memory.object_key or "", memory.object or "")
        relation = predicate(memory.predicate).relation
        yield target, _edge(memory, relation, actor_key, (target.type, target.key))
        return
    event: tuple[NodeType, str] = ("Event", memory.memory_id)
    yield actor, _edge(memory, "PARTICIPATED_IN", actor_key, event)
    for name in memory.people:
        person = Node("Entity", normal_key(name), name)
        if person.key != actor.key:
            yield person, _edge(memory, "PARTICIPATED_IN", (person.type, person.key), event)
    day = memory.valid_from.date().isoformat()
    yield Node("Context", day, day), _edge(memory, "OCCURRED_IN", event, ("Context", day))


def _edge(
    memory: Memory, relation: Relation, source: tuple[NodeType, str], target: tuple[NodeType, str]
) -> Edge:
    return Edge(
        memory_id=memory.memory_id,
        relation=relation,
        source=source,
        target=target,
        predicate=memory.predicate or relation.lower(),
        negated=memory.negated,
        importance=memory.importance,
        evidence=len(memory.evidence),
        valid_from=memory.valid_from.isoformat(),
        valid_until=memory.valid_until.isoformat() if memory.valid_until else None,
    )
