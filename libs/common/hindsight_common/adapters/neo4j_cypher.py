"""What is said to Neo4j: fixed texts, made of our own closed sets of labels and types; values by parameter only.

Every node of a user is an `Owned` beside its own type, with tenant, user and generation. `id` is a hash of type and
key: a key may be longer than an index entry. Of an edge it is a hash of all that it says, so that one that changed
is another. A node with many edges remembers the best of them: to find those among tens of thousands would take
longer than an answer may.
"""

from __future__ import annotations

from typing import Final, get_args

from hindsight_common.domain.graph import NodeType
from hindsight_common.domain.predicates import RELATIONS

NODE_TYPES: Final[tuple[NodeType, ...]] = get_args(NodeType)

# by the name under which each stands in the database
SCHEMA: Final = {
    "owned_id": "CREATE CONSTRAINT owned_id IF NOT EXISTS FOR (n:Owned) REQUIRE (n.generation, n.id) IS UNIQUE",
    "owned_by": "CREATE INDEX owned_by IF NOT EXISTS FOR (n:Owned) ON (n.tenant, n.user, n.generation)",
    "owned_terms": "CREATE FULLTEXT INDEX owned_terms IF NOT EXISTS FOR (n:Owned) ON EACH [n.scope, n.terms]"
    " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}",
    "written_id": "CREATE CONSTRAINT written_id IF NOT EXISTS FOR (w:Written) REQUIRE (w.generation, w.id) IS UNIQUE",
    "generation_number": "CREATE CONSTRAINT generation_number IF NOT EXISTS FOR (g:Generation)"
    " REQUIRE g.number IS UNIQUE",
    "projection_name": "CREATE CONSTRAINT projection_name IF NOT EXISTS FOR (p:Projection) REQUIRE p.name IS UNIQUE",
}
DROP_INDEX: Final = {name: f"DROP INDEX {name} IF EXISTS" for name in SCHEMA}
INDEXES_READY: Final = "CALL db.awaitIndexes(60)"
FIRST_GENERATION: Final = "MERGE (p:Projection {name: 'graph'}) ON CREATE SET p.live = 0"

ANYTHING: Final = "RETURN 1 AS one"
LIVE: Final = "MATCH (p:Projection {name: 'graph'}) RETURN p.live AS live"
SWITCH: Final = "MATCH (p:Projection {name: 'graph'}) SET p.live = $generation"
POSITION: Final = (
    "MATCH (p:Projection {name: 'graph'}) MATCH (g:Generation {number: p.live}) RETURN g.sequence AS sequence"
)
# the first SET takes the lock, so that what is read after it cannot change any more
ADVANCE: Final = """
MERGE (g:Generation {number: $generation}) SET g.locked = true WITH g
SET g.sequence = CASE WHEN coalesce(g.sequence, 0) < $position THEN $position ELSE g.sequence END
"""
FORGET_POSITION: Final = "MATCH (g:Generation {number: $generation}) DELETE g"
LOCK_OWNER: Final = """
MERGE (w:Written {generation: $generation, id: $owner}) SET w.locked = true WITH w
SET w.tenant = $tenant, w.user = $user, w.writes = coalesce(w.writes, 0) + 1
RETURN coalesce(w.sequence, -1) AS sequence, w.writes AS writes
"""
WRITTEN: Final = "MATCH (w:Written {generation: $generation, id: $owner}) SET w.sequence = $position"
OWNERS: Final = (
    "MATCH (w:Written {generation: $generation}) WHERE w.id > '' RETURN w.tenant AS tenant, w.user AS user"
)
UNLOCK_OWNER: Final = "MATCH (w:Written {generation: $generation, id: $owner}) DELETE w"

_OF_OWNER: Final = "{generation: $generation, tenant: $tenant, user: $user}"
_HERS: Final = "{0}.tenant = $tenant AND {0}.user = $user"
# said outright: with few nodes in the statistics, the planner would read all of an owner's instead
_BY_ID: Final = "USING INDEX {0}:Owned(generation, id)"
_LIVE: Final = "MATCH (p:Projection {name: 'graph'})\nWITH p.live AS live\n"

