"""The collection of the server form, and what the server's refusals become."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from hindsight_common.adapters.qdrant_server import QdrantServerIndex
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.ids import Owner

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")
COLLECTION = "test-collection"
ANNA = Owner("default", "a1" * 16)


@pytest.fixture(params=["qdrant_local", "qdrant_server"])
async def client(request: pytest.FixtureRequest, qdrant_url: str) -> AsyncIterator[AsyncQdrantClient]:
    over_http = request.param == "qdrant_server"
    opened = AsyncQdrantClient(url=qdrant_url) if over_http else AsyncQdrantClient(":memory:")
    yield opened
    await opened.delete_collection(COLLECTION)
    await opened.close()


def index(
    client: AsyncQdrantClient, *, model_id: str = "e5/q4", projection: str = "recall"
) -> QdrantServerIndex:
    return QdrantServerIndex(client, COLLECTION, dimension=8, model_id=model_id, projection=projection)


async def test_opening_twice_changes_nothing(client: AsyncQdrantClient) -> None:
    await index(client).open()
    await index(client).commit(9)
    await index(client).open()
    assert await index(client).position() == 9


async def test_a_collection_of_another_model_is_refused_and_both_are_named(client: AsyncQdrantClient) -> None:
    await index(client).open()
    with pytest.raises(StopAndFix, match=r"e5/q4.*other/1"):
        await index(client, model_id="other/1").open()


async def test_each_projection_keeps_its_own_position_and_none_counts_as_a_row(
    client: AsyncQdrantClient,
) -> None:
    first, second = index(client, projection="recall-0"), index(client, projection="recall-1")
    await first.open()
    await second.open()
    await first.commit(5)
    await second.commit(8)
    assert (await first.position(), await second.position()) == (5, 8)
    assert await first.count() == 0


def refusal(status: int) -> UnexpectedResponse:
    return UnexpectedResponse(status, "reason", b"content", httpx.Headers())


@pytest.mark.parametrize(
    ("fault", "becomes"),
    [
        (refusal(500), RetryLater),
        (refusal(503), RetryLater),
        (refusal(429), RetryLater),
        (ResponseHandlingException(httpx.ConnectError("refused")), RetryLater),
        (refusal(401), StopAndFix),
        (refusal(404), StopAndFix),
    ],
)
async def test_what_may_pass_is_tried_again_and_the_rest_is_somebodys_to_fix(
    client: AsyncQdrantClient, monkeypatch: pytest.MonkeyPatch, fault: Exception, becomes: type[Exception]
) -> None:
    async def faulty(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(client, "count", faulty)
    with pytest.raises(becomes):
        await index(client).count(ANNA)


async def test_a_server_that_is_not_there_is_a_reason_to_try_again() -> None:
    nowhere = AsyncQdrantClient(url="http://127.0.0.1:1", check_compatibility=False)
    with pytest.raises(RetryLater):
        await index(nowhere).open()
    await nowhere.close()
