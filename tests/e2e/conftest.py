from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from standalone import Plain, Standalone


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Standalone]:
    """One deployment a module: its tests use users of their own."""
    deployment = Standalone(tmp_path_factory.mktemp("standalone"))
    await deployment.start()
    yield deployment
    assert await deployment.stop() == 0, deployment.log()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain(running: Standalone) -> AsyncIterator[Plain]:
    nc = await running.connect()
    yield Plain(nc)
    await nc.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
