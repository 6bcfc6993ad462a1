"""Chinese words for a time. The text is read with simplified characters and half-width digits."""

from __future__ import annotations

import re
from re import Match

from hindsight_extractor.domain.times.calendar import Anchor, Moment, Reading, TimeWords, Unit, valid_date

_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_RELATIVE_DAYS = {
    "大前": -3, "前": -2, "昨": -1, "今": 0, "当": 0, "明": 1, "后": 2, "大后": 3,
}  # fmt: skip
_RELATIVE_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
_UNITS: dict[str, Unit] = {
    "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day", "周": "week", "星期": "week",
    "礼拜": "week", "月": "month", "年": "year",
}  # fmt: skip
_HOLIDAYS = {
    "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "劳动节": (5, 1), "五一": (5, 1), "儿童节": (6, 1),
    "六一": (6, 1), "教师节": (9, 10), "国庆节": (10, 1), "国庆": (10, 1), "十一": (10, 1), "双十一": (11, 11),
    "平安夜": (12, 24), "圣诞节": (12, 25), "圣诞": (12, 25),
}  # fmt: skip

_NUMBER = r"(?:\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_COUNT = rf"(?<![\d第几点零〇一二两三四五六七八九十.]){_NUMBER}"
_WEEK = r"(?:周|星期|礼拜)"
_WEEKDAY = r"(?P<weekday>[一二三四五六日天])(?![\d个天年月])"
_OFFSET = r"(?P<offset>上上|下下|上|下|这|本)(?:一)?个?"
_HOLIDAY = (
    r"(?P<holiday>双十一|国庆节?|元旦|情人节|妇女节|劳动节|五一|儿童节|六一|教师节"
    r"|十一(?!月|点|个|岁|号|日|年)|平安夜|圣诞节?)"
)
_YEAR_DIGITS = r"(?P<year>(?:19|20)\d\d|[一二][零〇一二三四五六七八九]{3})"
_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月份?"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]"
_OFFSETS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}


def _number(words: str) -> int:
    """一 to 九十九, or digits: "十二" → 12."""
    if words.isdigit() and words.isascii():
        return int(words)
    if "十" in words:
        tens, _, ones = words.partition("十")
        return _DIGITS.get(tens, 1) * 10 + _DIGITS.get(ones, 0)
    return int("".join(str(_DIGITS[w]) for w in words))


