"""When a model may be asked: open while it answers, one probe at a time while it does not."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.clock import FixedClock
from hindsight_common.errors import RetryLater
from hindsight_extractor.application.extraction_telemetry import ExtractionTelemetry
from hindsight_extractor.application.model_gate import ModelGate


class Time:
    def __init__(self) -> None:
        self.clock = FixedClock(datetime(2026, 3, 4, tzinfo=UTC))
        self.seconds = 0.0
        self.gate = ModelGate(
            self.clock, ExtractionTelemetry(), monotonic=lambda: self.seconds, jitter=lambda: 0.5
        )

    def pass_s(self, seconds: float) -> None:
        self.seconds += seconds
        self.clock.advance(timedelta(seconds=seconds))

    def refused_for_s(self) -> float | None:
        """None = it may be asked."""
        try:
            with self.gate.admission():
                return None
        except RetryLater as later:
            return later.delay_s


@pytest.fixture
def time() -> Time:
    return Time()


def test_while_it_answers_any_number_may_ask_side_by_side(time: Time) -> None:
    with ExitStack() as asking:
        for _ in range(20):
            asking.enter_context(time.gate.admission())
    assert (time.gate.health.state, time.gate.health.cause) == ("ok", None)


def test_after_a_failure_one_probe_at_a_time_is_let_through_when_it_is_due(time: Time) -> None:
    time.gate.away("http_500")
    assert time.gate.health.state == "away"
    assert (time.refused_for_s() or 0) > 0
    time.pass_s(1)
    with time.gate.admission():
        assert (time.refused_for_s() or 0) > 0
    assert time.refused_for_s() is None


def test_a_probe_that_ends_without_a_word_leaves_the_way_to_the_next(time: Time) -> None:
    time.gate.away("http_500")
    time.pass_s(1)
    with pytest.raises(KeyError), time.gate.admission():
        raise KeyError
    assert time.refused_for_s() is None


def test_an_answer_opens_the_gate_and_says_since_when(time: Time) -> None:
    time.gate.away("timeout")
    time.pass_s(5)
    time.gate.away("http_500")
    health = time.gate.health
    assert (health.cause, health.since) == ("http_500", datetime(2026, 3, 4, tzinfo=UTC))
    time.gate.answered()
    assert time.gate.health.state == "ok"
    assert time.gate.health.since == time.clock.now()
    assert time.refused_for_s() is None


@given(failures=st.integers(1, 200))
def test_however_long_it_was_away_what_waited_is_read_within_ten_seconds_of_the_return(failures: int) -> None:
    time = Time()
    for _ in range(failures):
        time.gate.away("http_500")
        time.pass_s(100)
    time.gate.away("http_500")
    # the longest wait of a turn, then of the probe, then of the turns that came just after it
    probe_s = time.refused_for_s()
    assert probe_s is not None
    assert 2 * (probe_s + 0.25) < 10


def test_failures_side_by_side_count_as_one(time: Time) -> None:
    for _ in range(50):
        time.gate.away("http_429")
    assert (time.refused_for_s() or 9) < 1


def test_the_endpoints_own_word_on_when_to_come_back_is_kept(time: Time) -> None:
    time.gate.away("http_429", retry_after_s=20)
    time.pass_s(19)
    assert time.refused_for_s() is not None
    time.pass_s(1.1)
    assert time.refused_for_s() is None


def test_a_wrong_key_is_asked_about_ever_more_rarely(time: Time) -> None:
    waits: list[float] = []
    for _ in range(8):
        time.gate.misconfigured("http_401")
        before = time.seconds
        while time.refused_for_s() is not None:
            time.pass_s(0.5)
        waits.append(time.seconds - before)
    assert time.gate.health.state == "paused"
    assert waits == sorted(waits)
    assert waits[-1] == 30


def test_replies_that_cannot_be_read_close_the_gate_only_in_a_row(time: Time) -> None:
    for _ in range(4):
        time.gate.unreadable()
    time.gate.answered()
    for _ in range(4):
        time.gate.unreadable()
    assert time.gate.health.state == "ok"
    time.gate.unreadable()
    assert (time.gate.health.state, time.gate.health.cause) == ("away", "unreadable_replies")
