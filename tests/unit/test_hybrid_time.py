"""Hybrid time: it grows whatever the wall clock does, stays near it, and is behind every decision that was seen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.domain.hybrid_time import HybridClock, HybridTime

START = datetime(2026, 1, 1, tzinfo=UTC)
STAMPS = st.builds(HybridTime, st.integers(0, 5), st.integers(0, 3))


def at(ms: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


@given(st.lists(st.tuples(st.integers(0, 5), st.none() | STAMPS), max_size=20))
def test_every_time_is_after_the_ones_before_and_after_what_was_seen(
    ticks: list[tuple[int, HybridTime | None]],
) -> None:
    clock, last = HybridClock(), HybridTime(0)
    for wall_ms, seen in ticks:
        given_out = clock.tick(at(wall_ms), seen)
        assert given_out > last
        assert seen is None or given_out > seen
        assert given_out.wall_ms >= wall_ms
        last = given_out


def test_a_clock_that_goes_on_is_followed_and_counts_from_nought_again() -> None:
    clock = HybridClock()
    assert clock.tick(at(7)) == HybridTime(7)
    assert clock.tick(at(7)) == HybridTime(7, 1)
    assert clock.tick(at(3)) == HybridTime(7, 2)
    assert clock.tick(at(8)) == HybridTime(8)


def test_a_zone_does_not_matter() -> None:
    there = START.astimezone(timezone(timedelta(hours=8)))
    assert HybridClock().tick(there) == HybridClock().tick(START)
