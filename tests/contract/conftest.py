"""Servers for all tests of a run that want one: they take seconds to start, and are emptied for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_stand_in.fixture import qdrant_url

from scripts.neo4j_server import Neo4jServer, missing

__all__ = ["neo4j_url", "qdrant_url"]


@pytest.fixture(scope="session")
def neo4j_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where Java or Maven is missing the test is skipped, but never in continuous integration."""
    reason = missing()
    if reason and not os.environ.get("CI"):
        pytest.skip(reason)
    server = Neo4jServer(Path(tmp_path_factory.mktemp("neo4j")))
    server.start()
    yield server.url
    server.stop()
