"""Days of the Chinese calendar, against what almanacs print."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_extractor.domain.times.lunar import eve_of_new_year, lunar_date, solar_term
from hindsight_extractor.domain.times.movable import LUNAR_NEW_YEARS

MID_AUTUMNS = (
    "2019-09-13 2020-10-01 2021-09-21 2022-09-10 2023-09-29 2024-09-17 2025-10-06 2026-09-25 2027-09-15"
)
DRAGON_BOATS = (
    "2018-06-18 2019-06-07 2020-06-25 2021-06-14 2022-06-03 2023-06-22 2024-06-10 2025-05-31 2026-06-19"
)


def days(text: str) -> list[date]:
    return [date.fromisoformat(day) for day in text.split()]


@pytest.mark.parametrize(("year", "first"), tuple(LUNAR_NEW_YEARS.items()))
def test_the_first_day_of_the_year_is_the_published_one(year: int, first: date) -> None:
    assert lunar_date(year, 1, 1) == first
    assert eve_of_new_year(year) == first - timedelta(days=1)


@pytest.mark.parametrize("day", days(MID_AUTUMNS), ids=str)
def test_mid_autumn_falls_on_the_fifteenth_of_the_eighth_month(day: date) -> None:
    assert lunar_date(day.year, 8, 15) == day


@pytest.mark.parametrize("day", days(DRAGON_BOATS), ids=str)
def test_the_dragon_boat_feast_falls_on_the_fifth_of_the_fifth_month_also_after_a_leap_month(
    day: date,
) -> None:
    assert lunar_date(day.year, 5, 5) == day


@pytest.mark.parametrize(
    ("year", "longitude", "day"),
    [
        (2024, 15, "2024-04-04"),
        (2026, 15, "2026-04-05"),
        (2021, 270, "2021-12-21"),
        (2023, 270, "2023-12-22"),
        (2021, 315, "2021-02-03"),
        (2025, 315, "2025-02-03"),
        (2024, 315, "2024-02-04"),
    ],
)
def test_a_station_of_the_sun_falls_on_the_day_of_the_almanac(year: int, longitude: int, day: str) -> None:
    assert solar_term(year, longitude) == date.fromisoformat(day)


@given(year=st.integers(1950, 2100), month=st.integers(1, 12))
def test_a_month_has_twenty_nine_or_thirty_days(year: int, month: int) -> None:
    first, late = lunar_date(year, month, 1), lunar_date(year, month, 29)
    assert first is not None
    assert late is not None
    assert (late - first).days == 28
    assert lunar_date(year, month, 31) is None
    assert year <= first.year <= year + 1


def test_beyond_the_years_that_it_was_held_against_it_says_nothing() -> None:
    assert lunar_date(1900, 1, 1) is None
    assert eve_of_new_year(2200) is None
