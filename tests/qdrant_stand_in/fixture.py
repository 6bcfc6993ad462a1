"""A Qdrant server for all tests of a run; each works in collections of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from qdrant_stand_in.running import QdrantStandIn


@pytest.fixture(scope="session")
def qdrant_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server that QDRANT_URL names, else the stand-in."""
    if named := os.environ.get("QDRANT_URL"):
        yield named
        return
    server = QdrantStandIn(Path(tmp_path_factory.mktemp("qdrant")))
    server.start()
    yield server.url
    server.stop()
