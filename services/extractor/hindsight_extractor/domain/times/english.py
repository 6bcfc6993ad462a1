"""English words for a time."""

from __future__ import annotations

import re
from datetime import date, timedelta
from re import Match

from hindsight_extractor.domain.times.calendar import Anchor, Moment, Reading, Tense, TimeWords
from hindsight_extractor.domain.times.english_words import (
    ANY_WEEKDAY,
    AROUND,
    CLAUSE_ENDS,
    COUNT,
    DAY,
    DAYS,
    FUTURE,
    HOLIDAY,
    HOLIDAYS,
    LUNAR_NEW_YEAR,
    MONTH,
    MONTHS,
    NEITHER,
    NO_MONTH,
    NO_SEASON,
    NO_SPAN,
    NO_YEAR,
    NOT_A_DATE_AFTER,
    NTH,
    NUMBERS,
    OFFSET,
    OFFSETS,
    PART,
    PAST,
    RELATIVE_DAYS,
    SHORT_MONTH,
    SMALL_MONTH,
    STANDS_ALONE,
    SUBJECT,
    UNIT,
    UNITS,
    WEEKDAY,
    YEAR,
)
from hindsight_extractor.domain.times.movable import LUNAR_NEW_YEARS, western_easter


def _relative_day(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.days_away(RELATIVE_DAYS[" ".join(found[0].lower().split()).removeprefix("the ")])


def _away(direction: int) -> Reading:
    def read(found: Match[str], anchor: Anchor) -> Moment | None:
        count = found["count"].lower()
        number = int(count) if count.isdigit() else NUMBERS[count]
        return anchor.away(direction * number, UNITS[found["unit"].lower()])

    return read


def _exactly(direction: int) -> Reading:
    """Weeks counted to the day."""

    def read(found: Match[str], anchor: Anchor) -> Moment:
        count = found["count"].lower()
        return anchor.days_away(direction * 7 * (int(count) if count.isdigit() else NUMBERS[count]))

    return read


def _fortnight(direction: int) -> Reading:
    return lambda _, anchor: anchor.week(2 * direction)


def _period(found: Match[str], anchor: Anchor) -> Moment:
    offset = OFFSETS[found["offset"].lower()]
    period = found["period"].lower()
    if period == "weekend":
        return anchor.day(anchor.weekday(offset, 5))
    return {"week": anchor.week, "month": anchor.month, "year": anchor.year}[period](offset)


def _week_beyond(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.week(-2 if found["side"].lower() == "before last" else 2)


def _weekday_of_week(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.day(anchor.weekday(OFFSETS[found["offset"].lower()], _weekday_number(found)))


def _weekday(found: Match[str], anchor: Anchor) -> Moment:
    offset, weekday = found["offset"].lower(), _weekday_number(found)
    if offset in ("last", "past", "previous", "this past"):
        return anchor.day(anchor.last_weekday(weekday))
    if offset == "this coming":
        return anchor.day(anchor.coming_weekday(weekday))
    return anchor.day(anchor.weekday(OFFSETS[offset], weekday))


def _bare_weekday(found: Match[str], anchor: Anchor) -> Moment | None:
    return _since(found, anchor).weekday_by_tense(_weekday_number(found))


def _since(found: Match[str], anchor: Anchor) -> Anchor:
    """What lasts since then began in the past, whatever the tense."""
    return Anchor(anchor.at, "past") if found[0].lower().startswith("since") else anchor


def _weekday_number(found: Match[str]) -> int:
    return DAYS[found["weekday"].lower()]


def _month_number(found: Match[str]) -> int:
    return MONTHS[found["month"].lower().rstrip(".")]


def _full_date(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.day_in(int(found["year"]), _month_number(found), int(found["day"]))


def _day_of_month(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.day_of_year(_month_number(found), int(found["day"]))


def _month_and_year(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.in_month(int(found["year"]), _month_number(found))


def _bare_month(found: Match[str], anchor: Anchor) -> Moment | None:
    return _since(found, anchor).month_by_tense(_month_number(found))


def _offset_month(found: Match[str], anchor: Anchor) -> Moment | None:
    offset, month = OFFSETS[found["offset"].lower()], _month_number(found)
    if offset == 0:
        return anchor.in_month(anchor.today.year, month)
    year = anchor.today.year
    if offset < 0:
        return anchor.in_month(year if month < anchor.today.month else year - 1, month)
    return anchor.in_month(year if month > anchor.today.month else year + 1, month)


def _year(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.in_year(int(found["year"]))


def _holiday(found: Match[str], anchor: Anchor) -> Moment | None:
    month, day = HOLIDAYS[" ".join(found["holiday"].lower().split())]
    return _told(found, anchor).nearest(date(year, month, day) for year in _years(anchor))


def _told(found: Match[str], anchor: Anchor) -> Anchor:
    """The anchor with the tense that "last", "this" or "next" before a holiday tells."""
    offset = found["offset"]
    tense: Tense = anchor.tense
    if offset:
        tense = "past" if OFFSETS[offset.lower()] < 0 else "future"
    return Anchor(anchor.at, tense)


def _years(anchor: Anchor) -> range:
    return range(anchor.today.year - 1, anchor.today.year + 2)


def _easter(found: Match[str], anchor: Anchor) -> Moment | None:
    away = {"good friday": -2, "easter monday": 1}.get(" ".join(found["easter"].lower().split()), 0)
    days = (western_easter(year) + timedelta(days=away) for year in _years(anchor))
    return _told(found, anchor).nearest(days)


def _lunar_new_year(found: Match[str], anchor: Anchor) -> Moment | None:
    away = timedelta(days=-1 if found["eve"] or found["eve_after"] else 0)
    days = (day + away for year in _years(anchor) if (day := LUNAR_NEW_YEARS.get(year)))
    return _told(found, anchor).nearest(days)


def _weekend(_: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.weekend_by_tense()


def _bare_day(found: Match[str], anchor: Anchor) -> Moment | None:
    return _since(found, anchor).day_of_month(int(found["day"]))


def _day_of_offset_month(found: Match[str], anchor: Anchor) -> Moment | None:
    first = anchor.month(OFFSETS[found["offset"].lower()]).start
    return anchor.day_in(first.year, first.month, int(found["day"]))


def _weekday_and_day(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.weekday_and_day(_weekday_number(found), int(found["day"]))


def _month_of_offset_year(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.in_month(anchor.today.year + OFFSETS[found["offset"].lower()], _month_number(found))


# Longer expressions first; of two that overlap the one that begins earlier, then the longer one, is read.
_READINGS: tuple[tuple[re.Pattern[str], Reading], ...] = tuple(
    (re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE), reading)
    for pattern, reading in (
        (r"(?:(?:the\s+)?day\s+(?:before\s+yesterday|after\s+tomorrow)|yesterday|tomorrow|tmrw|tmr|tmw|2moro|yday|tonite|today"
         r"|tonight|last\s+night|this\s+(?:morning|afternoon|evening))", _relative_day),
        (rf"{COUNT}\s+(?:weeks?|wks?)\s+ago\s+today", _exactly(-1)),
        (rf"in\s+exactly\s+{COUNT}\s+(?:weeks?|wks?)", _exactly(1)),
        (rf"{COUNT}\s+weeks?\s+(?:from\s+)?today", _exactly(1)),
        (rf"{COUNT}\s*{UNIT}\s+(?:ago|back)", _away(-1)),
        (r"in\s+a\s+fortnight(?:'s\s+time)?|a\s+fortnight\s+from\s+now", _fortnight(1)),
        (r"a\s+fortnight\s+(?:ago|back)", _fortnight(-1)),
        (rf"in\s+(?:about\s+|around\s+|roughly\s+|just\s+|only\s+)?{COUNT}\s+{UNIT}(?:'s?\s+time)?(?!\s+of)", _away(1)),
        (rf"{COUNT}\s+{UNIT}\s+from\s+(?:now|today)", _away(1)),
        (r"the\s+week\s+(?P<side>before last|after next)", _week_beyond),
        (rf"{OFFSET}\s+week(?:\s+on|'s)?\s+{WEEKDAY}", _weekday_of_week),
        (rf"{WEEKDAY}(?:\s+of)?\s+(?P<offset>last|this|next)\s+week", _weekday_of_week),
        (rf"(?:on\s+)?{OFFSET}\s+{WEEKDAY}", _weekday),
        (rf"{OFFSET}\s+(?P<period>weekend|week|month|year)", _period),
        (rf"{MONTH}\s+{DAY},?\s+{YEAR}", _full_date),
        (rf"(?:the\s+)?{DAY}(?:\s+of)?\s+{MONTH},?\s+{YEAR}", _full_date),
        (rf"(?:the\s+)?{DAY}(?:\s+of)?\s+{SMALL_MONTH},?\s+{YEAR}", _full_date),
        (rf"{MONTH}(?:,|\s+of)?\s+{YEAR}", _month_and_year),
        (rf"(?:in\s+)?{MONTH}(?:\s+of)?\s+(?P<offset>last|this|next)\s+year", _month_of_offset_year),
        (rf"(?P<offset>last|this|next)\s+year\s+in\s+{MONTH}", _month_of_offset_year),
        (rf"(?:the\s+)?{NTH}\s+of\s+(?P<offset>last|this|next)\s+month", _day_of_offset_month),
        (rf"(?:on\s+|by\s+|from\s+)?{ANY_WEEKDAY},?\s+(?:the\s+)?{NTH}{NO_MONTH}", _weekday_and_day),
        (rf"{MONTH}\s+(?:the\s+)?{DAY}(?!\s*(?:[:%]|[ap]m))", _day_of_month),
        (rf"(?:the\s+)?{DAY}(?:\s+of)?\s+{MONTH}", _day_of_month),
        (rf"(?:the\s+)?(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?:\s+of)?\s+{SMALL_MONTH}", _day_of_month),
        (rf"{SHORT_MONTH}\s+(?:the\s+)?{DAY}(?!\s*(?:[:%]|[ap]m))", _day_of_month),
        (rf"(?P<offset>last|this|next)\s+{MONTH}", _offset_month),
        (rf"(?:in|since|until|till|by|from|during)\s+{PART}{MONTH}{NO_YEAR}", _bare_month),
        (rf"(?:in|since|around|during|back\s+in|(?:spring|summer|autumn|fall|winter)(?:\s+of)?)\s+{YEAR}", _year),
        (rf"{AROUND}{HOLIDAY}{NO_SEASON}", _holiday),
        (rf"{AROUND}(?P<easter>good\s+friday|easter(?:\s+(?:sunday|monday))?){NO_SEASON}", _easter),
        (rf"{AROUND}(?P<eve>(?:the\s+)?eve\s+of\s+)?{LUNAR_NEW_YEAR}{NO_SEASON}", _lunar_new_year),
        (rf"(?:on|by|until|till|since|this)\s+{WEEKDAY}(?!\s+(?:last|this|next)\s+week|\s+week)", _bare_weekday),
        (rf"(?:{NO_SPAN}from|starting|as\s+of)\s+{WEEKDAY}{STANDS_ALONE}", _bare_weekday),
        (rf"(?<!-){WEEKDAY}(?!-){STANDS_ALONE}", _bare_weekday),
        (rf"(?:on|by|until|from|since|starting)\s+the\s+{NTH}{STANDS_ALONE}", _bare_day),
        (r"(?:at|over)\s+the\s+weekend", _weekend),
    )
)  # fmt: skip

ENGLISH = TimeWords(_READINGS, NOT_A_DATE_AFTER, FUTURE, PAST, NEITHER, CLAUSE_ENDS, SUBJECT)