STANDING_NODES: Final = (
    f"MATCH (n:Owned {_OF_OWNER}) RETURN n.id AS id, n.name AS name, n.best IS NOT NULL AS crowded"
)
STANDING_EDGES: Final = f"MATCH (:Owned {_OF_OWNER})-[r]->() RETURN r.id AS id, elementId(r) AS element"
MERGE_NODES: Final = {
    node_type: f"""
UNWIND $rows AS row
MERGE (n:Owned {{generation: $generation, id: row.id}})
ON CREATE SET n:{node_type}, n.type = '{node_type}', n.tenant = $tenant, n.user = $user, n.scope = $owner
SET n.key = row.key, n.name = row.name, n.terms = row.terms
"""
    for node_type in NODE_TYPES
}
MERGE_EDGES: Final = {
    relation: f"""
UNWIND $rows AS row
MATCH (a:Owned {{generation: $generation, id: row.source}}) {_BY_ID.format("a")} WHERE {_HERS.format("a")}
MATCH (b:Owned {{generation: $generation, id: row.target}}) {_BY_ID.format("b")} WHERE {_HERS.format("b")}
MERGE (a)-[r:{relation} {{id: row.id}}]->(b)
SET r.tenant = $tenant, r.user = $user, r.weight = row.weight,
    r.memory_id = row.memory_id, r.predicate = row.predicate, r.negated = row.negated,
    r.importance = row.importance, r.evidence = row.evidence, r.valid_from = row.valid_from,
    r.valid_until = row.valid_until
"""
    for relation in RELATIONS
}
DELETE_EDGES: Final = (
    f"UNWIND $rows AS element MATCH ()-[r]->() WHERE elementId(r) = element AND {_HERS.format('r')} DELETE r"
)
DELETE_NODES: Final = f"""
UNWIND $rows AS id
MATCH (n:Owned {{generation: $generation, id: id}}) {_BY_ID.format("n")} WHERE {_HERS.format("n")}
DETACH DELETE n
"""
REMEMBER_BEST: Final = f"""
UNWIND $rows AS id
MATCH (n:Owned {{generation: $generation, id: id}}) {_BY_ID.format("n")} WHERE {_HERS.format("n")}
CALL (n) {{ MATCH (n)-[r]-() RETURN elementId(r) AS element ORDER BY r.weight LIMIT $fan }}
WITH n, collect(DISTINCT element) AS best
SET n.best = best
"""
FORGET_BEST: Final = f"""
UNWIND $rows AS id
MATCH (n:Owned {{generation: $generation, id: id}}) {_BY_ID.format("n")} WHERE {_HERS.format("n")}
REMOVE n.best
"""
DROP_EDGES: Final = f"MATCH (:Owned {_OF_OWNER})-[r]->() WITH r LIMIT $most DELETE r RETURN count(*) AS gone"
DROP_NODES: Final = f"MATCH (n:Owned {_OF_OWNER}) WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS gone"

_EDGE: Final = """
RETURN type(r) AS relation, s.type AS source_type, s.key AS source_key, s.name AS source_name,
       t.type AS target_type, t.key AS target_key, t.name AS target_name, r.memory_id AS memory_id,
       r.predicate AS predicate, r.negated AS negated, r.importance AS importance, r.evidence AS evidence,
       r.valid_from AS valid_from, r.valid_until AS valid_until
"""
_LIVE_OF_OWNER: Final = "{generation: live, tenant: $tenant, user: $user}"
NODES: Final = f"{_LIVE}MATCH (n:Owned {_LIVE_OF_OWNER}) RETURN n.type AS type, n.key AS key, n.name AS name"
EDGES: Final = f"{_LIVE}MATCH (s:Owned {_LIVE_OF_OWNER})-[r]->(t){_EDGE}"
COUNTS: Final = f"""{_LIVE}
RETURN COUNT {{ (:Owned {_LIVE_OF_OWNER}) }} AS nodes, COUNT {{ (:Owned {_LIVE_OF_OWNER})-->() }} AS edges
"""
FIND: Final = f"""{_LIVE}
UNWIND $ids AS id
MATCH (n:Owned {{generation: live, id: id}}) {_BY_ID.format("n")} WHERE {_HERS.format("n")}
RETURN n.type AS type, n.key AS key, n.name AS name
"""
# the words of one owner's nodes meet her scope in the index itself; her tenant and user are compared all the same
SEARCH: Final = f"""{_LIVE}
CALL db.index.fulltext.queryNodes('owned_terms', $words, {{limit: $most}}) YIELD node AS n
WHERE n.generation = live AND {_HERS.format("n")}
RETURN n.type AS type, n.key AS key, n.name AS name
"""
EDGES_AT: Final = f"""{_LIVE}
UNWIND $ids AS id
MATCH (a:Owned {{generation: live, id: id}}) {_BY_ID.format("a")} WHERE {_HERS.format("a")}
CALL (a) {{
    WITH a WHERE a.best IS NULL
    MATCH (a)-[r]-() WHERE {_HERS.format("r")}
    RETURN r ORDER BY r.weight LIMIT $fan
  UNION ALL
    WITH a UNWIND a.best AS element
    MATCH (s)-[r]->(t) WHERE elementId(r) = element AND (s = a OR t = a) AND {_HERS.format("r")}
    RETURN r
}}
WITH DISTINCT r ORDER BY r.weight LIMIT $most
WITH r, startNode(r) AS s, endNode(r) AS t
{_EDGE}
"""
# A statement that the server has not planned yet takes it up to seconds; these are run once beforehand, on nothing.
_NOBODY: Final = {"tenant": "", "user": ""}
REHEARSED: Final = (
    (FIND, {**_NOBODY, "ids": []}),
    (SEARCH, {**_NOBODY, "words": "+scope:nobody", "most": 1}),
    (EDGES_AT, {**_NOBODY, "ids": [], "fan": 1, "most": 1}),
)
