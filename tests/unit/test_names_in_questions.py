"""Which stretches of a question are looked up as names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.domain.predicates import object_key
from hindsight_common.domain.text import normal_key
from hindsight_recall.domain.names import MOST_NAMES, possible_names


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What does Charlie like?", "Charlie"),
        ("what did JOSE say about ＡＣＭＥ", "José"),
        ("Who works at Blue Harbour Coffee Roasters now?", "Blue Harbour Coffee Roasters"),
        ("订单审批流程怎么走？", "审批流程"),
        ("基金A和基金B经理谁更稳", "基金A"),
        ("李雷喜欢什么", "李雷"),
        ("深圳圖書館幾點開門", "深圳图书馆"),
        ("is ERP-7/A down?", "ERP-7/A"),
    ],
)
def test_a_name_in_a_question_is_among_what_is_looked_up(question: str, name: str) -> None:
    assert normal_key(name) in possible_names(question)


def test_what_is_known_in_the_other_language_is_looked_up_under_its_one_key() -> None:
    assert object_key("likes", "Sichuan food") in possible_names("我喜欢川菜吗")
    assert object_key("likes", "川菜") in possible_names("Do I like Sichuan food?")


@given(st.text(max_size=400))
def test_any_text_gives_a_bounded_number_of_distinct_keys(text: str) -> None:
    names = possible_names(text)
    assert len(names) == len(set(names)) <= MOST_NAMES
    assert all(names)
