"""Facts are found by the words in which one asks for their kind."""

from __future__ import annotations

import pytest

from hindsight_common.adapters.words import BackgroundWords
from hindsight_common.domain.predicates import declared
from hindsight_recall.domain.questions import asked_in


def test_every_declared_predicate_says_how_one_asks_for_it() -> None:
    assert [name for name in declared() if not asked_in(name)] == []
    assert asked_in("never declared") == ""
    assert asked_in(None) == ""


@pytest.mark.parametrize(
    ("question", "predicate"),
    [
        ("点菜要注意什么？", "allergic_to"),
        ("点餐有什么忌口吗", "allergic_to"),
        ("What should I avoid when ordering food?", "allergic_to"),
        ("我的宠物叫什么名字？", "has_pet"),
        ("How can we reach you?", "phone"),
        ("我在哪里上班？", "employer"),
        ("What do I do for a living?", "job"),
    ],
)
def test_a_question_shares_words_with_the_facts_it_asks_for(question: str, predicate: str) -> None:
    words = BackgroundWords()
    asked = words.query_weights(question)
    shared = sum(weight for term, weight in asked.items() if term in set(words.terms(asked_in(predicate))))
    assert shared >= 0.4 * sum(asked.values())
