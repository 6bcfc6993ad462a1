from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.domain.text import fold_text, normal_key, simplify


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("José", "JOSE"),
        ("ＡＣＭＥ", "Acme"),
        ("花生醬", "花生酱"),
        ("臺灣", "台湾"),
        ("a\u200bb", "ab"),
        ("Straße", "STRASSE"),
        ("Łódź", "lodz"),
        ("İstanbul", "istanbul"),
        ("Café\u0301", "cafe"),
        ("ﬁsh", "fish"),
        ("  two \t words\u3000here ", "two words here"),
        ("ｶﾞ", "ガ"),
    ],
)
def test_the_same_text_in_two_writings_folds_to_one(one: str, other: str) -> None:
    assert fold_text(one) == fold_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("New York", "new-york"),
        ("iPhone 15", "iphone15"),
        ("O'Brien", "OBrien"),
        ("《三体》", "三体"),
        ("+86 138-0013-8000", "+8613800138000"),
        ("1,000", "1000"),
        ("B.O.B.", "b.o.b"),
        ("黃 小明", "黄小明"),
    ],
)
def test_punctuation_and_spaces_do_not_change_a_key(one: str, other: str) -> None:
    assert normal_key(one) == normal_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("基金A", "基金B经理"),
        ("基金A", "基金A经理"),
        ("B.O.B", "Bob"),
        ("C++", "C"),
        ("C#", "C++"),
        ("3.5", "35"),
        ("1/2", "12"),
        ("a.b@x.org", "ab@x.org"),
        ("-5", "5"),
        ("👍", "👎"),
        ("ガ", "カ"),
        ("й", "и"),
    ],
)
def test_what_only_looks_alike_keeps_its_own_key(one: str, other: str) -> None:
    assert normal_key(one) != normal_key(other)


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)
    assert normal_key(normal_key(text)) == normal_key(text)


@given(st.text())
def test_simplifying_keeps_the_length(text: str) -> None:
    assert len(simplify(text)) == len(text)


@given(st.text(alphabet="abcXYZ é花語0.-", min_size=1))
def test_only_blank_text_has_an_empty_key(text: str) -> None:
    assert (normal_key(text) == "") == (fold_text(text) == "")
