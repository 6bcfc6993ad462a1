from __future__ import annotations

import asyncio
import calendar
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_client.importing.locomo import read_locomo, said_at
from hindsight_client.importing.sending import send_turns
from hindsight_client.importing.turn_lines import read_turn_lines
from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.events.answers import WriteAnswer
from hindsight_common.events.conversation import read_turn

SAMPLE: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_2_date_time": "12:05 am on 1 January, 2024",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "新年快乐"}],
        "session_10_date_time": "1:56 pm on 8 May, 2024",
        "session_10": [
            {"speaker": "Ann", "dia_id": "D10:1", "text": "Hi!", "blip_caption": "a dog", "img_url": ["x"]},
            {"speaker": "Bo", "dia_id": "D10:2", "text": "Nice picture."},
        ],
        "session_11_date_time": "2:00 pm on 9 May, 2024",
        "session_11": [],
    },
    "qa": [],
}


def locomo(tmp_path: Path, samples: object) -> Path:
    path = tmp_path / "history.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


def test_each_utterance_is_a_turn_of_one_message_under_its_speaker_s_name(tmp_path: Path) -> None:
    turns = read_locomo(locomo(tmp_path, [SAMPLE]))
    assert [turn["turn_id"] for turn in turns] == ["D2:1", "D10:1", "D10:2"]
    assert {(turn["user_id"], turn["user_name"]) for turn in turns} == {("conv-1", "Ann")}
    assert [turn["session_id"] for turn in turns] == ["session_2", "session_10", "session_10"]
    assert turns[1]["messages"] == [{"role": "user", "name": "Ann", "content": "Hi!"}]
    times = [datetime.fromisoformat(turn["occurred_at"]) for turn in turns]
    assert times[0] == datetime(2024, 1, 1, 0, 5, tzinfo=UTC)
    assert times[1] == datetime(2024, 5, 8, 13, 56, tzinfo=UTC)
    assert timedelta() < times[2] - times[1] < timedelta(minutes=1)


def test_every_turn_that_is_read_is_one_that_intake_accepts(tmp_path: Path) -> None:
    for turn in read_locomo(locomo(tmp_path, [SAMPLE]), "en-"):
        assert read_turn(turn, now=datetime(2026, 1, 1, tzinfo=UTC)).user_id == "en-conv-1"


def test_a_caption_of_a_picture_is_nobody_s_words(tmp_path: Path) -> None:
    assert "dog" not in json.dumps(read_locomo(locomo(tmp_path, [SAMPLE])))


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        ({}, "list of conversations"),
        ([{"sample_id": "x"}], "'conversation' is missing"),
        (
            [SAMPLE, {"sample_id": "x", "conversation": {"speaker_a": "A", "session_1": [{}]}}],
            "conversation 2",
        ),
        (
            [{"sample_id": "x", "conversation": {"session_1": [{}], "session_1_date_time": "noon"}}],
            "a time such as",
        ),
    ],
)
def test_a_file_of_another_shape_is_refused_with_the_place(
    tmp_path: Path, samples: object, says: str
) -> None:
    with pytest.raises(StopAndFix, match=says):
        read_locomo(locomo(tmp_path, samples))


@given(st.dates(date(1970, 1, 1), date(2100, 1, 1)), st.times())
def test_times_of_sessions_are_read_whatever_the_hour(day: date, at: time) -> None:
    hour, half = at.hour % 12 or 12, "pm" if at.hour >= 12 else "am"
    text = f"{hour}:{at.minute:02} {half} on {day.day} {calendar.month_name[day.month]}, {day.year}"
    assert said_at(text) == datetime(day.year, day.month, day.day, at.hour, at.minute, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "13:00 pm on 8 May, 2023", "1:56 pm on 31 June, 2023", "8 May 2023"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        said_at(text)


def test_turn_lines_are_read_and_faults_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text('{"turn_id": "t-1"}\n\n  \n{"turn_id": "t-2"}\n')
    assert [turn["turn_id"] for turn in read_turn_lines(path)] == ["t-1", "t-2"]
    path.write_text('{"turn_id": "t-1"}\n{"turn')
    with pytest.raises(StopAndFix, match="line 2"):
        read_turn_lines(path)
    path.write_text('{"user_id": "u-1"}')
    with pytest.raises(StopAndFix, match=r"line 1.*turn_id"):
        read_turn_lines(path)


class Intake:
    """Knows what it has, refuses what it is told to, and can go away after some turns."""

    def __init__(self, *, refuses: str = "", until: int = 1000) -> None:
        self.has: set[str] = set()
        self.most_at_once = 0
        self._now = 0
        self._refuses, self._left = refuses, until

    async def write(self, turn: Mapping[str, Any]) -> WriteAnswer:
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        await asyncio.sleep(0)
        self._now -= 1
        turn_id = turn["turn_id"]
        if turn_id == self._refuses:
            raise RequestError("turn_id_reused", "other content", status=409)
        if self._left == 0:
            raise RequestError("no_responders", "nobody there", status=503)
        self._left -= 1
        known = turn_id in self.has
        self.has.add(turn_id)
        return WriteAnswer(turn_id=turn_id, accepted=True, duplicate=known)


TURNS = [{"turn_id": f"t-{number}"} for number in range(20)]


async def test_a_second_run_repeats_nothing() -> None:
    intake, steps = Intake(), []
    first = await send_turns(intake, TURNS, side_by_side=4, on_step=lambda: steps.append(1))
    again = await send_turns(intake, TURNS, side_by_side=4, on_step=lambda: None)
    assert (first.accepted, first.duplicates, len(steps)) == (20, 0, 20)
    assert (again.accepted, again.duplicates) == (0, 20)
    assert intake.most_at_once == 4


async def test_a_refused_turn_is_noted_and_the_rest_goes_on() -> None:
    sent = await send_turns(Intake(refuses="t-7"), TURNS, side_by_side=3, on_step=lambda: None)
    assert sent.accepted == 19
    assert [(number, error.code) for number, error in sent.refused] == [(8, "turn_id_reused")]


async def test_an_outage_ends_the_run_and_the_next_one_completes_it() -> None:
    intake = Intake(until=5)
    with pytest.raises(ExceptionGroup) as caught:
        await send_turns(intake, TURNS, side_by_side=2, on_step=lambda: None)
    assert caught.group_contains(RequestError, match="nobody there")
    back = Intake()
    back.has = set(intake.has)
    sent = await send_turns(back, TURNS, side_by_side=2, on_step=lambda: None)
    assert (sent.accepted, sent.duplicates) == (15, 5)
