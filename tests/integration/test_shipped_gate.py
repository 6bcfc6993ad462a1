"""The gate that ships keeps what answers and turns away most of what does not."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.calibration.gate import GATES, Similarities, best_gate, kept, measure, word_coverage
from hindsight_common.adapters.embedding_factory import DEFAULT_MODEL
from hindsight_common.settings.model import RecallSettings
from hindsight_recall.application.recall import RecallPolicy


@pytest.mark.slow
async def test_the_gate_keeps_answers_and_turns_away_the_users_other_memories(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    settings = RecallSettings()
    found = await measure(DEFAULT_MODEL, tmp_path_factory.mktemp("models"), settings)
    assert set(found) == {"zh", "en"}
    for one in found.values():
        assert len(one.true) >= 100
        assert kept(one.true, settings.gate) >= 0.89
        assert 1 - kept(one.unrelated, settings.gate) >= 0.65
    assert settings.gate == best_gate(list(found.values()))


def test_the_gate_without_a_configuration_is_the_one_that_ships() -> None:
    assert RecallPolicy().gate == RecallSettings().gate


def test_the_best_gate_lies_between_what_answers_and_what_does_not() -> None:
    def one(true: list[float], unrelated: list[float]) -> Similarities:
        return Similarities(np.array(true), np.array(unrelated), np.array([]), np.array([]))

    apart = one([0.5] * 99 + [0.01], [0.32] * 50)
    assert 0.32 < best_gate([apart]) <= 0.5
    mixed = one([0.12] * 50 + [0.9] * 50, [0.2] * 50)
    assert best_gate([mixed]) == GATES[0], "half of the answers are too much for any number of others"


@pytest.mark.parametrize(
    ("query", "memory"),
    [
        ("What should I avoid when ordering?", "The user is allergic to peanuts"),
        ("点菜要注意什么？", "用户对花生过敏"),
    ],
)
def test_words_that_ask_for_a_kind_of_fact_count_in_the_coverage(query: str, memory: str) -> None:
    assert word_coverage(query, memory, None) < 0.1
    assert 0.5 < word_coverage(query, memory, "allergic_to") <= 1
    assert word_coverage(memory, memory, None) > 0.9
