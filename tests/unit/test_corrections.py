"""What somebody says instead: keyed, worded and redacted as extraction would have it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fold_strategies import IDS, OWNER, evidence
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.domain.memory import Evidence
from hindsight_extractor.domain.corrections import corrected_event, corrected_fact
from hindsight_extractor.domain.redaction import redact

HOME = evidence(predicate="lives_in", object_="lyon")


def _redact(text: str) -> str:
    return redact(text).text


def _instead(said: Evidence, object_: str) -> tuple[str, str | None]:
    made = corrected_fact(IDS, OWNER, said, object_, _redact)
    assert made is not None
    return made.content, made.object


@pytest.mark.parametrize(
    ("said", "object_", "content"),
    [
        (HOME, "Porto", "The user lives in Porto"),
        (replace(HOME, language="zh"), "苏州", "用户住在苏州"),
        (replace(HOME, language="zh"), "Porto", "用户住在Porto"),
        (replace(HOME, negated=True), "Porto", "The user does not live in Porto"),
        (replace(HOME, subject="Ida", subject_key="ida"), "Porto", "Ida lives in Porto"),
        (
            replace(HOME, subject="the user's sister", subject_key="user's sister"),
            "Porto",
            "The user's sister lives in Porto",
        ),
        (
            replace(HOME, subject="用户的妹妹", subject_key="user's sister", language="zh"),
            "苏州",
            "用户的妹妹住在苏州",
        ),
    ],
)
def test_a_fact_is_worded_anew_in_its_language(said: Evidence, object_: str, content: str) -> None:
    assert _instead(said, object_) == (content, object_)


def test_the_same_object_in_another_spelling_is_the_same_memory() -> None:
    made = [corrected_fact(IDS, OWNER, HOME, place, _redact) for place in ("Porto", "PORTO ", "ｐｏｒｔｏ")]
    assert len({one.memory_id for one in made if one}) == 1
    other = corrected_fact(IDS, OWNER, replace(HOME, negated=True), "Porto", _redact)
    assert other is not None
    assert made[0] is not None
    assert other.memory_id != made[0].memory_id


def test_whom_a_corrected_relation_names_is_among_its_people() -> None:
    sister = evidence(predicate="sister", object_="ida")
    made = corrected_fact(IDS, OWNER, sister, "Eva", _redact)
    assert made is not None
    assert made.people == ("Eva",)


@pytest.mark.parametrize(
    ("predicate", "language", "secret"),
    [
        ("lives_in", "zh", "身份证11010519491231002X"),
        ("password", "en", "hunter2-Xk9"),
        ("passport_number", "en", "E12345678"),
        ("api_key", "en", "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"),
    ],
)
def test_a_secret_is_replaced_whether_the_object_or_the_sentence_tells_it(
    predicate: str, language: str, secret: str
) -> None:
    said = replace(evidence(predicate=predicate, object_="x"), language=language)
    content, object_ = _instead(said, secret)
    for kept in (content, object_ or ""):
        assert "[" in kept
        assert secret not in kept
        assert secret[-6:] not in kept


@pytest.mark.parametrize("nothing", ["\u200b", "。", " , "])
def test_what_has_nothing_in_it_corrects_nothing(nothing: str) -> None:
    assert corrected_fact(IDS, OWNER, HOME, nothing, _redact) is None


@given(st.text(min_size=1, max_size=40))
def test_whatever_is_said_instead_stands_in_the_sentence_and_a_repetition_is_the_same(said: str) -> None:
    made = corrected_fact(IDS, OWNER, HOME, said, _redact)
    if made is None:
        return
    assert made.object is not None
    assert made.object in made.content
    assert corrected_fact(IDS, OWNER, HOME, said, _redact) == made


def test_an_event_keeps_its_day_and_names_whom_the_new_text_names() -> None:
    met = evidence(predicate=None, object_="met ida", day=3)
    made = corrected_event(IDS, OWNER, met, "I met Eva in Porto", _redact)
    assert made is not None
    assert (made.people, made.object, made.language) == (("Eva",), None, "en")
    zh = corrected_event(IDS, OWNER, met, "我和李雷去了苏州", _redact)
    assert zh is not None
    assert (zh.people, zh.language) == (("李雷",), "zh")
    other_day = corrected_event(
        IDS, OWNER, evidence(predicate=None, object_="met ida", day=4), "I met Eva in Porto", _redact
    )
    assert other_day is not None
    assert other_day.memory_id != made.memory_id
    assert corrected_event(IDS, OWNER, met, "\u200b", _redact) is None
