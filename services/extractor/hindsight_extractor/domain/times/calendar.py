"""Calendar arithmetic in the speaker's zone, and what a mention of a time is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

    def weekend_by_tense(self) -> Moment | None:
        """A bare weekend, by its Saturday; None where the sentence does not say which."""
        if self.tense is None:
            return None
        past, coming = self.last_weekday(5), self.coming_weekday(5)
        return self.day(past if self.tense == "past" else self.today if self.today.weekday() == 5 else coming)

    def day_of_month(self, day: int) -> Moment | None:
        """A day without its month; None where nothing tells whether it is past or to come."""
        if self.tense is None:
            return None
        step = 1 if self.tense == "future" else -1
        days = (self.today + timedelta(days=step * away) for away in range(62))
        return next((self.day(each) for each in days if each.day == day), None)

    def weekday_and_day(self, weekday: int, day: int) -> Moment | None:
        """A weekday with its day of the month: the nearest date, by tense, on which both fall."""
        around = (self.today + timedelta(days=away) for away in range(-62, 63))
        days = [each for each in around if (each.day, each.weekday()) == (day, weekday)]
        told = [each for each in days if (each < self.today) == (self.tense == "past")] if self.tense else []
        return self.day(min(told or days, key=lambda d: abs((d - self.today).days))) if days else None

    def nearest(self, days: Iterable[date]) -> Moment | None:
        """Of days that come once a year the one meant: by tense, else the nearest, if it is near enough to be sure."""
        if self.tense == "past":
            days = [d for d in days if d <= self.today]
        elif self.tense == "future":
            days = [d for d in days if d >= self.today]
        near = min(days, key=lambda d: abs((d - self.today).days), default=None)
        sure = near is not None and (self.tense is not None or abs((near - self.today).days) <= _NEAR_DAYS)
        return self.day(near) if near is not None and sure else None

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


_NEAR_DAYS = 60
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
    """How one language names times: what to look for, what before a find makes it no date, and its tenses.

    `neither` looks like the past and is not; `coming` is yet to come where nothing says that it was. Where
    `clause_ends` is given, the clause around a time tells its tense, and the sentence only where the clause has no
    `subject`.
    """

    readings: tuple[tuple[Pattern[str], Reading], ...]
    not_a_date_after: Pattern[str]
    future: Pattern[str]
    past: Pattern[str]
    neither: Pattern[str] | None = None
    clause_ends: Pattern[str] | None = None
    subject: Pattern[str] | None = None
    coming: Pattern[str] | None = None

    def tense_of(self, sentence: str) -> Tense:
        """Whether a sentence speaks of what was or is to come; None where neither is marked."""
        if self.future.search(sentence):
            return "future"
        if self.neither is not None:
            sentence = self.neither.sub(" ", sentence)
        if self.past.search(sentence):
            return "past"
        return "future" if self.coming is not None and self.coming.search(sentence) else None

    def tense_around(self, read: str, begin: int, end: int) -> Tense:
        """The tense in which a time is spoken of that stands there."""
        if self.clause_ends is None:
            return self.tense_of(read)
        ends = [
            found for found in self.clause_ends.finditer(read) if found.end() <= begin or found.start() >= end
        ]
        start = max((found.end() for found in ends if found.end() <= begin), default=0)
        stop = min((found.start() for found in ends if found.start() >= end), default=len(read))
        clause = read[start:stop]
        tense = self.tense_of(clause)
        if tense is None and self.subject is not None and not self.subject.search(clause):
            return self.tense_of(read)
        return tense


def valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def months_away(first_of_month: date, offset: int) -> date:
    months = first_of_month.year * 12 + first_of_month.month - 1 + offset
    return date(months // 12, months % 12 + 1, 1)
