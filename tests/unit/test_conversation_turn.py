from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.errors import GiveUp, RequestError
from hindsight_common.events.conversation import (
    ConversationTurn,
    canonical_digest_text,
    claimed_ids,
    parse_closed,
    parse_turn,
    parse_write,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
GONE = object()


def body(**changes: Any) -> dict[str, Any]:
    turn: dict[str, Any] = {
        "turn_id": "t-1",
        "user_id": "u-1",
        "session_id": "s-1",
        "occurred_at": "2026-11-29T21:04:05+08:00",
        "messages": [{"role": "user", "content": "我对花生过敏"}],
    }
    return {name: value for name, value in (turn | changes).items() if value is not GONE}


def parsed(**changes: Any) -> ConversationTurn:
    return parse_turn(json.dumps(body(**changes)).encode(), now=NOW)


def refused(**changes: Any) -> GiveUp:
    with pytest.raises(GiveUp) as caught:
        parsed(**changes)
    return caught.value


def content_of(content: Any) -> str:
    return parsed(messages=[{"role": "user", "content": content}]).messages[0].content


def test_a_turn_keeps_what_was_said() -> None:
    turn = parsed(role="presales", user_name="李雷", time_zone="Asia/Shanghai")
    assert (turn.turn_id, turn.user_id, turn.session_id) == ("t-1", "u-1", "s-1")
    assert (turn.role, turn.user_name, turn.time_zone) == ("presales", "李雷", "Asia/Shanghai")
    assert turn.occurred_at == datetime(2026, 11, 29, 13, 4, 5, tzinfo=UTC)
    assert [(m.id, m.role, m.content) for m in turn.messages] == [("m1", "user", "我对花生过敏")]


@pytest.mark.parametrize(
    ("sent", "meant"), [("userID", "user_id"), ("sessionId", "session_id"), ("TurnId", "turn_id")]
)
def test_a_misspelt_field_is_named_with_the_one_that_was_meant(sent: str, meant: str) -> None:
    error = refused(**{meant: GONE, sent: "x"})
    assert (error.code, error.field) == ("invalid_turn", sent)
    assert f"did you mean {meant}?" in error.reason


@pytest.mark.parametrize("field", ["turn_id", "user_id", "session_id", "messages"])
def test_a_missing_field_is_named(field: str) -> None:
    assert refused(**{field: GONE}).field == field


@pytest.mark.parametrize("field", ["turn_id", "user_id", "session_id"])
@pytest.mark.parametrize(
    "odd",
    [
        *["", "   ", "　", None, 17, True, ["u-1"], {}],
        *["u-1 ", "\tu-1", "u-1\u200b", "\ufeffu-1", "u\n1", "u\x00", "u\u2028", "\ud83d"],
        *["x" * 257, "字" * 86],
    ],
)
def test_an_id_that_could_be_taken_for_another_is_refused(field: str, odd: object) -> None:
    error = refused(**{field: odd})
    assert (error.code, error.field) == ("invalid_turn", field)


@pytest.mark.parametrize("plain", ["u.1>*", "../u-1", "undefined", "*", "李 雷", "x" * 256, "字" * 85, "a b"])
def test_an_unusual_id_is_taken_as_it_is(plain: str) -> None:
    assert parsed(user_id=plain).user_id == plain


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-03-04T09:15:00.123+0530", datetime(2026, 3, 4, 3, 45, 0, 123000, tzinfo=UTC)),
        ("2026-03-04t09:15:00z", datetime(2026, 3, 4, 9, 15, tzinfo=UTC)),
        ("2026-03-04 09:15+08", datetime(2026, 3, 4, 1, 15, tzinfo=UTC)),
        ("2026-03-04T09:15:00,5-03:30", datetime(2026, 3, 4, 12, 45, 0, 500000, tzinfo=UTC)),
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("2026-12-02T12:00:00Z", datetime(2026, 12, 2, 12, tzinfo=UTC)),
    ],
)
def test_a_time_with_an_offset_is_understood(text: str, utc: datetime) -> None:
    assert parsed(occurred_at=text).occurred_at == utc


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("2026-03-04T09:15:00", "no offset"),
        (1772615700, "not a number"),
        (1772615700.5, "not a number"),
        (True, "not a number"),
        ("1772615700", "ISO 8601"),
        ("2026-03-04", "ISO 8601"),
        ("yesterday", "ISO 8601"),
        ("２０２６-03-04T09:15:00Z", "ISO 8601"),
        ("2026-02-30T09:15:00Z", "not a time that exists"),
        ("9999-12-31T23:59:59-23:59", "not a time that exists"),
        ("1969-12-31T23:59:59Z", "before 1970"),
        ("2026-12-02T12:00:01Z", "24 hours ahead"),
        ([], "ISO 8601"),
    ],
)
def test_a_time_that_means_nothing_certain_is_refused_with_the_reason(value: object, says: str) -> None:
    error = refused(occurred_at=value)
    assert (error.code, error.field) == ("invalid_turn", "occurred_at")
    assert says in error.reason


