"""The server form as a fixture; where Java or Maven is missing its tests are skipped, but never in CI."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scripts.neo4j_server import missing
from server_form.deployment import ServerForm


@pytest.fixture
async def form(tmp_path: Path) -> AsyncIterator[ServerForm]:
    """Nothing of it is started yet. Whatever a test does, nobody goes beyond the permissions of deploy/nats."""
    reason = missing()
    if reason and not os.environ.get("CI"):
        pytest.skip(reason)
    async with ServerForm(tmp_path / "form") as made:
        yield made
        refused = made.nats.refusals()
        assert not refused, refused
