"""The words by which English names times and tells tenses, and what of a pattern is made of them."""

from __future__ import annotations

import re

from hindsight_extractor.domain.times.calendar import Unit

DAYS = {
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
MONTHS = {
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
NUMBERS = {
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
HOLIDAYS = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
    "valentines day": (2, 14),
    "boxing day": (12, 26),
    "xmas": (12, 25),
    "xmas eve": (12, 24),
    "new years eve": (12, 31),
    "st patrick's day": (3, 17),
    "bonfire night": (11, 5),
    "all saints' day": (11, 1),
}
OFFSETS = {"last": -1, "past": -1, "this past": -1, "previous": -1, "this": 0, "next": 1, "this coming": 1}
RELATIVE_DAYS = {
    "day before yesterday": -2,
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
    "day after tomorrow": 2,
}

WEEKDAY = (
    r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b(?!day))"
)
MONTH = (
    r"(?P<month>(?:jan|febr)uary|(?-i:March|May)|april|june|july|august|(?:septem|octo|novem|decem)ber"
    r"|(?-i:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
# In small letters only beside a number: "may" and "march" are verbs, "jan" is a name
SHORT_MONTH = r"(?P<month>jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)"
SMALL_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|march)\b\.?"
ANY_WEEKDAY = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
NTH = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)"
# After a bare day or weekday nothing may follow that it belongs to: "Friday meeting", "the 5th floor"
STANDS_ALONE = (
    r"(?=\s*(?:$|[^\w\s'-]|\d|at\b|morning|afternoon|evening|night|lunch|and\b|but\b|so\b|because\b|if\b|with\b|from\b|for\b|after\b"
    r"|before\b|in\b|to\b|i\b|we\b|he\b|she\b|they\b|my\b|no\b|not\b|instead\b|already\b|again\b|then\b|when\b|since\b|lol\b|btw\b|pls\b|please\b))"
)
DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
YEAR = r"(?P<year>(?:19|20)\d\d)"
COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
UNITS: dict[str, Unit] = {
    "minute": "minute", "min": "minute", "hour": "hour", "hr": "hour", "day": "day", "week": "week", "wk": "week",
    "month": "month", "mth": "month", "year": "year", "yr": "year",
}  # fmt: skip
UNIT = r"(?P<unit>minute|min|hour|hr|day|week|wk|month|mth|year|yr)s?"
OFFSET = r"(?P<offset>this (?:past|coming)|last|past|previous|this|next)"
HOLIDAY = rf"(?P<holiday>{'|'.join(sorted(HOLIDAYS, key=len, reverse=True))})"
NO_MONTH = rf"(?!\s+(?:of\s+)?(?:{'|'.join(MONTHS)})\b)"
NO_YEAR = r"(?!\s+(?:of\s+)?(?:\d|(?:last|this|next)\s+year))"
PART = r"(?:(?:early|mid|late|the\s+end\s+of|end\s+of)[\s-])?"
NO_SPAN = "".join(rf"(?<!\b{unit}\s)" for unit in ("day", "days", "week", "weeks", "month", "months"))
AROUND = r"(?:(?:on|for|at|over|by)\s+)?(?:(?P<offset>last|this|next)\s+)?"
LUNAR_NEW_YEAR = r"(?:the\s+)?(?:lunar|chinese)\s+new\s+year(?:'s)?(?P<eve_after>\s+eve)?"
# "Christmas is coming", "Easter eggs": a season, not a day
NO_SEASON = (
    r"(?!\s+(?:is\s+(?:coming|near|around|almost|just|soon)|season|trees?|cards?|gifts?|presents?|songs?|music|markets?|movies?|jumpers?|sweaters?"
    r"|decorations?|lights|eggs?|cake|pudding|holidays?|break|shopping|time)\b)"
)

# "every last Friday", "a week from Friday", "the day after next Monday" say another day than the words inside them
NOT_A_DATE_AFTER = re.compile(
    r"\b(?:every|each|most|some|usually(?:\s+on)?|before|after|from|not|instead\s+of|rather\s+than|than|orthodox|like|love|hate|a|an|any|per"
    r"|between|prefer|always|often|today\s+is|today's|it's|its|it\s+is|is\s+it|was\s+a|is\s+a)\s+(?:the\s+|on\s+|a\s+)?$"
    r"|\b(?:days?|weeks?|months?|years?)\s+(?:before|after|from|since)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
FUTURE = re.compile(
    r"\b(?:will|won't|going to|gonna|plan(?:s|ning)? (?:to|on|a)|(?:have|has|need|needs|want|wants|hope|hoping) to"
    r"|must|about to|look(?:ing)? forward|coming up|upcoming|scheduled|booked for|due|deadline"
    r"|plan|help me"
    r"|(?:can(?!')|could|shall|should|might|(?-i:may)(?!\s+(?:the\s+)?\d))\b(?!\s+have\s+\w+ed)"
    r"|see you|due|runs? out|expires?)\b"
    r"|(?<!today )(?<!it )\b(?:is|are)\s+(?:on\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:gets?|is|are)\s+[a-z]{2,}ed\s+(?:on|by|next|in|from)\b|\b(?:leaves|flies|arrives|comes|starts|begins|lands|departs|returns|moves|opens"
    r"|closes|ends|goes|stays|gets|visits|turns)\b(?=.*\b(?:on|from|at|next|this|in|mon|tues|wednes|thurs|fri|satur|sun))"
    r"|\b(?:i|we)(?:'ve| have)(?: got)? (?:a|an|my|our|the|another)\b|\b(?:wants|needs)\b|\b(?:is|are) on (?!the\b)"
    r"|\b(?:was|were|is|are|got|gets|been)\s+(?:just\s+)?(?:moved|rescheduled|postponed|pushed|shifted)\b(?=.*\bto\b)"
    r"|\w'll\b|(?:'m|\bam|'re|\bare|'s|\bis) \w+ing\b|\bcan't wait",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:was|were|did|didn't|had|went|got|took|made|met|saw|came|bought|left|lost|found|gave|told|said|began"
    r"|broke|fell|felt|won|ran|ate|drank|wrote|read|spent|sold|sent|built|taught|thought|caught|quit|flew|drove"
    r"|became|heard|held|kept|led|paid|sang|slept|spoke|swam|threw|wore|[a-z]{2,}ed|[a-z]+'ve)\b",
    re.IGNORECASE,
)

# A passive of the present, and what is done today for another day: "the fence is painted", "booked a table"
NEITHER = re.compile(
    r"\b(?:am|is|are|be|being|gets?|getting)\s+(?:still\s+|already\s+|all\s+|now\s+)?[a-z]{2,}ed\b"
    r"|\b(?:booked|bought|scheduled|planned|arranged|reserved|applied|registered|signed\s+up|invited|postponed|rescheduled|moved\s+to|gave\s+(?:me|us)|got\s+(?:an?|the|my))\b"
    r"|\b(?:need|indeed|hundred|red|bed|feed|speed|shed|seed|used\s+to|tired|excited|interested|worried|married|unlimited|limited)\b",
    re.IGNORECASE,
)
CLAUSE_ENDS = re.compile(
    r"[,;:!?()]|\.(?=\s)|\s(?:and|but|so|because|then|though|although|while)\s", re.IGNORECASE
)
SUBJECT = re.compile(r"\b(?:i|we|he|she|they|it|you)\b", re.IGNORECASE)
