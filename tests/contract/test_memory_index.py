"""What every memory index keeps, whatever it is made of."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from index_rows import (
    ANNA,
    ANNA_ELSEWHERE,
    ANYTHING,
    BEN,
    DIMENSION,
    axis,
    filters,
    ids,
    memory_id,
    row,
    rows,
    same,
)
from qdrant_client import AsyncQdrantClient

from hindsight_common.adapters.in_memory.memory_index import InMemoryIndex, matches
from hindsight_common.adapters.qdrant_edge import QdrantEdgeIndex
from hindsight_common.adapters.qdrant_server import QdrantServerIndex
from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.ports.memory_index import IndexFilter, IndexRow, MemoryIndex, OwnerMismatch

pytestmark = [
    # the client's local mode keeps no payload indexes and says so; a server does
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning"),
    # nor an approximate search to be told apart from an exact one
    pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning"),
]
BACKENDS = ["in_memory", "edge", "qdrant_local", "qdrant_server"]


@asynccontextmanager
async def opened(backend: str, folder: Path, qdrant_url: str) -> AsyncIterator[MemoryIndex]:
    if backend == "in_memory":
        yield InMemoryIndex(dimension=DIMENSION)
    elif backend == "edge":
        edge = QdrantEdgeIndex(folder, dimension=DIMENSION, model_id="test/1")
        yield edge
        await edge.close()
    else:
        over_http = backend == "qdrant_server"
        client = AsyncQdrantClient(url=qdrant_url) if over_http else AsyncQdrantClient(":memory:")
        collection = f"test-{uuid.uuid4()}"
        index = QdrantServerIndex(client, collection, dimension=DIMENSION, model_id="test/1")
        await index.open()
        yield index
        await client.delete_collection(collection)
        await client.close()


@pytest.fixture(params=BACKENDS)
async def index(
    request: pytest.FixtureRequest, tmp_path: Path, qdrant_url: str
) -> AsyncIterator[MemoryIndex]:
    async with opened(request.param, tmp_path, qdrant_url) as store:
        yield store


async def test_a_row_is_found_and_read_back_at_once(index: MemoryIndex) -> None:
    stored = row(predicate=None, words={7: 1.5, 2**32 - 1: 0.25}, intervals=((1.0, 2.5), (3.0, None)))
    await index.upsert([stored])
    assert same((await index.get(ANNA, [stored.memory_id]))[0], stored)
    assert ids(await index.search_vector(ANNA, axis(0), ANYTHING, 5)) == [stored.memory_id]
    assert ids(await index.search_words(ANNA, {7: 1.0}, ANYTHING, 5)) == [stored.memory_id]


async def test_an_outline_is_bare_and_a_list_sealed(index: MemoryIndex) -> None:
    await index.upsert([row(0), row(1), row(2, BEN)])
    sealed = row(vector=None, words={})
    bare = replace(sealed, sealed=b"", key_id="")
    wanted = [memory_id(1), memory_id(2, BEN), "no id at all", memory_id(0), memory_id(7), memory_id(0)]
    outlined = await index.outline(ANNA, wanted)
    assert [each.memory_id for each in outlined] == [memory_id(1), memory_id(0)]
    assert same(outlined[1], bare)
    listed = await index.list(ANNA, ANYTHING, None, 5)
    assert [same(each, sealed) for each in listed.rows if each.memory_id == memory_id(0)] == [True]


async def test_a_search_among_named_rows_measures_them_all_and_no_others(index: MemoryIndex) -> None:
    await index.upsert([row(n, vector=axis(n % 3), words={7: float(n + 1)}) for n in range(9)])
    await index.upsert([row(20, BEN)])
    named = IndexFilter(ids=(memory_id(1), memory_id(3), memory_id(20, BEN), "no id at all"))
    hits = await index.search_vector(ANNA, axis(0), named, 50)
    assert {hit.memory_id: round(hit.score, 6) for hit in hits} == {memory_id(1): 0.0, memory_id(3): 1.0}
    sums = await index.search_words(ANNA, {7: 1.0}, named, 50)
    assert {hit.memory_id: hit.score for hit in sums} == {memory_id(1): 2.0, memory_id(3): 4.0}
    assert await index.search_words(ANNA, {7: 1.0}, IndexFilter(ids=()), 50) == []


async def test_higher_is_better_identical_is_one_unrelated_zero_opposite_negative(index: MemoryIndex) -> None:
    await index.upsert([row(0), row(1, vector=axis(1)), row(2, vector=-axis(0))])
    hits = await index.search_vector(ANNA, axis(0), ANYTHING, 5)
    assert ids(hits) == [memory_id(0), memory_id(1), memory_id(2)]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.0, -1.0], abs=1e-6)


async def test_the_cosine_does_not_depend_on_length(index: MemoryIndex) -> None:
    await index.upsert([row(vector=np.float32(40) * (axis(0) + axis(1)))])
    hits = await index.search_vector(ANNA, np.float32(0.01) * axis(0), ANYTHING, 5)
    assert hits[0].score == pytest.approx(0.5**0.5, abs=1e-6)
    (kept,) = await index.get(ANNA, [memory_id(0)])
    assert kept.vector is not None
    assert np.linalg.norm(kept.vector) == pytest.approx(1.0, abs=1e-6)


async def test_words_score_by_the_exact_sum_of_products(index: MemoryIndex) -> None:
    random = np.random.default_rng(5)
    query = {int(key): float(weight) for key, weight in zip(range(40), random.random(40) * 9, strict=True)}
    stored = [
        row(number, words={int(key): float(random.random() * 3) for key in random.integers(0, 80, 12)})
        for number in range(20)
    ]
    await index.upsert(stored)
    hits = await index.search_words(ANNA, query, ANYTHING, 50)
    sums = {
        each.memory_id: sum(query.get(key, 0.0) * weight for key, weight in each.words.items())
        for each in stored
    }
    assert {hit.memory_id: pytest.approx(hit.score, abs=1e-5) for hit in hits} == {
        key: value for key, value in sums.items() if value
    }
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_rows_that_share_no_word_are_no_hits_and_a_question_without_words_finds_nothing(
    index: MemoryIndex,
) -> None:
    await index.upsert([row(0, words={1: 1.0}), row(1, words={})])
    assert await index.search_words(ANNA, {2: 1.0}, ANYTHING, 5) == []
    assert await index.search_words(ANNA, {}, ANYTHING, 5) == []


async def test_a_row_without_vector_is_found_by_its_words_only(index: MemoryIndex) -> None:
    await index.upsert([row(0, vector=None), row(1, vector=None, words={})])
    assert await index.search_vector(ANNA, axis(0), ANYTHING, 5) == []
    assert ids(await index.search_words(ANNA, {7: 1.0}, ANYTHING, 5)) == [memory_id(0)]
    assert [each.vector for each in await index.get(ANNA, [memory_id(0), memory_id(1)])] == [None, None]
    assert await index.count(ANNA) == 2


async def test_an_older_sequence_never_overwrites(index: MemoryIndex) -> None:
    await index.upsert([row(sequence=5, status="active")])
    await index.upsert([row(sequence=4, status="superseded", vector=axis(1), words={9: 1.0})])
    (kept,) = await index.get(ANNA, [memory_id(0)])
    assert same(kept, row(sequence=5, status="active"))
    assert await index.search_words(ANNA, {9: 1.0}, ANYTHING, 5) == []


async def test_of_one_id_given_twice_at_once_the_greatest_sequence_stays(index: MemoryIndex) -> None:
    await index.upsert(
        [row(sequence=7, status="b"), row(sequence=9, status="c"), row(sequence=8, status="d")]
    )
    (kept,) = await index.get(ANNA, [memory_id(0)])
    assert (kept.sequence, kept.status) == (9, "c")


async def test_the_same_or_a_newer_sequence_replaces_the_whole_row(index: MemoryIndex) -> None:
    await index.upsert([row(sequence=5)])
    await index.upsert([row(sequence=5, words={8: 2.0}, vector=None)])
    assert await index.search_vector(ANNA, axis(0), ANYTHING, 5) == []
    assert await index.search_words(ANNA, {7: 1.0}, ANYTHING, 5) == []
    await index.upsert([row(sequence=6, status="cold", vector=axis(3), words={})])
    (kept,) = await index.get(ANNA, [memory_id(0)])
    assert same(kept, row(sequence=6, status="cold", vector=axis(3), words={}))
    assert await index.count() == 1


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (IndexFilter(statuses=("active",)), [0]),
        (IndexFilter(statuses=("active", "cold")), [0, 1]),
        (IndexFilter(statuses=()), []),
        (IndexFilter(type="event"), [1, 2]),
        (IndexFilter(roles=("presales", "nobody")), [1]),
        (IndexFilter(roles=("shared", "presales")), [0, 1]),
        (IndexFilter(roles=()), []),
        (IndexFilter(session_key="s2"), [1, 2]),
        (IndexFilter(predicate="lives_in"), [2]),
        (IndexFilter(occurred_from=200.0), [1, 2]),
        (IndexFilter(occurred_until=200.0), [0]),
        (IndexFilter(occurred_from=200.0, occurred_until=200.0), []),
        (IndexFilter(occurred_from=100.0, occurred_until=200.5), [0, 1]),
        (IndexFilter(statuses=("cold",), type="event", session_key="s2", occurred_until=201.0), [1]),
        (IndexFilter(statuses=("active",), type="event"), []),
    ],
)
async def test_a_filter_finds_what_it_says(index: MemoryIndex, where: IndexFilter, found: list[int]) -> None:
    await index.upsert(
        [
            row(0, occurred_at=100.0),
            row(1, type="event", status="cold", role_scope=("presales",), session_keys=("s1", "s2"),
                occurred_at=200.0),
            row(2, type="event", status="stale", role_scope=(), session_keys=("s2",), predicate="lives_in",
                occurred_at=300.0),
        ]
    )  # fmt: skip
    expected = {memory_id(number) for number in found}
    assert set(ids(await index.search_vector(ANNA, axis(0), where, 9))) == expected
    assert set(ids(await index.search_words(ANNA, {7: 1.0}, where, 9))) == expected
    assert ids((await index.list(ANNA, where, None, 9)).rows) == sorted(expected)


@pytest.mark.parametrize(
    ("instant", "found"),
    [(0.5, []), (1.0, [0]), (1.9, [0]), (2.0, [1]), (3.0, []), (5.0, [0]), (6.0, [0, 2]), (9e10, [0, 2])],
)
async def test_held_at_finds_rows_with_an_interval_around_it(
    index: MemoryIndex, instant: float, found: list[int]
) -> None:
    """An interval holds from its start up to its end, the end excluded; a gap between two holds nothing."""
    await index.upsert(
        [
            row(0, intervals=((5.0, None), (1.0, 2.0))),
            row(1, intervals=((2.0, 2.5), (2.5, 3.0))),
            row(2, intervals=((6.0, None), (4.0, 4.0))),
            row(3, intervals=()),
        ]
    )
    expected = sorted(memory_id(number) for number in found)
    where = IndexFilter(held_at=instant)
    assert ids((await index.list(ANNA, where, None, 9)).rows) == expected
    assert sorted(ids(await index.search_vector(ANNA, axis(0), where, 9))) == expected


async def test_pages_go_through_everything_once_and_in_order(index: MemoryIndex) -> None:
    await index.upsert([row(number) for number in range(25)] + [row(1, BEN)])
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(4):
        page = await index.list(ANNA, ANYTHING, cursor, 7)
        seen += ids(page.rows)
        cursor = page.cursor
    assert cursor is None
    assert seen == sorted(memory_id(number) for number in range(25))


async def test_a_page_that_is_just_full_is_the_last_one(index: MemoryIndex) -> None:
    await index.upsert([row(number) for number in range(3)])
    assert (await index.list(ANNA, ANYTHING, None, 3)).cursor is None


async def test_paging_goes_on_when_rows_come_and_go_between_pages(index: MemoryIndex) -> None:
    everyone = sorted(memory_id(number) for number in range(10))
    await index.upsert([row(number) for number in range(10)])
    first = await index.list(ANNA, ANYTHING, None, 4)
    await index.delete(ANNA, [everyone[0], everyone[4]])
    rest = await index.list(ANNA, ANYTHING, first.cursor, 40)
    assert ids(rest.rows) == everyone[5:]


async def test_a_cursor_that_no_page_returned_is_refused(index: MemoryIndex) -> None:
    with pytest.raises(RequestError, match="cursor"):
        await index.list(ANNA, ANYTHING, "not a cursor", 4)


async def test_nobody_sees_or_deletes_the_rows_of_another(index: MemoryIndex) -> None:
    """Two users of one tenant, and one user key in two tenants: same vectors, same words, same times."""
    owners = [ANNA, BEN, ANNA_ELSEWHERE]
    await index.upsert([row(number, owner) for owner in owners for number in range(3)])
    everything = [memory_id(number, owner) for owner in owners for number in range(3)]
    await index.delete(BEN, [memory_id(0, ANNA), memory_id(1, ANNA_ELSEWHERE)])
    for owner in owners:
        own = {memory_id(number, owner) for number in range(3)}
        assert set(ids(await index.search_vector(owner, axis(0), ANYTHING, 50))) == own
        assert set(ids(await index.search_words(owner, {7: 1.0}, ANYTHING, 50))) == own
        assert set(ids(await index.get(owner, everything))) == own
        assert set(ids((await index.list(owner, ANYTHING, None, 50)).rows)) == own
        assert await index.count(owner) == 3


async def test_a_row_of_another_is_never_overwritten(index: MemoryIndex) -> None:
    await index.upsert([row()])
    with pytest.raises(OwnerMismatch):
        await index.upsert([row(owner=BEN, memory_id=memory_id(0), sequence=99)])
    assert same((await index.get(ANNA, [memory_id(0)]))[0], row())


async def test_rows_come_back_in_the_order_asked_and_unknown_ids_are_left_out(index: MemoryIndex) -> None:
    await index.upsert([row(number) for number in range(5)])
    asked = [memory_id(number) for number in (3, 77, 0, 4)]
    assert ids(await index.get(ANNA, [*asked, "no id", "", asked[0].upper()])) == [
        asked[0],
        asked[2],
        asked[3],
    ]
    assert await index.get(ANNA, []) == []


async def test_what_is_deleted_is_gone_at_once(index: MemoryIndex) -> None:
    await index.upsert([row(number) for number in range(4)])
    await index.delete(ANNA, [memory_id(1), memory_id(99), "no id"])
    await index.delete(ANNA, [])
    expected = {memory_id(0), memory_id(2), memory_id(3)}
    assert set(ids(await index.search_vector(ANNA, axis(0), ANYTHING, 9))) == expected
    assert set(ids(await index.search_words(ANNA, {7: 1.0}, ANYTHING, 9))) == expected
    assert await index.get(ANNA, [memory_id(1)]) == []
    assert await index.count(ANNA) == 3


async def test_a_deleted_row_can_come_again(index: MemoryIndex) -> None:
    await index.upsert([row(sequence=50)])
    await index.delete(ANNA, [memory_id(0)])
    await index.upsert([row(sequence=3)])
    assert ids(await index.search_vector(ANNA, axis(0), ANYTHING, 9)) == [memory_id(0)]


async def test_deleting_an_owner_removes_all_and_only_theirs(index: MemoryIndex) -> None:
    await index.upsert([row(number, owner) for owner in (ANNA, BEN) for number in range(150)])
    assert await index.delete_owner(ANNA) == 150
    assert await index.delete_owner(ANNA) == 0
    assert [await index.count(owner) for owner in (ANNA, BEN, None)] == [0, 150, 150]
    assert await index.search_vector(ANNA, axis(0), ANYTHING, 9) == []
    assert (await index.list(ANNA, ANYTHING, None, 9)).rows == ()


async def test_three_hundred_rows_at_once_all_arrive(index: MemoryIndex) -> None:
    await index.upsert([row(number, sequence=number + 1) for number in range(300)])
    assert await index.count(ANNA) == 300
    assert len(await index.search_vector(ANNA, axis(0), ANYTHING, 400)) == 300


async def test_nothing_to_write_is_nothing_written(index: MemoryIndex) -> None:
    await index.upsert([])
    assert await index.count() == 0


async def test_equal_scores_are_ordered_by_id_also_at_the_limit(index: MemoryIndex) -> None:
    await index.upsert([row(number) for number in range(40)])
    first = sorted(memory_id(number) for number in range(40))[:3]
    assert ids(await index.search_vector(ANNA, axis(0), ANYTHING, 3)) == first
    assert ids(await index.search_words(ANNA, {7: 2.0}, ANYTHING, 3)) == first


async def test_no_more_than_the_limit_is_returned(index: MemoryIndex) -> None:
    await index.upsert([row(number, vector=axis(number)) for number in range(5)])
    assert ids(await index.search_vector(ANNA, axis(3), ANYTHING, 1)) == [memory_id(3)]
    assert await index.search_vector(ANNA, axis(3), ANYTHING, 0) == []
    assert await index.search_words(ANNA, {7: 1.0}, ANYTHING, 0) == []


async def test_text_of_any_script_survives(index: MemoryIndex) -> None:
    stored = row(
        status="冷", predicate="喜欢/likes", role_scope=("售前", "a'b\"c"), session_keys=("\u202eشلوم", "🙂"),
        sealed=bytes(range(256)), key_id="键",
    )  # fmt: skip
    await index.upsert([stored])
    assert same((await index.get(ANNA, [stored.memory_id]))[0], stored)
    where = IndexFilter(statuses=("冷",), roles=("售前",), session_key="🙂", predicate="喜欢/likes")
    assert ids(await index.search_vector(ANNA, axis(0), where, 5)) == [stored.memory_id]


async def test_a_vector_of_another_dimension_is_refused_by_name(index: MemoryIndex) -> None:
    short = np.ones(DIMENSION - 1, dtype=np.float32)
    with pytest.raises(StopAndFix, match=str(DIMENSION)):
        await index.upsert([row(vector=short)])
    with pytest.raises(StopAndFix, match=str(DIMENSION)):
        await index.search_vector(ANNA, short, ANYTHING, 5)
    assert await index.count() == 0


async def test_numbers_that_are_not_finite_are_refused(index: MemoryIndex) -> None:
    with pytest.raises(ValueError, match="finite"):
        await index.upsert([row(vector=np.full(DIMENSION, np.nan, dtype=np.float32))])
    with pytest.raises(ValueError, match="finite"):
        await index.upsert([row(words={1: float("inf")})])
    with pytest.raises(ValueError, match="finite"):
        await index.search_words(ANNA, {2**32: 1.0}, ANYTHING, 5)


async def test_the_position_is_what_was_committed_and_never_goes_back(index: MemoryIndex) -> None:
    assert await index.position() == 0
    await index.upsert([row()])
    assert await index.position() == 0
    await index.commit(41)
    assert await index.position() == 41
    await index.commit(12)
    assert await index.position() == 41
    assert await index.count() == 1
    assert await index.count(ANNA) == 1


@pytest.mark.parametrize("backend", BACKENDS)
@settings(
    max_examples=30,
    deadline=None,
    # each example opens a store of its own, which makes shrinking too slow to wait for
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(stored=st.lists(rows, max_size=25), asked=st.lists(filters, min_size=1, max_size=4))
def test_any_rows_under_any_filter_answer_as_the_words_of_the_filter_say(
    backend: str, qdrant_url: str, stored: list[IndexRow], asked: list[IndexFilter]
) -> None:
    async def run(folder: Path) -> None:
        async with opened(backend, folder, qdrant_url) as index:
            await _answers_as_the_filter_says(index, stored, asked)

    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def _answers_as_the_filter_says(
    index: MemoryIndex, stored: list[IndexRow], asked: list[IndexFilter]
) -> None:
    kept: dict[str, IndexRow] = {}
    for start in range(0, len(stored), 4):
        await index.upsert(stored[start : start + 4])
    for each in stored:
        before = kept.get(each.memory_id)
        if before is None or before.sequence <= each.sequence:
            kept[each.memory_id] = each
    query = {0: 1.0, 7: 2.5}
    for owner in (ANNA, BEN, ANNA_ELSEWHERE):
        for where in asked:
            expected = {k: v for k, v in kept.items() if v.owner == owner and matches(v, where)}
            listed = await index.list(owner, where, None, 100)
            assert ids(listed.rows) == sorted(expected)
            by_vector = await index.search_vector(owner, axis(2), where, 100)
            assert set(ids(by_vector)) == {k for k, v in expected.items() if v.vector is not None}
            by_words = await index.search_words(owner, query, where, 100)
            assert {hit.memory_id: pytest.approx(hit.score, rel=1e-5) for hit in by_words} == {
                k: sum(query[word] * v.words[word] for word in shared)
                for k, v in expected.items()
                if (shared := query.keys() & v.words.keys())
            }
        back = await index.get(owner, list(kept))
        assert all(same(each, kept[each.memory_id]) for each in back)
    assert await index.count() == len(kept)
