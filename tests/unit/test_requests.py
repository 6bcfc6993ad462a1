from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.errors import RequestError
from hindsight_common.events.requests import (
    ForgetRequest,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    TurnRequest,
    parse_request,
)

ID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def recall(**fields: Any) -> RecallRequest:
    return parse_request(RecallRequest, json.dumps({"user_id": "u-1", "query": "茶"} | fields).encode())


def forget(**fields: Any) -> ForgetRequest:
    return parse_request(ForgetRequest, json.dumps({"user_id": "u-1"} | fields).encode())


def test_only_user_and_query_are_needed_and_the_rest_is_left_to_the_deployment() -> None:
    request = recall()
    assert (request.top_k, request.min_score, request.include, request.role) == (None, None, (), None)
    assert not request.explain


def test_a_full_request_is_read() -> None:
    request = recall(
        top_k=100,
        min_score=0,
        memory_type="fact",
        role="presales",
        session_id="s-1",
        valid_at="2026-03-04T09:15:00+0530",
        time_range={"from": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"},
        include=["cold", "superseded"],
        weights={"similarity": 1, "importance": 0, "recency": 0},
        wait_for=12,
        wait_for_turn="t-1",
        explain=True,
        as_of=None,
        token_budget=None,
        context=0,
    )
    assert request.time_range is not None
    assert request.time_range.from_ == datetime(2026, 1, 1, tzinfo=UTC)
    assert request.weights is not None
    assert request.weights.similarity == 1.0


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        ({"userID": "u-2"}, "userID", "did you mean user_id?"),
        ({"topk": 3}, "topk", "did you mean top_k?"),
        ({"user_id": None}, "user_id", "not null"),
        ({"user_id": ""}, "user_id", "empty"),
        ({"user_id": ["u-1"]}, "user_id", "a string"),
        ({"query": " \n"}, "query", "blank"),
        ({"query": "茶" * 90_000}, "query", "longer"),
        ({"top_k": 0}, "top_k", "greater than or equal to 1"),
        ({"top_k": 101}, "top_k", "less than or equal to 100"),
        ({"top_k": "3"}, "top_k", "a whole number, not a string"),
        ({"top_k": True}, "top_k", "not true or false"),
        ({"min_score": 1.01}, "min_score", "less than or equal to 1"),
        ({"min_score": "0.5"}, "min_score", "a number, not a string"),
        ({"memory_type": "note"}, "memory_type", "'fact' or 'event'"),
        ({"role": ""}, "role", "empty"),
        ({"valid_at": "2026-03-04T09:15:00"}, "valid_at", "no offset"),
        ({"valid_at": 1772615700}, "valid_at", "not a number"),
        ({"time_range": {}}, "time_range", "needs from"),
        ({"time_range": {"form": "2026-01-01T00:00:00Z"}}, "time_range.form", "did you mean from?"),
        ({"time_range": {"from": "2026-01-01"}}, "time_range.from", "ISO 8601"),
        ({"include": ["active"]}, "include.0", "'superseded'"),
        ({"include": "cold"}, "include", "a list"),
        ({"weights": {"similarity": 1}}, "weights.importance", "required"),
        ({"weights": {"similarity": 0, "importance": 0, "recency": 0}}, "weights", "all be zero"),
        ({"weights": {"similarity": -1, "importance": 0, "recency": 2}}, "weights.similarity", "equal to 0"),
        ({"wait_for": -1}, "wait_for", "equal to 0"),
        ({"explain": "yes"}, "explain", "true or false"),
    ],
)
def test_a_wrong_request_names_the_field(fields: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(RequestError) as caught:
        recall(**fields)
    assert (caught.value.field, caught.value.status) == (field, 400)
    assert says in caught.value.message


def test_a_span_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(RequestError, match="begin before"):
        recall(time_range={"from": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"})


@pytest.mark.parametrize(
    "fields",
    [{"as_of": "2026-01-01T00:00:00Z"}, {"token_budget": 100}, {"context": 1}, {"context": False}],
)
def test_what_has_no_effect_yet_is_refused_rather_than_ignored(fields: dict[str, Any]) -> None:
    with pytest.raises(RequestError) as caught:
        recall(**fields)
    assert (caught.value.code, caught.value.field) == ("not_supported", next(iter(fields)))


@pytest.mark.parametrize("way", [{"memory_ids": [ID]}, {"session_id": "s-1"}, {"everything": True}])
def test_each_way_to_forget_is_read_and_is_a_dry_run_until_confirmed(way: dict[str, Any]) -> None:
    assert not forget(**way).confirm
    assert forget(**way, confirm=True).confirm


NO_FILTER: list[dict[str, Any]] = [
    {},
    {"confirm": True},
    {"memory_ids": None},
    {"memory_ids": []},
    {"memory_ids": "*"},
    {"memory_ids": ["*"]},
    {"memory_ids": [""]},
    {"memory_ids": [None]},
    {"session_id": None},
    {"session_id": ""},
    {"session_id": "*"},
    {"everything": None},
    {"everything": False},
    {"everything": "true"},
    {"everything": 1},
    {"all": True},
    {"query": "x"},
    {"time_range": {"from": "2026-01-01T00:00:00Z"}},
    {"everything": True, "session_id": "s-1"},
    {"everything": True, "memory_ids": None},
    {"memory_ids": [ID], "session_id": "s-1"},
]


@pytest.mark.parametrize("fields", NO_FILTER)
def test_forgetting_without_exactly_one_clear_filter_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        forget(**fields)


@pytest.mark.parametrize("user_id", ["", "  ", None, "u-1 "])
def test_forgetting_without_a_clear_user_is_refused(user_id: object) -> None:
    with pytest.raises(RequestError) as caught:
        forget(user_id=user_id, everything=True)
    assert caught.value.field == "user_id"


def test_a_star_is_only_the_user_of_that_name() -> None:
    assert recall(user_id="*").user_id == "*"


def test_list_and_turn_requests_are_closed_too() -> None:
    assert parse_request(ListRequest, b'{"user_id":"u-1"}').status == ("active", "provisional")
    with pytest.raises(RequestError, match="did you mean turn_id"):
        parse_request(TurnRequest, b'{"user_id":"u-1","turnId":"t"}')
    with pytest.raises(RequestError) as caught:
        parse_request(ListRequest, b"{")
    assert caught.value.code == "not_json"


def test_a_reader_skips_fields_of_a_newer_answer() -> None:
    answer = RecallAnswer.model_validate_json('{"memories":[],"covers_up_to":7,"colour":"blue"}')
    assert answer.covers_up_to == 7


@given(
    st.dictionaries(
        st.sampled_from([*RecallRequest.model_fields, "x"]), st.none() | st.text() | st.integers()
    )
)
def test_any_request_is_read_or_refused(fields: dict[str, object]) -> None:
    read: RecallRequest | RequestError
    try:
        read = parse_request(RecallRequest, json.dumps(fields).encode())
    except RequestError as error:
        read = error
    assert isinstance(read, RequestError) or read.user_id == fields["user_id"]
