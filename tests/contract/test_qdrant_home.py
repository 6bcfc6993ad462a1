"""The indexes of the server form: which one is live, and how another takes its place."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from index_rows import ANNA, ANYTHING, DIMENSION, axis, ids, memory_id, row
from qdrant_client import AsyncQdrantClient
from qdrant_stand_in.running import QdrantStandIn, free_port

from hindsight_common.adapters.qdrant_connection import QdrantConnection
from hindsight_common.adapters.qdrant_server_home import QdrantLiveIndex, QdrantServerHome
from hindsight_common.errors import RetryLater, StopAndFix

pytestmark = [
    # what the client's local mode says of itself
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning"),
]


@pytest.fixture(params=["qdrant_local", "qdrant_server"])
async def client(request: pytest.FixtureRequest, qdrant_url: str) -> AsyncIterator[AsyncQdrantClient]:
    over_http = request.param == "qdrant_server"
    opened = AsyncQdrantClient(url=qdrant_url) if over_http else AsyncQdrantClient(":memory:")
    yield opened
    await opened.close()


@pytest.fixture
async def name(client: AsyncQdrantClient) -> AsyncIterator[str]:
    """An alias of this test's own."""
    alias = f"m{uuid.uuid4().hex}"
    yield alias
    for collection in await collections(client, alias):
        await client.delete_collection(alias + collection)


def home(
    client: AsyncQdrantClient, name: str, *, dimension: int = DIMENSION, model_id: str = "model/1"
) -> QdrantServerHome:
    return QdrantServerHome(client, name, dimension=dimension, model_id=model_id)


async def collections(client: AsyncQdrantClient, name: str) -> list[str]:
    found = (await client.get_collections()).collections
    return sorted(each.name.removeprefix(name) for each in found if each.name.startswith(name))


async def test_the_first_start_makes_an_index_and_the_next_finds_it(
    client: AsyncQdrantClient, name: str
) -> None:
    index = await home(client, name).open_live()
    assert await index.position() == 0
    await index.upsert([row(1)])
    await index.commit(10)
    again = await home(client, name).open_live()
    assert ids((await again.list(ANNA, ANYTHING, None, 9)).rows) == [memory_id(1)]
    assert await again.position() == 10
    assert await collections(client, name) == ["_1"]


async def test_a_rebuilt_index_takes_the_place_of_the_live_one_for_other_processes_too(
    client: AsyncQdrantClient, name: str
) -> None:
    writer, others = home(client, name), QdrantLiveIndex(client, name)
    live = await writer.open_live()
    await live.upsert([row(1), row(2)])
    built = await writer.create_beside()
    await built.upsert([row(2)])
    assert len(await others.now().get(ANNA, [memory_id(1), memory_id(2)])) == 2
    await writer.switch(built, live)
    assert ids(await others.now().get(ANNA, [memory_id(1), memory_id(2)])) == [memory_id(2)]
    assert ids(await built.search_vector(ANNA, axis(0), ANYTHING, 5)) == [memory_id(2)]
    assert await collections(client, name) == ["_2"]
    reopened = await home(client, name).open_live()
    assert ids((await reopened.list(ANNA, ANYTHING, None, 9)).rows) == [memory_id(2)]


async def test_a_build_that_is_given_up_leaves_the_live_index_as_it_was(
    client: AsyncQdrantClient, name: str
) -> None:
    writer = home(client, name)
    live = await writer.open_live()
    await live.upsert([row(1)])
    await writer.discard(await writer.create_beside())
    assert await collections(client, name) == ["_1"]
    assert ids((await live.list(ANNA, ANYTHING, None, 9)).rows) == [memory_id(1)]


@pytest.mark.parametrize("begin", ["open_live", "create_beside"])
async def test_what_an_interrupted_build_left_behind_is_removed(
    client: AsyncQdrantClient, name: str, begin: str
) -> None:
    live = await home(client, name).open_live()
    await live.upsert([row(1)])
    abandoned = await home(client, name).create_beside()
    await abandoned.upsert([row(2)])
    begun = await getattr(home(client, name), begin)()
    assert await begun.count() == (1 if begin == "open_live" else 0)
    assert await collections(client, name) == (["_1"] if begin == "open_live" else ["_1", "_2"])


async def test_an_index_of_another_model_begins_anew_and_never_mixes(
    client: AsyncQdrantClient, name: str
) -> None:
    before = await home(client, name).open_live()
    await before.upsert([row(1)])
    await before.commit(10)
    anew = await home(client, name, dimension=8, model_id="model/2").open_live()
    assert (await anew.position(), await anew.count()) == (0, 0)
    assert await QdrantLiveIndex(client, name).now().get(ANNA, [memory_id(1)]) == []
    assert await collections(client, name) == ["_2"]


async def test_a_collection_that_has_the_name_of_the_alias_is_left_alone_and_named(
    client: AsyncQdrantClient, name: str
) -> None:
    await client.create_collection(name, vectors_config={})
    with pytest.raises(StopAndFix, match=f"{name}.*HINDSIGHT_QDRANT_COLLECTION"):
        await home(client, name).open_live()
    assert await collections(client, name) == [""]


async def test_neighbours_with_a_similar_name_are_left_alone(client: AsyncQdrantClient, name: str) -> None:
    for other in (f"{name}_1x", f"{name}_01", f"{name}2_1"):
        await client.create_collection(other, vectors_config={})
    await home(client, name).open_live()
    assert await collections(client, name) == ["2_1", "_01", "_1", "_1x"]


async def test_other_processes_wait_until_the_index_has_been_made(
    client: AsyncQdrantClient, name: str
) -> None:
    others = QdrantLiveIndex(client, name)
    with pytest.raises(RetryLater):
        await others.exists()
    await home(client, name).open_live()
    await others.exists()


async def test_an_index_outlives_the_servers_death_and_a_key_is_asked_for(tmp_path: Path) -> None:
    server = QdrantStandIn(tmp_path, free_port(), api_key="right")
    connection, stranger = (QdrantConnection(server.url, api_key=key) for key in ("right", "wrong"))
    with pytest.raises(RetryLater):
        await connection.answers()
    server.start()
    await connection.answers()
    with pytest.raises(StopAndFix, match="HINDSIGHT_QDRANT_API_KEY"):
        await stranger.answers()
    index = await home(connection.client, "memories").open_live()
    await index.upsert([row(1)])
    server.kill()
    with pytest.raises(RetryLater):
        await index.count()
    with pytest.raises(RetryLater):
        await connection.answers()
    server.start()
    reopened = await home(connection.client, "memories").open_live()
    assert await reopened.count() == 1
    server.stop()
    await connection.close()
    await stranger.close()
