"""English words for a time."""

from __future__ import annotations

import re
from re import Match

from hindsight_extractor.domain.times.calendar import Anchor, Moment, Reading, Tense, TimeWords, Unit

_DAYS = {
    name: index
    for index, names in enumerate(
        [
            "monday mon",
            "tuesday tue tues",
            "wednesday wed",
            "thursday thu thur thurs",
            "friday fri",
            "saturday sat",
            "sunday sun",
        ]
    )
    for name in names.split()
}
_MONTHS = {
    name: index
    for index, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ],
        start=1,
    )
    for name in names.split()
}
_NUMBERS = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        start=1,
    )
} | {
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "a couple": 2,
    "couple of": 2,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
}
_HOLIDAYS = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}
_OFFSETS = {"last": -1, "past": -1, "this past": -1, "previous": -1, "this": 0, "next": 1, "this coming": 1}
_RELATIVE_DAYS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
    "tmrw": 1,
    "tmr": 1,
    "tmw": 1,
    "2moro": 1,
    "yday": -1,
    "tonite": 0,
    "the day after tomorrow": 2,
}

_WEEKDAY = (
    r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b(?!day))"
)
_MONTH = (
    r"(?P<month>(?:jan|febr)uary|(?-i:March|May)|april|june|july|august|(?:septem|octo|novem|decem)ber"
    r"|(?-i:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>minute|hour|day|week|month|year)s?"
_OFFSET = r"(?P<offset>this (?:past|coming)|last|past|previous|this|next)"
_HOLIDAY = rf"(?P<holiday>{'|'.join(sorted(_HOLIDAYS, key=len, reverse=True))})"


def _relative_day(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.days_away(_RELATIVE_DAYS[" ".join(found[0].lower().split())])


def _away(direction: int) -> Reading:
    def read(found: Match[str], anchor: Anchor) -> Moment | None:
        count = found["count"].lower()
        number = int(count) if count.isdigit() else _NUMBERS[count]
        unit: Unit = found["unit"].lower()  # type: ignore[assignment]  # the pattern admits these words only
        return anchor.away(direction * number, unit)

    return read


def _period(found: Match[str], anchor: Anchor) -> Moment:
    offset = _OFFSETS[found["offset"].lower()]
    period = found["period"].lower()
    if period == "weekend":
        return anchor.day(anchor.weekday(offset, 5))
    return {"week": anchor.week, "month": anchor.month, "year": anchor.year}[period](offset)


def _week_beyond(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.week(-2 if found["side"].lower() == "before last" else 2)


def _weekday_of_week(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.day(anchor.weekday(_OFFSETS[found["offset"].lower()], _weekday_number(found)))


def _weekday(found: Match[str], anchor: Anchor) -> Moment:
    offset, weekday = found["offset"].lower(), _weekday_number(found)
    if offset in ("last", "past", "previous", "this past"):
        return anchor.day(anchor.last_weekday(weekday))
    if offset == "this coming":
        return anchor.day(anchor.coming_weekday(weekday))
    return anchor.day(anchor.weekday(_OFFSETS[offset], weekday))


def _bare_weekday(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.weekday_by_tense(_weekday_number(found))


def _weekday_number(found: Match[str]) -> int:
    return _DAYS[found["weekday"].lower()]


def _month_number(found: Match[str]) -> int:
    return _MONTHS[found["month"].lower().rstrip(".")]


def _full_date(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.day_in(int(found["year"]), _month_number(found), int(found["day"]))


def _day_of_month(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.day_of_year(_month_number(found), int(found["day"]))


def _month_and_year(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.in_month(int(found["year"]), _month_number(found))


def _bare_month(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.month_by_tense(_month_number(found))


def _offset_month(found: Match[str], anchor: Anchor) -> Moment | None:
    offset, month = _OFFSETS[found["offset"].lower()], _month_number(found)
    if offset == 0:
        return anchor.in_month(anchor.today.year, month)
    year = anchor.today.year
    if offset < 0:
        return anchor.in_month(year if month < anchor.today.month else year - 1, month)
    return anchor.in_month(year if month > anchor.today.month else year + 1, month)


def _year(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.in_year(int(found["year"]))


def _holiday(found: Match[str], anchor: Anchor) -> Moment | None:
    month, day = _HOLIDAYS[found["holiday"].lower()]
    offset = found["offset"]
    if not offset and anchor.tense is None:
        return None
    tense: Tense = anchor.tense
    if offset:
        tense = "past" if _OFFSETS[offset.lower()] < 0 else "future"
    return Anchor(anchor.at, tense).day_of_year(month, day)


# Longer expressions first; of two that overlap the one that begins earlier, then the longer one, is read.
_READINGS: tuple[tuple[re.Pattern[str], Reading], ...] = tuple(
    (re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE), reading)
    for pattern, reading in (
        (r"(?:the\s+day\s+(?:before\s+yesterday|after\s+tomorrow)|yesterday|tomorrow|tmrw|tmr|tmw|2moro|yday|tonite|today|tonight|last\s+night"
         r"|this\s+(?:morning|afternoon|evening))", _relative_day),
        (rf"{_COUNT}\s+{_UNIT}\s+ago", _away(-1)),
        (rf"in\s+{_COUNT}\s+{_UNIT}(?:'s?\s+time)?(?!\s+of)", _away(1)),
        (rf"{_COUNT}\s+{_UNIT}\s+from\s+(?:now|today)", _away(1)),
        (r"the\s+week\s+(?P<side>before last|after next)", _week_beyond),
        (rf"{_OFFSET}\s+week(?:\s+on|'s)?\s+{_WEEKDAY}", _weekday_of_week),
        (rf"{_WEEKDAY}(?:\s+of)?\s+(?P<offset>last|this|next)\s+week", _weekday_of_week),
        (rf"(?:on\s+)?{_OFFSET}\s+{_WEEKDAY}", _weekday),
        (rf"{_OFFSET}\s+(?P<period>weekend|week|month|year)", _period),
        (rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}", _full_date),
        (rf"(?:the\s+)?{_DAY}(?:\s+of)?\s+{_MONTH},?\s+{_YEAR}", _full_date),
        (rf"{_MONTH},?\s+{_YEAR}", _month_and_year),
        (rf"{_MONTH}\s+(?:the\s+)?{_DAY}(?!\s*(?:[:%]|[ap]m))", _day_of_month),
        (rf"(?:the\s+)?{_DAY}(?:\s+of)?\s+{_MONTH}", _day_of_month),
        (rf"(?P<offset>last|this|next)\s+{_MONTH}", _offset_month),
        (rf"(?:in|since|until)\s+{_MONTH}(?!\s+\d)", _bare_month),
        (rf"(?:in|since|around|during|back\s+in)\s+{_YEAR}", _year),
        (rf"(?:on\s+|for\s+|at\s+|over\s+)?(?:(?P<offset>last|this|next)\s+)?{_HOLIDAY}", _holiday),
        (rf"(?:on|by|until|since|this)\s+{_WEEKDAY}(?!\s+(?:last|this|next)\s+week)", _bare_weekday),
    )
)  # fmt: skip

# "every last Friday", "a week from Friday", "the day after next Monday" say another day than the words inside them
_NOT_A_DATE_AFTER = re.compile(
    r"\b(?:every|each|most|some|usually(?:\s+on)?|before|after|from)\s+(?:the\s+|on\s+)?$"
    r"|\b(?:days?|weeks?|months?|years?)\s+(?:before|after|from|since)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|won't|going to|gonna|plan(?:s|ning)? (?:to|on|a)|(?:have|has|need|needs|want|wants|hope|hoping) to"
    r"|must|about to|look(?:ing)? forward|coming up|upcoming|scheduled|booked for|due|deadline"
    r"|plan|help me|(?:can|could) you)\b"
    r"|\b(?:i|we)(?:'ve| have)(?: got)? (?:a|an|my|our|the|another)\b|\b(?:wants|needs)\b|\b(?:is|are) on (?!the\b)"
    r"|\w'll\b|(?:'m|\bam|'re|\bare|'s|\bis) \w+ing\b|\bcan't wait",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|did|didn't|had|went|got|took|made|met|saw|came|bought|left|lost|found|gave|told|said|began"
    r"|broke|fell|felt|won|ran|ate|drank|wrote|read|spent|sold|sent|built|taught|thought|caught|quit|flew|drove"
    r"|became|heard|held|kept|led|paid|sang|slept|spoke|swam|threw|wore|[a-z]{2,}ed|[a-z]+'ve)\b",
    re.IGNORECASE,
)

ENGLISH = TimeWords(_READINGS, _NOT_A_DATE_AFTER, _FUTURE, _PAST)
