"""Reading what a model replied, in every shape that models reply in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_extractor.domain.replies import Entry, read_reply
from hindsight_extractor.domain.replies.entries import LONGEST_OBJECT, unit
from hindsight_extractor.domain.replies.loose_json import read_value, unescaped

words = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=20
)
facts = st.fixed_dictionaries(
    {
        "type": st.just("fact"),
        "subject": words,
        "predicate": words,
        "object": words,
        "importance": st.floats(0, 1),
    }
)
events = st.fixed_dictionaries(
    {
        "type": st.just("event"),
        "summary": words,
        "people": st.lists(words, max_size=3),
        "importance": st.floats(0, 1),
    }
)
replies = st.fixed_dictionaries({"memories": st.lists(facts | events, max_size=6)})
# what models say around an answer holds no JSON and no thoughts
prose = st.text(st.characters(codec="utf-8", exclude_characters="{}[]<>"), max_size=60)
# JSON and everything near it
scraps = st.lists(
    st.sampled_from(
        [*'{}[]":,\\ntu0e-.\n', "true", "null", "<think>", "</think>", '"memories"', '"object"', "用户"]
    ),
    max_size=60,
).map("".join)


@given(
    reply=replies,
    before=prose,
    after=prose,
    fence=st.booleans(),
    indent=st.sampled_from([None, 2]),
    escaped=st.booleans(),
)
def test_a_good_reply_reads_the_same_whatever_stands_around_it(
    reply: dict[str, Any], before: str, after: str, fence: bool, indent: int | None, escaped: bool
) -> None:
    text = json.dumps(reply, indent=indent, ensure_ascii=escaped)
    plain = read_reply(text)
    wrapped = f"{before}\n```json\n{text}\n```\n{after}" if fence else f"{before}{text}{after}"
    assert read_reply(wrapped) == plain
    assert read_reply(f"<think>{before}{text[: len(text) // 2]}</think>{wrapped}") == plain
    assert plain.failure is None
    assert not plain.is_cut
    assert len(plain.entries) == len(set(plain.entries))


@given(reply=replies, data=st.data())
def test_a_cut_reply_gives_only_items_of_the_whole_one(reply: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(reply, ensure_ascii=False)
    whole = read_reply(text).entries
    cut = read_reply(text[: data.draw(st.integers(0, len(text)))], is_cut=True)
    assert cut.is_cut
    assert cut.entries == whole[: len(cut.entries)]


@given(finished=st.lists(facts, min_size=1, max_size=5), half=facts, data=st.data())
def test_what_was_finished_when_a_reply_was_cut_is_kept(
    finished: list[dict[str, Any]], half: dict[str, Any], data: st.DataObject
) -> None:
    last = json.dumps(half)
    rest = last[: data.draw(st.integers(0, len(last) - 1))]
    text = '{"memories": [' + ", ".join(map(json.dumps, finished)) + ", " + rest
    assert read_reply(text, is_cut=True).entries == read_reply(json.dumps(finished)).entries


@given(st.text(max_size=200) | scraps)
def test_nothing_makes_the_reader_raise_and_no_failure_has_items(text: str) -> None:
    for is_cut in (False, True):
        reading = read_reply(text, is_cut=is_cut)
        assert reading.failure is None or not reading.entries
        for entry in reading.entries:
            assert entry.importance is None or 0 <= entry.importance <= 1
            assert entry.content if entry.type == "event" else entry.predicate and entry.object


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | words, lambda v: st.lists(v) | st.dictionaries(words, v)
    )
)
def test_good_json_is_read_as_json(value: object) -> None:
    for container in ([value], {"a": value}):
        found = read_value(json.dumps(container), 0)
        assert found is not None
        assert (found.value, found.is_cut) == (container, False)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40))
def test_strings_with_good_escapes_mean_what_json_says(text: str) -> None:
    assert unescaped(json.dumps(text)[1:-1]) == text


@pytest.mark.parametrize("depth", [10, 500, 50_000])
def test_nesting_without_end_is_no_answer_and_takes_no_time(depth: int) -> None:
    assert read_reply("[" * depth).failure in ("shape", "prose", "cut")
    assert read_reply('{"memories":' * depth).failure is not None


ONE = Entry("fact", "user", "likes", "tea", importance=0.5)
TEA = '{"type":"fact","subject":"user","predicate":"likes","object":"tea","importance":0.5}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"memories":[{TEA}]}}',
        f'{{"facts":[{TEA}],"events":[]}}',
        f"[{TEA}]",
        TEA,
        f'{{"result":1}}\n{{"data":{{"memories":[{TEA}]}}}}',
        f'{{"memories":[{TEA},]}}',
        f'{{"memories":[{TEA},{TEA}]}}',
        f'{{"memories":{TEA}}}',
        f'{{"Memories":[{TEA}],"note":"{{}}"}}',
        TEA.replace('"', "'"),
        TEA.replace("0.5", '"0.5"'),
        TEA.replace("0.5", '"50%"'),
        TEA.replace('"user"', "null"),
        TEA.replace("{", '{"id":null,"extra":[1,{"a":2}],'),
        TEA.replace("{", '{"object":"tea","object":"tea",'),
        TEA.replace('"tea"', '["tea"]'),
        '{"ops":[' + TEA.replace("{", '{"op":"UPDATE","id":"12",') + "]}",
        f"{TEA}\n{TEA}",
        f'I thought {TEA} over.</think>{{"memories":[{TEA}]}}',
    ],
)
def test_one_fact_is_found_in_every_shape_it_comes_in(text: str) -> None:
    reading = read_reply(text)
    assert reading.failure is None
    assert reading.entries == (ONE,)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ('<think>still thinking about {"facts":', "thinking"),
        ("<thinking>all of it</thinking>", "thinking"),
        ("I'm sorry, I can't help with extracting personal information.", "refusal"),
        ("抱歉，我无法提取个人信息。", "refusal"),
        ("The user lives in Lyon.", "prose"),
        ('{"answer": 42}', "shape"),
        ('["The user lives in Lyon"]', "shape"),
        ('{"memories": ["The user lives in Lyon"]}', "unusable"),
        ('{"memories": [{"type": "fact", "subject": "user"}]}', "unusable"),
        ('{"ops":[{"op":"UPDATE","id":"12","object":"Porto"},{"op":"DELETE","id":"0000"}]}', "unusable"),
        ('{"type":"fact","subject":"user","predicate":"likes","object":"t', "shape"),
    ],
)
def test_what_says_nothing_is_a_failure_with_its_name(text: str, failure: str) -> None:
    assert read_reply(text).failure == failure


@pytest.mark.parametrize(
    "text", ['{"memories": []}', "[]", '{"facts": [], "events": []}', '{"memories": null}']
)
def test_a_valid_reply_without_items_is_no_failure(text: str) -> None:
    reading = read_reply(text)
    assert (reading.failure, reading.entries) == (None, ())


def test_bad_items_are_dropped_one_by_one_with_their_reasons() -> None:
    long = "x" * (LONGEST_OBJECT + 1)
    items = [
        json.loads(TEA),
        "tea",
        {"type": "fact", "predicate": "likes"},
        {"type": "fact", "predicate": "likes", "object": long},
        {"op": "DELETE", "id": "7"},
        {"type": "event", "summary": True},
    ]
    reading = read_reply(json.dumps({"memories": items}))
    assert reading.entries == (ONE,)
    assert dict(reading.dropped) == {"shape": 1, "missing": 2, "too_long": 1, "unknown_id": 1}


def test_raw_newlines_and_quotes_inside_a_string_belong_to_it() -> None:
    (entry,) = read_reply(
        '{"memories":[{"type":"event","summary":"He said "hi"\nto me","people":"Ann、李雷"}]}'
    ).entries
    assert (entry.content, entry.people) == ('He said "hi" to me', ("Ann", "李雷"))


def test_several_objects_of_one_fact_are_several_facts() -> None:
    found = read_reply(TEA.replace('"tea"', '["tea", "coffee"]')).entries
    assert [entry.object for entry in found] == ["tea", "coffee"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (0.4, 0.4),
        (7, 1.0),
        (-1, 0.0),
        ("0.7", 0.7),
        ("70 %", 0.7),
        (None, None),
        ("high", None),
        (True, None),
    ],
)
def test_importance_is_read_and_clamped(given: object, read: float | None) -> None:
    assert unit(given) == read
    assert unit(float("nan")) is None
    assert unit(float("inf")) == 1.0


@pytest.mark.parametrize(
    ("date", "read"),
    [("2026-03-04", "2026-03-04"), ("2026-03", "2026-03"), ("2026", "2026"), (2026, "2026"),
     ("2026-03-04T10:00:00Z", "2026-03-04"), ("next week", None), ("04/03/2026", None), (None, None)],
)  # fmt: skip
def test_dates_are_read_to_the_day(date: object, read: str | None) -> None:
    (entry,) = read_reply(json.dumps([json.loads(TEA) | {"date": date}])).entries
    assert entry.date == read
