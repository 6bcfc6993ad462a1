"""What any test may ask for: a real NATS server of its own, and a connection to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hindsight_common.adapters.embedded.nats_server import NatsServer
from hindsight_common.messaging.connection import Bus, connect
from hindsight_common.messaging.provisioning import provision


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    """One server a test, about 40 ms: an empty store is the only isolation that needs no cleaning up."""
    server = NatsServer(tmp_path / "nats")
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def bare_bus(nats_server: NatsServer) -> AsyncIterator[Bus]:
    """A connection to a server on which nothing was created yet."""
    bus = await connect(nats_server.url, name="test")
    yield bus
    await bus.close()


@pytest.fixture
async def bus(bare_bus: Bus) -> Bus:
    """A connection to a server with every declared stream and consumer."""
    assert await provision(bare_bus.js) == []
    return bare_bus
