"""Neo4j as the configuration names it."""

from __future__ import annotations

from hindsight_common.adapters.neo4j_graph import Neo4jGraph
from hindsight_common.settings import Settings


def neo4j(settings: Settings) -> Neo4jGraph:
    assert settings.neo4j_url is not None, "the worker is declared to need it"
    password = settings.neo4j_password
    return Neo4jGraph(
        settings.neo4j_url,
        user=settings.neo4j_user,
        password=password.get_secret_value() if password else None,
        database=settings.neo4j_database,
    )
