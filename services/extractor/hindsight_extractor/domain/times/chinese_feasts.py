"""The days of the year that Chinese calls by a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import Final

from hindsight_extractor.domain.times.lunar import eve_of_new_year, lunar_date, solar_term
from hindsight_extractor.domain.times.movable import western_easter

DayOfYear = Callable[[int], date | None]

_FIXED: Final[Mapping[str, tuple[int, int]]] = {
    "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "三八节": (3, 8), "植树节": (3, 12),
    "愚人节": (4, 1), "劳动节": (5, 1), "五一": (5, 1), "青年节": (5, 4), "儿童节": (6, 1), "六一": (6, 1),
    "建党节": (7, 1), "建军节": (8, 1), "八一": (8, 1), "教师节": (9, 10), "国庆节": (10, 1),
    "国庆": (10, 1), "十一": (10, 1), "双十节": (10, 10), "万圣节": (10, 31), "万圣夜": (10, 31),
    "双十一": (11, 11), "双11": (11, 11), "双十二": (12, 12), "双12": (12, 12), "618": (6, 18),
    "平安夜": (12, 24), "圣诞节": (12, 25), "圣诞": (12, 25), "跨年夜": (12, 31),
}  # fmt: skip
_LUNAR: Final[Mapping[str, tuple[int, int]]] = {
    "春节": (1, 1), "大年初一": (1, 1), "元宵节": (1, 15), "元宵": (1, 15), "端午节": (5, 5),
    "端午": (5, 5), "七夕": (7, 7), "中元节": (7, 15), "中秋节": (8, 15), "中秋": (8, 15), "重阳节": (9, 9),
    "重阳": (9, 9),
}  # fmt: skip
_SOLAR: Final[Mapping[str, int]] = {
    "春分": 0, "清明节": 15, "清明": 15, "谷雨": 30, "立夏": 45, "夏至": 90, "立秋": 135, "秋分": 180,
    "霜降": 210, "立冬": 225, "冬至": 270, "大寒": 300, "立春": 315, "惊蛰": 345,
}  # fmt: skip


def _fixed(month: int, day: int, year: int) -> date:
    return date(year, month, day)


def _lunar(month: int, day: int, year: int) -> date | None:
    return lunar_date(year, month, day)


def _solar(longitude: int, year: int) -> date:
    return solar_term(year, longitude)


def _nth_weekday(month: int, weekday: int, number: int, year: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))


FEASTS: Final[Mapping[str, DayOfYear]] = {
    **{name: partial(_fixed, *day) for name, day in _FIXED.items()},
    **{name: partial(_lunar, *day) for name, day in _LUNAR.items()},
    **{name: partial(_solar, longitude) for name, longitude in _SOLAR.items()},
    "母亲节": partial(_nth_weekday, 5, 6, 2),
    "父亲节": partial(_nth_weekday, 6, 6, 3),
    "感恩节": partial(_nth_weekday, 11, 3, 4),
    "复活节": western_easter,
}
# They belong to the lunar year that they end: a number of the year says too little
NEW_YEARS_EVES: Final[Mapping[str, DayOfYear]] = dict.fromkeys(
    ("除夕", "大年三十", "年三十", "年三十儿", "大年夜"), eve_of_new_year
)
