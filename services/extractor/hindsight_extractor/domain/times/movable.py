"""Days of the year that move."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Final

# As the calendar offices of China publish them: the first day of the first lunar month, UTC+8
LUNAR_NEW_YEARS: Final[Mapping[int, date]] = {
    year: date(year, month, day)
    for year, (month, day) in enumerate(
        (
            *((2, 14), (2, 3), (1, 23), (2, 10), (1, 31), (2, 19), (2, 8), (1, 28), (2, 16), (2, 5)),
            *((1, 25), (2, 12), (2, 1), (1, 22), (2, 10), (1, 29), (2, 17), (2, 6), (1, 26), (2, 13)),
            *((2, 3), (1, 23), (2, 11), (1, 31), (2, 19), (2, 8), (1, 28), (2, 15), (2, 4), (1, 24)),
        ),
        start=2010,
    )
}


def western_easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the algorithm of Meeus, Jones and Butcher."""
    golden, century, rest = year % 19, year // 100, year % 100
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (golden + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * late + 114, 31)
    return date(year, month, day + 1)