@pytest.mark.parametrize("absent", [GONE, None])
def test_without_a_time_none_is_made_up(absent: object) -> None:
    turn = parsed(occurred_at=absent)
    assert (turn.occurred_at, turn.time_zone) == (None, "UTC")


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("2026-11-29T21:04:05+08:00", "Etc/GMT-8"),
        ("2026-11-29T21:04:05-05:00", "Etc/GMT+5"),
        ("2026-11-29T21:04:05+05:30", "Asia/Kolkata"),
        ("2026-11-29T21:04:05Z", "UTC"),
    ],
)
def test_a_missing_zone_comes_from_the_offset(text: str, zone: str) -> None:
    turn = parsed(occurred_at=text)
    assert turn.time_zone == zone
    assert turn.occurred_at is not None
    assert turn.occurred_at.astimezone(ZoneInfo(zone)).isoformat() == datetime.fromisoformat(text).isoformat()


@given(st.integers(-12 * 60, 14 * 60))
def test_any_offset_gives_a_zone_at_most_half_an_hour_off(minutes: int) -> None:
    sign, rest = ("-" if minutes < 0 else "+"), abs(minutes)
    text = f"2026-11-29T12:00:00{sign}{rest // 60:02}:{rest % 60:02}"
    turn = parsed(occurred_at=text)
    assert turn.occurred_at is not None
    offset = turn.occurred_at.astimezone(ZoneInfo(turn.time_zone)).utcoffset()
    assert offset is not None
    assert abs(offset - timedelta(minutes=minutes)) <= timedelta(minutes=30)


def test_the_speaker_s_zone_decides_over_the_offset_of_the_text() -> None:
    assert parsed(time_zone="Europe/Berlin").time_zone == "Europe/Berlin"


@pytest.mark.parametrize(
    "zone", ["Asia/Shangai", "", "../etc/passwd", "localtime", "Asia", "/etc/x", "a" * 999, 8]
)
def test_a_zone_that_does_not_exist_is_refused(zone: object) -> None:
    assert refused(time_zone=zone).field == "time_zone"


@pytest.mark.parametrize("messages", [[], None, "hi", {}, [1], [None], [["user", "hi"]]])
def test_messages_of_another_shape_are_refused(messages: object) -> None:
    assert refused(messages=messages).code == "invalid_turn"


def test_text_parts_are_joined_and_the_rest_is_counted_not_kept() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    turn = parsed(
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "I love hiking"}, image, "and 爬山"]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "type": "function"}]},
            {"role": "tool", "tool_call_id": "t1", "content": '{"temp":3}'},
            {"role": "assistant"},
        ]
    )
    assert [m.content for m in turn.messages] == ["I love hiking\nand 爬山", "", '{"temp":3}', ""]
    assert (turn.dropped_parts, turn.ignored_fields) == (1, 2)
    assert "base64" not in canonical_digest_text(turn)


@pytest.mark.parametrize("kind", [{}, [], None, 5])
def test_a_part_of_no_readable_kind_is_dropped_like_an_image(kind: object) -> None:
    turn = parsed(messages=[{"role": "user", "content": [{"type": kind, "text": "x"}, "y"]}])
    assert (turn.messages[0].content, turn.dropped_parts) == ("y", 1)


@pytest.mark.parametrize("content", [5, True, {"text": "x"}, [5], [None], [{"type": "text", "text": 5}]])
def test_content_that_is_no_text_is_refused_by_path(content: object) -> None:
    error = refused(messages=[{"role": "user", "content": "ok"}, {"role": "user", "content": content}])
    assert error.field == "messages.1.content"


def test_nul_lone_surrogates_and_controls_are_cleaned_and_the_rest_kept() -> None:
    raw = (
        b'{"turn_id":"e-1","user_id":"u-1","session_id":"c-1","messages":'
        b'[{"role":"user","content":"my dog\\u0000 is Bo \\ud83d and \\u0007ok\\n\\t\\ud83d\\udc36"}]}'
    )
    assert parse_turn(raw, now=NOW).messages[0].content == "my dog is Bo  and ok\n\t🐶"


