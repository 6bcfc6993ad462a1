from __future__ import annotations

import math
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.words.build_background import RAREST, rendered
from benchmarks.words.build_background import idf as modelled_idf
from hindsight_common.adapters import background_idf
from hindsight_common.adapters.word_splitting import function_words, split_terms
from hindsight_common.adapters.words import NAME_IDF, BackgroundWords

WORDS = BackgroundWords()
TEXTS = st.text() | st.text("aB1é花過敏的不 ,.'-@#😀שع\u200b", max_size=40)


def score(question: str, memory: str) -> float:
    held = WORDS.document_weights(memory)
    return sum(weight * held.get(term, 0.0) for term, weight in WORDS.query_weights(question).items())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我對花生過敏", "我对花生过敏"),
        ("ＩＰｈｏｎｅ１５", "iphone15"),
        ("Café Zoë", "cafe zoe"),
        ("peanut\u200b allergy", "peanut allergy"),
        ("Charlotte’s dogs", "charlotte dog"),
        ("She adopted puppies", "adopting a puppy"),
        ("$1,200", "1200"),
    ],
)
def test_the_same_words_written_in_two_ways_are_the_same_terms(one: str, other: str) -> None:
    assert split_terms(one) == split_terms(other) != []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("iPhone15", {"iphone15", "15"}),
        ("order AB-1234-X", {"ab-1234-x", "ab", "1234"}),
        ("mail ann@example.org", {"ann@example.org", "ann"}),
        ("C++ and C#", {"c++", "c#"}),
        ("version 2.10.1", {"2.10.1", "10"}),
        ("电池5000mAh", {"电池", "5000mah", "5000"}),
    ],
)
def test_numbers_and_identifiers_are_found_whole_and_in_parts(text: str, terms: set[str]) -> None:
    assert terms <= set(split_terms(text))


def test_compounds_of_letters_are_their_parts() -> None:
    assert split_terms("self-care") == split_terms("self care")


@pytest.mark.parametrize(
    "text", ["what is it that you have?", "我的是什么呢？", "", "  ", "😀👨‍👩‍👧", "，。！"]
)
def test_function_words_and_signs_alone_are_no_terms(text: str) -> None:
    assert split_terms(text) == []
    assert WORDS.document_weights(text) == {}
    assert WORDS.query_weights(text) == {}


@pytest.mark.parametrize(
    "word", ["not", "no", "never", "nothing", "不", "没", "没有", "别", "无", "未", "不再"]
)
def test_negations_are_not_function_words(word: str) -> None:
    assert word not in function_words()
    assert split_terms(word) == [word] or word == "nothing"


def test_a_contracted_negation_stays_one() -> None:
    assert "not" in split_terms("I don’t like coffee")


def test_mixed_sentences_give_the_terms_of_both_languages() -> None:
    assert {"电池", "iphone15", "续航", "batteri"} <= set(split_terms("iPhone15的battery续航：电池多大？"))


def test_a_guessed_chinese_name_also_is_found_whatever_stands_beside_it() -> None:
    assert {"李雷", "李", "雷", "昨天"} <= set(split_terms("昨天李雷来了"))


def test_scripts_without_spaces_are_found_by_pairs_of_characters() -> None:
    assert score("さくら", "わたしはさくらがすき") > 0
    assert score("좋아해", "커피를 좋아해요") > 0


@given(TEXTS)
def test_any_text_is_split_into_terms_that_hold_something(text: str) -> None:
    terms = split_terms(text)
    assert all(term and not term.isspace() for term in terms)
    assert not set(terms) & function_words()


@given(TEXTS)
def test_splitting_does_not_depend_on_case_or_width_of_ascii(text: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "0" <= c <= "z" and c.isalnum() else c for c in text)
    assert split_terms(wide) == split_terms(text)


@given(TEXTS)
def test_weights_are_positive_finite_and_of_the_terms_that_are_there(text: str) -> None:
    document, question = WORDS.document_weights(text), WORDS.query_weights(text)
    assert document.keys() == question.keys() == set(WORDS.terms(text))
    assert all(0 < weight < 1.9 for weight in document.values())
    assert all(0 < weight <= background_idf.rarest_idf() for weight in question.values())


@given(
    st.lists(st.sampled_from(["peanut", "allergy", "dog", "花生", "过敏", "小狗"]), min_size=1, max_size=30)
)
def test_saying_a_word_again_never_lowers_its_weight_among_as_many_words(words: list[str]) -> None:
    once = WORDS.document_weights(" ".join([*words, "cat"]))
    twice = WORDS.document_weights(" ".join([*words, words[0]]))
    term = split_terms(words[0])[0]
    assert twice[term] >= once[term] - 1e-12


def test_a_word_weighs_more_in_a_short_text_than_in_a_long_one() -> None:
    assert score("peanut", "peanut allergy") > score("peanut", "peanut " + "garden river music " * 10)
    assert score("花生", "花生过敏") > score("花生", "花生" + "花园，河流，音乐，" * 10)


