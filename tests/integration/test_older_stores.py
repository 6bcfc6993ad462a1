"""Stores that come back empty, or older than they were, while the worker that fills them is at work."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient
from workers import Workers, eventually

from hindsight_common.adapters.in_memory.embedder import HashingEmbedder
from hindsight_common.adapters.qdrant_server_home import QdrantServerHome
from hindsight_common.messaging.connection import Bus
from hindsight_recall import bootstrap as recall


def home_in(client: AsyncQdrantClient, name: str) -> QdrantServerHome:
    embedder = HashingEmbedder()
    return QdrantServerHome(client, name, dimension=embedder.dimension, model_id=embedder.model_id)


async def ended(workers: Workers) -> str:
    """What made a worker end its process."""

    async def told() -> bool:
        return bool(workers.fatal)

    await eventually(told)
    return str(workers.fatal.pop())


async def test_vectors_that_were_emptied_are_noticed_while_nobody_speaks_and_filled_by_the_next_start(
    bus: Bus, tmp_path: Path, qdrant_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall, "_COMMIT_EVERY_S", 0.05)
    client, name = AsyncQdrantClient(url=qdrant_url), f"m{uuid.uuid4().hex}"
    async with Workers(bus, tmp_path, home=home_in(client, name)) as workers:
        await workers.say("u-1", "t-1", "I live in Lyon.")
        await client.delete_collection(f"{name}_1")
        assert "collection" in await ended(workers)
        workers.fatal.clear()
    async with Workers(bus, tmp_path, home=home_in(client, name)) as workers:

        async def filled() -> bool:
            return await workers.contents("u-1") == ["The user lives in Lyon"]

        await eventually(filled)
    await client.delete_collection(f"{name}_1")
    await client.close()


async def test_vectors_that_came_back_older_are_noticed_before_their_position_is_moved_over_the_gap(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall, "_COMMIT_EVERY_S", 0.05)
    async with Workers(bus, tmp_path) as workers:
        await workers.say("u-1", "t-1", "I live in Lyon.")
        index, moved_to = workers.recaller.now(), list[int]()

        async def committed() -> bool:
            return await index.position() > 0

        await eventually(committed)

        async def older() -> int:
            return 0

        async def commit(position: int) -> None:
            moved_to.append(position)

        with monkeypatch.context() as restored:
            restored.setattr(index, "position", older)
            restored.setattr(index, "commit", commit)
            await workers.say("u-1", "t-2", "I live in Porto.")
            assert "older" in await ended(workers)
            assert moved_to == []
        workers.fatal.clear()


async def test_a_graph_that_was_emptied_is_filled_by_the_next_start_and_not_only_from_then_on(
    bus: Bus, tmp_path: Path
) -> None:
    async with Workers(bus, tmp_path) as workers:
        owners = [workers.core.ids.owner("default", user) for user in ("u-1", "u-2")]
        for user, said in (("u-1", "I live in Lyon."), ("u-2", "I live in Porto.")):
            await workers.say(user, f"t-{user}", said)
        await workers.admin("consolidate", user_id="u-1")

        async def promoted() -> bool:
            return bool((await workers.graph.read(owners[0])).edges)

        await eventually(promoted)
        # another graph, with nothing in it, in the place of this one
        await workers.graph.begin_rebuild()
        await workers.graph.finish_rebuild()
        assert await workers.graph.position() == 0
        await workers.admin("consolidate", user_id="u-2")
        assert "older" in await ended(workers)
        workers.fatal.clear()
    async with Workers(bus, tmp_path) as workers:

        async def whole() -> bool:
            return all([(await workers.graph.read(owner)).edges for owner in owners])

        await eventually(whole)


async def test_a_graph_that_is_rebuilt_is_not_taken_for_an_older_one(bus: Bus, tmp_path: Path) -> None:
    async with Workers(bus, tmp_path) as workers:
        owner = workers.core.ids.owner("default", "u-1")
        await workers.say("u-1", "t-1", "I live in Lyon.")
        await workers.admin("consolidate", user_id="u-1")
        await workers.ask("forget", user_id="u-1", everything=True, confirm=True)
        await workers.admin("rebuild-graph")
        await workers.say("u-1", "t-2", "I live in Porto.")
        await workers.admin("consolidate", user_id="u-1")

        async def promoted() -> bool:
            return bool((await workers.graph.read(owner)).edges)

        await eventually(promoted)