def _relative_day(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.days_away(_RELATIVE_DAYS[found["which"]])


def _away(found: Match[str], anchor: Anchor) -> Moment | None:
    direction = -1 if found["side"].endswith("前") else 1
    return anchor.away(direction * _number(found["count"]), _UNITS[found["unit"]])


def _half_year(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.month(-6 if found["side"].endswith("前") else 6)


def _weekday_of_week(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.day(anchor.weekday(_OFFSETS[found["offset"]], _weekday_number(found["weekday"])))


def _weekend(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.day(anchor.weekday(_OFFSETS[found["offset"]], 5))


def _week(found: Match[str], anchor: Anchor) -> Moment:
    return anchor.week(_OFFSETS[found["offset"]])


def _bare_weekday(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.weekday_by_tense(_weekday_number(found["weekday"]))


def _weekday_number(word: str) -> int:
    return 6 if word in "日天" else _DIGITS[word] - 1


def _month(found: Match[str], anchor: Anchor) -> Moment | None:
    moment = anchor.month(_OFFSETS[found["offset"]])
    if not found["day"]:
        return moment
    return anchor.day_in(moment.start.year, moment.start.month, _number(found["day"]))


def _relative_year(found: Match[str], anchor: Anchor) -> Moment | None:
    return _in_year(found, anchor, anchor.today.year + _RELATIVE_YEARS[found["which"]])


def _named_year(found: Match[str], anchor: Anchor) -> Moment | None:
    return _in_year(found, anchor, _number(found["year"]))


def _in_year(found: Match[str], anchor: Anchor, year: int) -> Moment | None:
    if found["holiday"]:
        return anchor.day_in(year, *_HOLIDAYS[found["holiday"]])
    if not found["month"]:
        return anchor.in_year(year)
    month = _number(found["month"])
    return anchor.day_in(year, month, _number(found["day"])) if found["day"] else anchor.in_month(year, month)


def _day_of_year(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.day_of_year(_number(found["month"]), _number(found["day"]))


def _bare_month(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.month_by_tense(_number(found["month"]))


def _day_of_month(found: Match[str], anchor: Anchor) -> Moment | None:
    """A bare 15号: this month's unless the tense says it cannot be."""
    day = valid_date(anchor.today.year, anchor.today.month, _number(found["day"]))
    if day is None or anchor.tense is None or (day > anchor.today) == (anchor.tense == "past"):
        return None
    return anchor.day(day)


def _holiday(found: Match[str], anchor: Anchor) -> Moment | None:
    return anchor.day_of_year(*_HOLIDAYS[found["holiday"]]) if anchor.tense else None


_IN_YEAR = rf"(?:的?(?:{_HOLIDAY}|{_MONTH}(?:{_DAY})?))?"
_READINGS: tuple[tuple[re.Pattern[str], Reading], ...] = tuple(
    (re.compile(pattern), reading)
    for pattern, reading in (
        (r"(?P<which>大前|大后|(?<!大)前|昨|今|明|(?<![大以之])后)(?:天|(?<=[昨今明])[日早晚夜晨]|儿个?(?![子童女科媳歌戏]))(?!空|才|(?<=后天)生(?!日|病)|性)"
         r"(?:早上|上午|中午|下午|晚上|傍晚|凌晨|夜里)?", _relative_day),
        (rf"(?P<count>{_COUNT})个?(?P<unit>分钟|小时|钟头|天|日|周|星期|礼拜|(?<=个)月|年)(?P<side>[之以]?[前后])"
         r"(?![面边者台])", _away),
        (r"半年(?P<side>[之以]?[前后])", _half_year),
        (rf"{_OFFSET}{_WEEK}{_WEEKDAY}", _weekday_of_week),
        (rf"{_OFFSET}周末", _weekend),
        (rf"{_OFFSET}(?:周|星期|礼拜)(?![一二三四五六日天末])", _week),
        (rf"(?P<offset>上上|下下|上|下|这|本)个?月(?:{_DAY})?(?!份?[票球])", _month),
        (rf"(?P<which>大前|前|去|今|明|后)年(?!代|级|龄|轻|纪){_IN_YEAR}", _relative_year),
        (rf"(?<!\d){_YEAR_DIGITS}年{_IN_YEAR}", _named_year),
        (rf"(?<![\d一二三四五六七八九十个]){_MONTH}{_DAY}", _day_of_year),
        (rf"(?<![\d一二三四五六七八九十个]){_MONTH}(?![\d一二三四五六七八九十]|饼|亮)", _bare_month),
        (rf"(?<![\d月第一二三四五六七八九十]){_DAY}(?![楼线店机位院门])", _day_of_month),
        (rf"(?<![上下这本每个]){_WEEK}{_WEEKDAY}", _bare_weekday),
        (rf"(?<![去今明前后年]){_HOLIDAY}", _holiday),
    )
)  # fmt: skip

_NOT_A_DATE_AFTER = re.compile(r"(?:每|每个|每逢|每到)$")

_FUTURE = re.compile(
    r"(?<![重主])要(?![是紧])|(?<![聚机开约晚社宴班展议])会(?![议员场])|将|打算|计划|准备|想(?![起到念法])|得去|预约|约了|约好|订了|定在|安排|截止|之前(?=[得要交])|到期|有(?:个|一[个场次])?(?:面试|考试|约会|手术|航班|聚会|比赛|演出|会议|课)"
)
_PAST = re.compile(r"了(?!解)|过(?![敏程来年])|刚|已经|曾")

CHINESE = TimeWords(_READINGS, _NOT_A_DATE_AFTER, _FUTURE, _PAST)