@pytest.mark.parametrize(
    ("rare", "common"),
    [
        ("peanut", "day"),
        ("zxqv", "peanut"),
        ("4711", "phone"),
        ("花生", "工作"),
        ("饕餮", "花生"),
    ],
)
def test_rare_words_names_and_numbers_weigh_more_than_common_ones(rare: str, common: str) -> None:
    weights = WORDS.query_weights(f"{rare} {common}")
    assert weights[split_terms(rare)[0]] > weights[split_terms(common)[0]]


def test_an_unknown_word_weighs_as_much_as_the_rarest() -> None:
    assert WORDS.query_weights("zxqvbn") == {"zxqvbn": background_idf.rarest_idf()}


def test_a_given_name_says_who_and_weighs_little() -> None:
    weights = WORDS.query_weights("What is Charlotte allergic to?")
    assert weights["charlott"] == NAME_IDF < weights[split_terms("allergic")[0]]
    assert WORDS.query_weights("Charlotte对什么过敏？")["charlott"] == NAME_IDF


def test_a_word_that_is_no_name_keeps_its_weight_when_it_is_capitalised() -> None:
    assert WORDS.query_weights("Peanut") == WORDS.query_weights("peanut")


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("what am I allergic to", "User is allergic to peanuts", "User likes the city park in autumn"),
        ("点菜要注意什么过敏", "用户对花生过敏", "用户喜欢秋天的公园"),
        ("which iphone did I buy", "bought an iPhone15 in May", "bought a bicycle in May"),
        ("我不再喜欢什么", "用户不再喜欢咖啡", "用户住在上海"),
    ],
)
def test_the_memory_that_shares_telling_words_scores_higher(question: str, right: str, wrong: str) -> None:
    assert score(question, right) > score(question, wrong)


def test_the_table_is_small_and_says_the_rarest_first() -> None:
    assert len(background_idf.table_file().read_bytes()) < 1_500_000
    assert background_idf.rarest_idf() == pytest.approx(modelled_idf(RAREST), abs=0.01)
    notice = resources.files("hindsight_common").joinpath("data/NOTICE").read_text(encoding="utf-8")
    assert "background_idf.txt" in notice
    assert "given_names.txt" in notice


@given(st.floats(1e-9, 0.5), st.floats(1e-9, 0.5))
def test_idf_falls_as_words_grow_frequent(one: float, other: float) -> None:
    assert (modelled_idf(one) - modelled_idf(other)) * (other - one) >= 0
    assert modelled_idf(one) > 0


def test_idf_of_a_rare_word_is_that_of_twenty_chances() -> None:
    assert modelled_idf(1e-6) == pytest.approx(-math.log(20e-6), rel=1e-4)


def test_a_table_is_written_in_steps_from_common_to_rare() -> None:
    lines = rendered({"b": 3.01, "a": 2.99, "c": 7.5}).splitlines()
    assert lines[1:] == ["3.00 a b", "7.50 c"]


@pytest.mark.parametrize("text", ["x" + "'s" * 5000, "x" + "'s" * 5000 + "y", "eyJ." * 5000, "x" * 50_000])
def test_what_is_no_language_is_split_all_the_same(text: str) -> None:
    assert WORDS.document_weights(f"peanuts {text}")["peanut"] > 0
    assert WORDS.query_weights(f"peanuts {text}")["peanut"] > 0


def test_endings_are_taken_off_however_many_there_are() -> None:
    assert split_terms("Ida's") == split_terms("Ida's've") == ["ida"]
    assert split_terms("n't's") == split_terms("can't's") == ["not"]


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("When did Caroline go to the support group?", "When did go to the support group?"),
        ("What is Melanie's favourite song?", "What is favourite song?"),
        ("Caroline什么时候去参加支持小组的？", "什么时候去参加支持小组的？"),
        ("李雷喜欢什么运动？", "李雷喜欢什么运动？"),
        ("Will I need an umbrella in Rome?", "Will I need an umbrella in Rome?"),
        ("银行卡号是多少", "银行卡号是多少"),
        ("Melanie?", "Melanie?"),
        ("", ""),
    ],
)
def test_a_question_is_compared_without_the_people_it_names(question: str, left: str) -> None:
    assert BackgroundWords().without_names(question) == left


@pytest.mark.parametrize("question", ["李雷喜欢什么运动？", "小明的生日是哪天", "Caroline喜欢什么运动？"])
def test_a_persons_name_weighs_less_than_what_is_asked(question: str) -> None:
    weights = BackgroundWords().query_weights(question)
    names = [term for term in weights if term in ("李雷", "小明", "carolin")]
    assert names
    assert all(weights[name] < 2 for name in names)
    assert max(weights.values()) > 4
