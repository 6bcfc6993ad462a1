from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.recall.__main__ import baseline_rankings
from benchmarks.recall.baselines import Bm25, fuse, ranking, tokenizer
from benchmarks.recall.locomo import Counted, evidence_of, read_conversations, said_at
from benchmarks.recall.metrics import METRICS, Bootstrap, distinct, score
from benchmarks.recall.report import Latency, Run, as_json, as_text
from hindsight_common.adapters.in_memory.embedder import HashingEmbedder

TURNS = frozenset({"D1:1", "D1:2", "D2:1", "D30:5"})


def sample() -> list[dict[str, object]]:
    return [
        {
            "sample_id": "made-up",
            "conversation": {
                "speaker_a": "Ann",
                "speaker_b": "Bo",
                "session_1_date_time": "9:05 am on 1 March, 2024",
                "session_1": [
                    {"speaker": "Ann", "dia_id": "D1:1", "text": "I keep bees on the roof."},
                    {"speaker": "Bo", "dia_id": "D1:2", "text": "My ferry leaves on Monday."},
                ],
                "session_2_date_time": "11:30 pm on 2 March, 2024",
                "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "The bees swarmed."}],
                "session_3_date_time": "8:00 am on 9 March, 2025",
            },
            "qa": [
                {"question": "Where are the bees?", "answer": "roof", "category": 4, "evidence": ["D1:1"]},
                {
                    "question": "What of the bees?",
                    "answer": "x",
                    "category": 1,
                    "evidence": ["D2:1; D01:1 D1:1"],
                },
                {"question": "Whose cat?", "category": 5, "evidence": ["D1:1"]},
                {"question": "Lost evidence?", "answer": "x", "category": 2, "evidence": ["D", "D9:9"]},
                {"question": "No evidence?", "answer": "x", "category": 3, "evidence": []},
            ],
        }
    ]


def written(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "made_up.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("given_ids", "expected"),
    [
        (["D1:1"], ("D1:1",)),
        (["D1:1; D2:1"], ("D1:1", "D2:1")),
        (["D1:1 D1:2", "D1:1"], ("D1:1", "D1:2")),
        (["D1:1,D30:05"], ("D1:1", "D30:5")),
        (["D", "D:1:2", "D9:9", ""], ()),
        ([], ()),
    ],
)
def test_evidence_is_split_and_kept_if_it_exists(given_ids: list[str], expected: tuple[str, ...]) -> None:
    assert evidence_of(given_ids, TURNS) == expected


@given(st.lists(st.text(alphabet="D0123:; ,x", max_size=20)))
def test_evidence_is_always_distinct_and_existing(given_ids: list[str]) -> None:
    found = evidence_of(given_ids, TURNS)
    assert len(set(found)) == len(found)
    assert set(found) <= TURNS


def test_a_file_gives_turns_in_order_and_says_which_questions_are_scored(tmp_path: Path) -> None:
    (conversation,), counted = read_conversations(written(tmp_path, sample()))
    assert [utterance.turn_id for utterance in conversation.utterances] == ["D1:1", "D1:2", "D2:1"]
    assert conversation.utterances[1].document == "Bo: My ferry leaves on Monday."
    assert [question.evidence for question in conversation.questions] == [("D1:1",), ("D2:1", "D1:1")]
    assert counted == Counted(asked=5, adversarial=1, without_evidence=2)
    assert counted.scored == 2
    assert conversation.ended_at == datetime(2024, 3, 3, 23, 30, tzinfo=UTC)


def test_a_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no LoCoMo file"):
        read_conversations(written(tmp_path, [{"dialogue": []}]))


def test_times_are_read_in_the_twelve_hour_clock() -> None:
    assert said_at("12:09 am on 13 September, 2023") == datetime(2023, 9, 13, 0, 9, tzinfo=UTC)
    assert said_at("1:56 pm on 8 May, 2023") == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_a_question_is_scored_by_the_share_of_its_evidence_and_by_its_first_rank() -> None:
    values = score(["x", "a", "y", "z", "b"], ["a", "b", "c"])
    assert values["recall@1"] == 0
    assert values["recall@3"] == pytest.approx(1 / 3)
    assert values["recall@5"] == pytest.approx(2 / 3)
    assert values["hit@1"] == 0
    assert values["hit@3"] == 1
    assert values["mrr"] == 0.5
    assert score([], ["a"]) == dict.fromkeys(METRICS, 0.0)


