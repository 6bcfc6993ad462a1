"""Chinese words for a time. The text is read with simplified characters and half-width digits."""

from __future__ import annotations

import re
from datetime import timedelta
from re import Match

from hindsight_extractor.domain.times.calendar import Anchor, Moment, Reading, TimeWords, Unit, valid_date
from hindsight_extractor.domain.times.chinese_feasts import FEASTS, NEW_YEARS_EVES, DayOfYear
from hindsight_extractor.domain.times.lunar import lunar_date

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

_NUMBER = r"(?:\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_COUNT = rf"(?<![\d第几点零〇一二两三四五六七八九十.]){_NUMBER}"
_WEEK = r"(?:周|星期|礼拜)"
# Of a range or a list of weekdays none is the day: 周一到周五, 周二周四
_WEEKDAY = (
    r"(?P<weekday>[一二三四五六日天])(?![\d个天年月]|[到至~-][五六日天]"
    r"|[、和跟及到至~-]?(?:周|星期|礼拜)[一二三四五六日天])"
)
_OFFSET = r"(?P<offset>上上|下下|上|下|这|本)(?:一)?个?"
_NOT_AFTER_FEAST = r"(?![节月点个岁号日年路镇县区村前后]|[之以][前后来]|期间|假期|长假|档|左右|快乐)"
_HOLIDAY = rf"(?P<holiday>{'|'.join(sorted(FEASTS, key=len, reverse=True))}){_NOT_AFTER_FEAST}"
_EVE = rf"(?P<eve>{'|'.join(sorted(NEW_YEARS_EVES, key=len, reverse=True))})(?:夜|晚上?|那天|当天)?"
_LUNAR_MONTH = r"(?P<lunar>正|腊|农历[一二三四五六七八九十]|农历十[一二])月"
_LUNAR_DAY = (
    r"(?P<day>初[一二三四五六七八九十]|十[一二三四五六七八九]|二十[一二三四五六七八九]?"
    r"|廿[一二三四五六七八九]|三十)"
)
# Not the forms of a school, which have the same names: 上初三, 初二的学生
_AFTER_NEW_YEAR = (
    r"(?<![上读念升在月大从])(?<![儿子她他我女妹弟哥姐孩家娃]是)(?:大年)?(?P<day>初[一二三四五六七八])"
    r"(?![的班中下上毕升年级学生]|家长|十五)"
)
_YEAR_DIGITS = r"(?P<year>(?:19|20)\d\d|[一二][零〇一二三四五六七八九]{3})"
_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月份?"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]"
# How far from the days after New Year they are still called by their number alone, in days
_DAYS_BEFORE, _DAYS_AFTER = 30, 15
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
        feast = FEASTS[found["holiday"]](year)
        return anchor.day(feast) if feast else None
    if found["lunar"]:
        meant = lunar_date(year, *_lunar_month_and_day(found["lunar"], found["lunar_day"]))
        return anchor.day(meant) if meant else None
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
    return _feast(FEASTS[found["holiday"]], anchor)


def _eve(found: Match[str], anchor: Anchor) -> Moment | None:
    return _feast(NEW_YEARS_EVES[found["eve"]], anchor)


def _feast(day_of_year: DayOfYear, anchor: Anchor) -> Moment | None:
    years = range(anchor.today.year - 1, anchor.today.year + 3)
    return anchor.nearest([day for year in years if (day := day_of_year(year))])


def _lunar_day(found: Match[str], anchor: Anchor) -> Moment | None:
    month, day = _lunar_month_and_day(found["lunar"], found["day"])
    return _feast(lambda year: lunar_date(year, month, day), anchor)


def _lunar_month_and_day(month: str, day: str) -> tuple[int, int]:
    """腊, 廿三 → 12, 23."""
    word = month.removeprefix("农历")
    number = {"正": 1, "腊": 12}.get(word) or _number(word)
    return number, _number(day.removeprefix("初").replace("廿", "二十"))


def _day_after_new_year(found: Match[str], anchor: Anchor) -> Moment | None:
    """初三 is a day of the first month where New Year is near; else the third form at school, or any month's third."""
    day = _number(found["day"].removeprefix("初"))
    for year in (anchor.today.year, anchor.today.year + 1):
        meant = lunar_date(year, 1, day)
        if meant and -_DAYS_AFTER <= (meant - anchor.today).days <= _DAYS_BEFORE:
            return anchor.day(meant)
    return None


