"""The server form for the tests of this folder; where Java or Maven is missing they are skipped, but never in CI."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from server_form import ServerForm

from scripts.neo4j_server import missing


@pytest.fixture
async def form(tmp_path: Path) -> AsyncIterator[ServerForm]:
    """Nothing of it is started yet."""
    reason = missing()
    if reason and not os.environ.get("CI"):
        pytest.skip(reason)
    async with ServerForm(tmp_path / "form") as made:
        yield made
