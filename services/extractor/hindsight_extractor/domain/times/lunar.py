"""Days of the Chinese calendar: of its months, which begin with a new moon, and of the sun's stations.

The positions are those of Jean Meeus, Astronomical Algorithms (chapters 25 and 49), good to some minutes; the calendar
counts days by the time of Beijing.
"""

from __future__ import annotations

import math
from datetime import date, timedelta
from functools import cache
from typing import Final

# Julian day of 1970-01-01 00:00, the excess of dynamical time, and the zone of the calendar, in days
_EPOCH: Final = 2440587.5
_DELTA_T: Final = 72 / 86400
_BEIJING: Final = 8 / 24
_MONTH_DAYS: Final = 29.530588861
_YEAR_DAYS: Final = 365.2422
_ECLIPTIC_WINTER: Final = 270
_FIRST_YEAR: Final = 1950
_LAST_YEAR: Final = 2100


def lunar_date(year: int, month: int, day: int) -> date | None:
    """That day of the lunar year that begins in a year of ours; leap months are never meant. None outside 1950–2100."""
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    starts = _months(year)
    begin = starts[month]
    length = (_next_month(begin) - begin).days
    return begin + timedelta(days=day - 1) if 1 <= day <= length else None


def eve_of_new_year(year: int) -> date | None:
    """除夕: the day before the lunar year that begins in a year of ours."""
    first = lunar_date(year, 1, 1)
    return first - timedelta(days=1) if first else None


@cache
def solar_term(year: int, longitude: int) -> date:
    """The day on which the sun stands there, in degrees from the spring equinox: 15 is 清明, 270 冬至."""
    days = ((longitude - 280) % 360) / 360 * _YEAR_DAYS
    moment = _julian(date(year, 1, 1)) + days
    for _ in range(6):
        moment += ((longitude - _sun(moment) + 180) % 360 - 180) / 360 * _YEAR_DAYS
    return _day(moment)


@cache
def _months(year: int) -> dict[int, date]:
    """The first days of the months of a lunar year, leap ones left out."""
    months = dict(_from_solstice(year - 1))
    following = dict(_from_solstice(year))
    return {number: months[number] for number in range(1, 11)} | {11: following[11], 12: following[12]}


@cache
def _from_solstice(year: int) -> tuple[tuple[int, date], ...]:
    """The months from that of the winter solstice of a year (the eleventh) to the tenth of the next."""
    begin, end = (_month_with(solar_term(each, _ECLIPTIC_WINTER)) for each in (year, year + 1))
    starts = [begin]
    while (following := _next_month(starts[-1])) < end:
        starts.append(following)
    leap = _leap_month(starts) if len(starts) == 13 else None
    numbered: list[tuple[int, date]] = []
    number = 11
    for place, start in enumerate(starts):
        if place != leap:
            numbered.append((number, start))
            number = number % 12 + 1
    return tuple(numbered)


def _leap_month(starts: list[date]) -> int | None:
    """Of thirteen months the first in which the sun enters no twelfth of its way."""
    for place, start in enumerate(starts):
        entered, left = (_twelfth(day) for day in (start, _next_month(start)))
        if entered == left and place:
            return place
    return None


def _twelfth(day: date) -> int:
    """The twelfth of its way in which the sun stands when a day begins in Beijing."""
    return int(_sun(_julian(day) - _BEIJING + _DELTA_T) // 30)


def _month_with(day: date) -> date:
    number = round((_julian(day) - _julian(date(2000, 1, 6))) / _MONTH_DAYS) + 1
    while _day(_new_moon(number)) > day:
        number -= 1
    return _day(_new_moon(number))


def _next_month(start: date) -> date:
    number = round((_julian(start) - _julian(date(2000, 1, 6))) / _MONTH_DAYS)
    while _day(_new_moon(number)) <= start:
        number += 1
    return _day(_new_moon(number))


def _julian(day: date) -> float:
    return (day - date(1970, 1, 1)).days + _EPOCH


def _day(moment: float) -> date:
    return date(1970, 1, 1) + timedelta(days=math.floor(moment - _DELTA_T + _BEIJING - _EPOCH))


def _sun(moment: float) -> float:
    """The apparent longitude of the sun, in degrees."""
    t = (moment - 2451545.0) / 36525
    mean = 280.46646 + 36000.76983 * t + 0.0003032 * t * t
    anomaly = math.radians(357.52911 + 35999.05029 * t - 0.0001537 * t * t)
    centre = (
        (1.914602 - 0.004817 * t) * math.sin(anomaly)
        + (0.019993 - 0.000101 * t) * math.sin(2 * anomaly)
        + 0.000289 * math.sin(3 * anomaly)
    )
    node = math.radians(125.04 - 1934.136 * t)
    return (mean + centre - 0.00569 - 0.00478 * math.sin(node)) % 360


@cache
def _new_moon(number: int) -> float:
    """The moment of a new moon, counted from that of January 2000, as a Julian day in dynamical time."""
    t = number / 1236.85
    mean = 2451550.09766 + _MONTH_DAYS * number + 0.00015437 * t * t
    e = 1 - 0.002516 * t - 0.0000074 * t * t
    sun = math.radians(2.5534 + 29.10535670 * number - 0.0000014 * t * t)
    moon = math.radians(201.5643 + 385.81693528 * number + 0.0107582 * t * t)
    far = math.radians(160.7108 + 390.67050284 * number - 0.0016118 * t * t)
    node = math.radians(124.7746 - 1.56375588 * number + 0.0020672 * t * t)
    terms = (
        (-0.40720, moon), (0.17241 * e, sun), (0.01608, 2 * moon), (0.01039, 2 * far),
        (0.00739 * e, moon - sun), (-0.00514 * e, moon + sun), (0.00208 * e * e, 2 * sun),
        (-0.00111, moon - 2 * far), (-0.00057, moon + 2 * far), (0.00056 * e, 2 * moon + sun),
        (-0.00042, 3 * moon), (0.00042 * e, sun + 2 * far), (0.00038 * e, sun - 2 * far),
        (-0.00024 * e, 2 * moon - sun), (-0.00017, node), (-0.00007, moon + 2 * sun),
    )  # fmt: skip
    return mean + sum(factor * math.sin(angle) for factor, angle in terms)
