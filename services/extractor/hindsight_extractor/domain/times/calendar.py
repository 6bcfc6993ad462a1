"""Calendar arithmetic in the speaker's zone, and what a mention of a time is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from re import Match, Pattern
from typing import Literal

Granularity = Literal["instant", "day", "week", "month", "year"]
Tense = Literal["past", "future"] | None
Unit = Literal["minute", "hour", "day", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class Moment:
    """The start of a span of time; its length is the granularity."""

    start: datetime
    granularity: Granularity


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a relative expression is measured from: when it was said, in the speaker's zone, and its tense."""

    at: datetime
    tense: Tense = None

    @property
    def today(self) -> date:
        return self.at.date()

    def day(self, day: date) -> Moment:
        return Moment(self._midnight(day), "day")

    def days_away(self, days: int) -> Moment:
        return self.day(self.today + timedelta(days=days))

    def week(self, offset: int) -> Moment:
        """The week (from Monday) that lies `offset` weeks from this one."""
        return Moment(self._midnight(self.weekday(offset, 0)), "week")

    def month(self, offset: int) -> Moment:
        return Moment(self._midnight(months_away(self.today.replace(day=1), offset)), "month")

    def year(self, offset: int) -> Moment:
        return self.in_year(self.today.year + offset)

    def in_year(self, year: int) -> Moment:
        return Moment(self._midnight(date(year, 1, 1)), "year")

    def in_month(self, year: int, month: int) -> Moment:
        return Moment(self._midnight(date(year, month, 1)), "month")

    def weekday(self, week_offset: int, weekday: int) -> date:
        """That day (0 = Monday) of the week `week_offset` weeks from this one."""
        monday = self.today - timedelta(days=self.today.weekday())
        return monday + timedelta(weeks=week_offset, days=weekday)

    def last_weekday(self, weekday: int) -> date:
        """The most recent such day before today."""
        return self.today - timedelta(days=(self.today.weekday() - weekday - 1) % 7 + 1)

    def coming_weekday(self, weekday: int) -> date:
        """The first such day after today."""
        return self.today + timedelta(days=(weekday - self.today.weekday() - 1) % 7 + 1)

    def weekday_by_tense(self, weekday: int) -> Moment | None:
        """A bare weekday; None where the sentence does not say whether it is past or to come."""
        if self.tense is None:
            return None
        is_past = self.tense == "past"
        return self.day(self.last_weekday(weekday) if is_past else self.coming_weekday(weekday))

    def month_by_tense(self, month: int) -> Moment | None:
        """A month without its year; None where nothing tells which."""
        if self.tense is None:
            return None
        years = (0, -1) if self.tense == "past" else (0, 1)
        now = (self.today.year, self.today.month)
        for offset in years:
            year = self.today.year + offset
            if (year, month) <= now if self.tense == "past" else (year, month) >= now:
                return self.in_month(year, month)
        return None

    def day_in(self, year: int, month: int, day: int) -> Moment | None:
        found = valid_date(year, month, day)
        return self.day(found) if found else None

    def day_of_year(self, month: int, day: int) -> Moment | None:
        """A day without its year: by tense, else the nearest one."""
        years = range(self.today.year - 1, self.today.year + 2)
        days = [d for year in years if (d := valid_date(year, month, day))]
        if self.tense == "past":
            days = [d for d in days if d <= self.today]
        elif self.tense == "future":
            days = [d for d in days if d >= self.today]
        return self.day(min(days, key=lambda d: abs((d - self.today).days))) if days else None

    def away(self, count: int, unit: Unit) -> Moment | None:
        """That many units from now, negative = before; None beyond a human's horizon."""
        if abs(count) > _HORIZON[unit]:
            return None
        if unit in ("minute", "hour"):
            step = timedelta(minutes=count) if unit == "minute" else timedelta(hours=count)
            return Moment((self.at + step).replace(microsecond=0), "instant")
        if unit == "day":
            return self.days_away(count)
        if unit == "week":
            return self.week(count)
        return self.month(count) if unit == "month" else self.year(count)

    def _midnight(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, tzinfo=self.at.tzinfo)


_HORIZON: dict[Unit, int] = {
    "minute": 10_000,
    "hour": 1_000,
    "day": 1_500,
    "week": 300,
    "month": 240,
    "year": 120,
}

Reading = Callable[[Match[str], Anchor], Moment | None]


@dataclass(frozen=True, slots=True)
class TimeWords:
    """How one language names times: what to look for, what before a find makes it no date, and its tenses."""

    readings: tuple[tuple[Pattern[str], Reading], ...]
    not_a_date_after: Pattern[str]
    future: Pattern[str]
    past: Pattern[str]

    def tense_of(self, sentence: str) -> Tense:
        """Whether a sentence speaks of what was or is to come; None where neither is marked."""
        if self.future.search(sentence):
            return "future"
        return "past" if self.past.search(sentence) else None


def valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def months_away(first_of_month: date, offset: int) -> date:
    months = first_of_month.year * 12 + first_of_month.month - 1 + offset
    return date(months // 12, months % 12 + 1, 1)