def _last_day(found: Match[str], anchor: Anchor) -> Moment:
    first = anchor.month(_OFFSETS[found["offset"]] + 1).start
    return anchor.day(first.date() - timedelta(days=1))


_IN_YEAR = (
    rf"(?:的?(?:{_HOLIDAY}|{_LUNAR_MONTH}{_LUNAR_DAY.replace('<day>', '<lunar_day>')}|{_MONTH}(?:{_DAY})?))?"
)
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
        (r"(?P<offset>上|这|本|下)个?月(?:的)?最后一天", _last_day),
        (rf"(?<!年){_EVE}", _eve),
        (rf"{_LUNAR_MONTH}{_LUNAR_DAY}", _lunar_day),
        (_AFTER_NEW_YEAR, _day_after_new_year),
        (rf"{_OFFSET}(?:周|星期|礼拜)(?![一二三四五六日天末])", _week),
        (rf"(?P<offset>上上|下下|上|下|这|本)个?月(?:{_DAY})?(?!份?[票球])", _month),
        (rf"(?P<which>大前|前|去|今|明|后)年(?!代|级|龄|轻|纪){_IN_YEAR}", _relative_year),
        (rf"(?<!\d){_YEAR_DIGITS}年{_IN_YEAR}", _named_year),
        (rf"(?<![\d一二三四五六七八九十个]){_MONTH}{_DAY}", _day_of_year),
        (rf"(?<![\d一二三四五六七八九十个]){_MONTH}(?![\d一二三四五六七八九十]|饼|亮)", _bare_month),
        (rf"(?<![\d月第一二三四五六七八九十]){_DAY}(?![楼线店机位院门])", _day_of_month),
        (rf"(?<![上下这本每个]){_WEEK}{_WEEKDAY}", _bare_weekday),
        (rf"(?<![去今明前后年大小双第十二三四五六七八九\d]){_HOLIDAY}", _holiday),
    )
)  # fmt: skip

_NOT_A_DATE_AFTER = re.compile(
    r"(?:每|每个|每逢|每到|每年|年年|往年|历年|(?:周|星期|礼拜)[一二三四五六日天][、和跟及到至~-]?)$"
)

_FUTURE = re.compile(
    r"(?<![重主])要(?![是紧])|(?<![聚机开约晚社宴班展议])会(?![议员场])|将|打算|计划|准备|想(?![起到念法])|得去|预约|约了|约好|约的|约在|订了|订的|定的|定在"
    r"|改到|推迟到|延期?到|挪到|排在|排的|挂的号?|安排|截止|之前(?=[得要交])|到期|预计|马上就|即将|的话|就要|快要|提醒我"
    r"|有(?:个|一[个场次])?(?:面试|考试|约会|手术|航班|聚会|比赛|演出|会议|课)"
)
_PAST = re.compile(r"了(?!解)|过(?![敏程来年几两])|刚|已经|曾|(?<=[\u4e00-\u9fff])的(?=[离入搬辞出手生走结])")
# What is done at one time, and not yet where nothing says that it was
_COMING = re.compile(
    r"(?:到(?![周星礼现底时处一二三四五六七八九十\d上下这本明后今年月]|晚|深夜)|抵达|出发|启程|动身|起飞|登机|报到|入职|开庭|出院|复查|复诊|复检|交房|体检|面试|手术|答辩|搬家|办婚礼|下船|回国|返程|开学|交稿|盘点|聚餐|换班)"
)
_CLAUSE_ENDS = re.compile(r"[,，。;；!！?？\n…]+|(?=但是|所以|因为|然后)")
# A clause of more than its time can tell its own tense
_OWN_WORDS = re.compile(r"(?:\w[ ]*){5}")

CHINESE = TimeWords(
    _READINGS,
    _NOT_A_DATE_AFTER,
    _FUTURE,
    _PAST,
    coming=_COMING,
    clause_ends=_CLAUSE_ENDS,
    subject=_OWN_WORDS,
)