@given(st.text(st.characters(), max_size=60))
def test_any_text_comes_out_storable_and_cleaning_again_changes_nothing(text: str) -> None:
    cleaned = content_of(text)
    cleaned.encode()
    assert not any((char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f" for char in cleaned)
    assert content_of(cleaned) == cleaned


def test_a_message_over_the_limit_is_refused_and_one_at_the_limit_is_not() -> None:
    assert len(content_of("字" * 87381)) == 87381
    error = refused(messages=[{"role": "user", "content": "字" * 87382}])
    assert (error.code, error.field) == ("message_too_large", "messages.0.content")


def test_what_a_dropped_part_weighs_does_not_count() -> None:
    image = {"type": "image_url", "image_url": {"url": "A" * 300_000}}
    assert content_of([image, {"type": "text", "text": "hi"}]) == "hi"


def test_messages_get_distinct_ids_and_keep_their_own() -> None:
    turn = parsed(messages=[{"role": "user", "id": "m2"}, {"role": "user"}, {"role": "user"}])
    ids = [message.id for message in turn.messages]
    assert ids[0] == "m2"
    assert len(set(ids)) == 3
    assert refused(messages=[{"role": "user", "id": "a"}] * 2).field == "messages"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{not json", "not_json"),
        (b"", "not_json"),
        (b"\xff\xfe{}", "not_json"),
        (b'{"a":' + b"1" * 6000 + b"}", "not_json"),
        (b"[]", "invalid_turn"),
        (b'"x"', "invalid_turn"),
        (b"null", "invalid_turn"),
        (b'{"user_id":"a","user_id":"b"}', "invalid_turn"),
        (b'{"user_id":NaN}', "invalid_turn"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "invalid_turn"),
        (b"[" * 200_000, "invalid_turn"),
    ],
)
def test_an_unreadable_payload_is_given_up_with_its_cause(raw: bytes, code: str) -> None:
    with pytest.raises(GiveUp) as caught:
        parse_turn(raw, now=NOW)
    assert caught.value.code == code
    with pytest.raises(RequestError) as answered:
        parse_write(raw, now=NOW)
    assert (answered.value.code, answered.value.message) == (code, caught.value.reason)


@given(
    st.binary(max_size=80) | st.text(st.characters(), max_size=60).map(lambda t: json.dumps({t: t}).encode())
)
def test_no_payload_raises_anything_else(raw: bytes) -> None:
    with pytest.raises(GiveUp) as caught:
        parse_turn(raw, now=NOW)
    caught.value.reason.encode()
    claimed_ids(raw)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "x"]), below)
    ),
    max_leaves=6,
)


@given(st.sampled_from(sorted(body())), JSON_VALUES)
def test_any_value_in_any_field_is_read_or_refused_by_name(field: str, value: object) -> None:
    error = None
    try:
        parsed(**{field: value})
    except GiveUp as refusal:
        error = refusal
    assert error is None or (error.field or "").split(".")[0] == field


def test_a_value_is_never_repeated_in_the_error() -> None:
    assert "secret" not in refused(user_id="secret\u200b").reason
    assert "secret" not in refused(occurred_at="secret").reason


def test_two_deliveries_that_say_the_same_have_one_digest() -> None:
    plain = canonical_digest_text(parsed(time_zone="UTC"))
    assert canonical_digest_text(parsed(time_zone="UTC", occurred_at="2026-11-29T13:04:05Z")) == plain
    noisy = [{"role": "user", "content": ["我对花生过敏\x00"], "tool_calls": []}]
    assert canonical_digest_text(parsed(time_zone="UTC", messages=noisy)) == plain


@pytest.mark.parametrize(
    "change",
    [
        {"messages": [{"role": "user", "content": "我对花生不过敏"}]},
        {"messages": [{"role": "assistant", "content": "我对花生过敏"}]},
        {"messages": [{"role": "user", "content": "我对花生过敏", "name": "李雷"}]},
        {"role": "presales"},
        {"user_name": "李雷"},
        {"session_id": "s-2"},
        {"occurred_at": "2026-11-29T21:04:06+08:00"},
        {"occurred_at": GONE},
    ],
)
def test_any_difference_in_what_was_said_changes_the_digest(change: dict[str, Any]) -> None:
    assert canonical_digest_text(parsed(**change)) != canonical_digest_text(parsed())


def test_a_refused_turn_still_says_whose_it_was() -> None:
    raw = json.dumps(body(occurred_at="never", session_id="")).encode()
    claimed = claimed_ids(raw)
    assert (claimed.user_id, claimed.turn_id) == ("u-1", "t-1")
    assert claimed_ids(json.dumps(body(user_id="u-1 ")).encode()).user_id is None
    assert claimed_ids(b"{").turn_id is None


def test_the_end_of_a_session_names_the_session_of_a_user() -> None:
    closed = parse_closed(b'{"user_id":"u-1","session_id":"s-1"}')
    assert (closed.user_id, closed.session_id) == ("u-1", "s-1")
    with pytest.raises(GiveUp) as caught:
        parse_closed(b'{"user_id":"u-1","session":"s-1"}')
    assert caught.value.code == "invalid_closed"
    assert "did you mean session_id?" in caught.value.reason