@given(st.lists(st.sampled_from("abcdefgh")), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_scores_lie_within_bounds_and_grow_with_depth(ranked: list[str], evidence: set[str]) -> None:
    values = score(distinct(ranked), sorted(evidence))
    assert all(0 <= value <= 1 for value in values.values())
    assert values["recall@1"] <= values["recall@3"] <= values["recall@5"] <= values["recall@10"]
    assert values["recall@5"] <= values["hit@5"]
    assert (values["mrr"] > 0) == bool(evidence & set(ranked))


def test_a_turn_counts_at_its_first_rank_only() -> None:
    assert distinct(["a", "b", "a", "c", "b"]) == ["a", "b", "c"]


def test_an_interval_holds_the_mean_and_a_repeated_run_gives_it_again() -> None:
    values = list(np.random.default_rng(1).random(400))
    clusters = [f"c{n % 8}" for n in range(400)]
    first, second = Bootstrap(clusters).mean(values), Bootstrap(clusters).mean(values)
    assert first == second
    assert first.low < first.mean < first.high
    # the classical interval of a mean of 400: 1.96 standard errors
    expected = 1.96 * float(np.std(values)) / math.sqrt(400)
    assert first.high - first.mean == pytest.approx(expected, rel=0.15)


def test_questions_that_resemble_each_other_widen_the_clustered_interval() -> None:
    clusters = [f"c{n // 50}" for n in range(400)]
    estimate = Bootstrap(clusters).mean([float(n // 50 % 2) for n in range(400)])
    assert estimate.clustered_high - estimate.clustered_low > 2 * (estimate.high - estimate.low)


def test_a_ratio_is_paired() -> None:
    values = list(np.random.default_rng(2).random(100) + 0.1)
    ratio = Bootstrap(["c"] * 100).ratio([1.5 * value for value in values], values)
    assert ratio.low == pytest.approx(1.5)
    assert ratio.high == pytest.approx(1.5)


def test_bm25_gives_the_scores_of_its_formula() -> None:
    documents = ["red apple", "red red pear tart", "green plum"]
    scores = Bm25(documents, tokenizer("en")).scores("red plum")
    mean = 8 / 3

    def part(count: int, length: int, having: int) -> float:
        idf = math.log(1 + (3 - having + 0.5) / (having + 0.5))
        return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))

    assert scores == pytest.approx([part(1, 2, 2), part(2, 4, 2), part(1, 2, 1)])


def test_bm25_finds_inflected_english_and_segmented_chinese() -> None:
    english = Bm25(["She was painting sunsets", "He cooks"], tokenizer("en")).scores("Who paints a sunset?")
    assert english[0] > 0 == english[1]
    chinese = Bm25(["我在北京学习绘画", "他喜欢做饭"], tokenizer("zh")).scores("谁在学习绘画？")
    assert chinese[0] > 0 == chinese[1]


def test_words_without_letters_or_digits_are_no_words() -> None:
    assert tokenizer("zh")("，。！ ") == []
    assert tokenizer("en")("?!…") == []
    assert list(Bm25([], tokenizer("en")).scores("word")) == []


def test_equal_scores_keep_the_order_of_the_documents() -> None:
    assert ranking(np.array([0.0, 1.0, 0.0, 1.0])) == [1, 3, 0, 2]


def test_fusion_prefers_what_both_rankings_like() -> None:
    assert fuse([[0, 1, 2], [1, 2, 0]]) == [1, 0, 2]


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_fusion_ranks_every_document_once_whatever_the_order_of_rankings(
    one: list[int], other: list[int]
) -> None:
    assert sorted(fuse([one, other])) == list(range(6))
    assert fuse([one, other]) == fuse([other, one])
    assert fuse([one, one]) == one


def test_baselines_rank_every_turn_of_the_conversation_for_every_question(tmp_path: Path) -> None:
    conversations, _ = read_conversations(written(tmp_path, sample()))
    ranked = asyncio.run(baseline_rankings(conversations, HashingEmbedder(), "en"))
    assert set(ranked) == {"BM25", "dense", "RRF"}
    for orders in ranked.values():
        assert [sorted(order) for order in orders] == [["D1:1", "D1:2", "D2:1"]] * 2
    assert ranked["BM25"][0][-1] == "D1:2"


def test_table_and_json_tell_the_same_figures() -> None:
    perfect, half = score(["a"], ["a"]), score(["a"], ["a", "b"])
    run = Run(
        language="en",
        model_id="m",
        conversations=2,
        turns=9,
        counted=Counted(5, 1, 2),
        clusters=["one", "two"],
        categories=[1, 4],
        outcomes=Counter(kept=8, empty=1),
        systems={"Hindsight": [perfect, perfect], "dense": [half, half]},
        latency={"Hindsight": Latency.of([0.010, 0.010])},
        degraded=0,
        fewer_than_ten=2,
    )
    result = as_json(run)
    assert result["systems"]["dense"]["recall@5"]["mean"] == 0.5
    assert result["recall@5_against_dense"]["Hindsight"]["mean"] == 2
    assert result["recall@5_by_category"]["dense"] == {"multi-hop": 0.5, "single-hop": 0.5}
    assert result["questions"]["scored"] == 2
    text = as_text(run)
    assert "100.0 [100.0, 100.0]" in text
    assert "2.00 times that of dense" in text
    assert "P50 10.0 ms, P95 10.0 ms" in text
    assert "with fewer than ten turns: 2" in text
    json.dumps(result)
