from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_extractor.domain.time_expressions import find_times, resolve

BERLIN = ZoneInfo("Europe/Berlin")
SHANGHAI = ZoneInfo("Asia/Shanghai")
# A Wednesday
AT_BERLIN = datetime(2024, 5, 15, 10, 0, tzinfo=BERLIN)
AT_SHANGHAI = datetime(2024, 5, 15, 10, 0, tzinfo=SHANGHAI)

ENGLISH = """
I signed the lease last Friday. | 2024-05-10 day
I bought milk today. | 2024-05-15 day
We had pizza tonight | 2024-05-15 day
I ran this morning | 2024-05-15 day
I went to a support group yesterday | 2024-05-14 day
Couldn't sleep last night | 2024-05-14 day
She left the day before yesterday | 2024-05-13 day
I fly tomorrow | 2024-05-16 day
The exam is the day after tomorrow | 2024-05-17 day
We met 3 days ago | 2024-05-12 day
We met three days ago | 2024-05-12 day
a day ago it rained | 2024-05-14 day
I moved two weeks ago | 2024-04-29 week
We broke up a couple of weeks ago | 2024-04-29 week
I quit a month ago | 2024-04-01 month
I quit 6 months ago | 2023-11-01 month
I adopted him five years ago | 2019-01-01 year
A year ago I was in Rome | 2023-01-01 year
an hour ago I ate | 2024-05-15 instant
The course starts in two weeks | 2024-05-27 week
See you in 3 days | 2024-05-18 day
I will finish in a month | 2024-06-01 month
The visa expires in 2 years | 2026-01-01 year
two weeks from now we sail | 2024-05-27 week
3 days from today | 2024-05-18 day
I was ill last week | 2024-05-06 week
this week is busy | 2024-05-13 week
We travel next week | 2024-05-20 week
the week before last I was away | 2024-04-29 week
I am off the week after next | 2024-05-27 week
I moved to Berlin last month | 2024-04-01 month
this month I started running | 2024-05-01 month
My lease ends next month | 2024-06-01 month
last year I broke my leg | 2023-01-01 year
I graduate this year | 2024-01-01 year
next year we marry | 2025-01-01 year
last weekend we camped | 2024-05-11 day
this weekend I paint the fence | 2024-05-18 day
next weekend is the wedding | 2024-05-25 day
I met her last Monday | 2024-05-13 day
I met her last Wednesday | 2024-05-08 day
We dined this past Saturday | 2024-05-11 day
this Friday we dance | 2024-05-17 day
this coming Monday I start | 2024-05-20 day
next Tuesday is the audit | 2024-05-21 day
next Friday is fine | 2024-05-24 day
I met her on Monday | 2024-05-13 day
I will see her on Monday | 2024-05-20 day
I have an appointment on Thursday | 2024-05-16 day
I need to pay by Friday | 2024-05-17 day
Tuesday last week I fell | 2024-05-07 day
last week on Tuesday I fell | 2024-05-07 day
Thursday next week we fly | 2024-05-23 day
My start date is June 3, 2024 | 2024-06-03 day
My start date is 3 June 2024 | 2024-06-03 day
Born on the 3rd of June 1990 | 1990-06-03 day
We married on Sept. 9th, 2017 | 2017-09-09 day
The concert is on June 3 | 2024-06-03 day
The concert was on June 3rd | 2023-06-03 day
I will run on 5 March | 2025-03-05 day
We met on May 14th | 2024-05-14 day
I joined in March 2023 | 2023-03-01 month
I joined in March | 2024-03-01 month
I joined in December | 2023-12-01 month
We will move in December | 2024-12-01 month
I'm going to Peru in May | 2024-05-01 month
last October we hiked | 2023-10-01 month
next March we sail | 2025-03-01 month
I finished school in 2019 | 2019-01-01 year
I've lived here since 2015 | 2015-01-01 year
The deadline is 2024-06-30 | 2024-06-30 day
The deadline is 2024/6/30 | 2024-06-30 day
last Christmas I was alone | 2023-12-25 day
We will meet at Christmas | 2024-12-25 day
I was sick on New Year's Eve | 2023-12-31 day
next Halloween I want to be a ghost | 2024-10-31 day
the exam is day after tomorrow | 2024-05-17 day
day before yesterday the boiler died | 2024-05-13 day
the cast comes off in exactly two weeks | 2024-05-29 day
we marry three weeks today | 2024-06-05 day
my father died two weeks ago today | 2024-05-01 day
I quit smoking 2 yrs ago | 2022-01-01 year
we broke up 3 wks back | 2024-04-22 week
She leaves in about two weeks | 2024-05-27 week
I am back in a fortnight | 2024-05-27 week
a fortnight ago I fell | 2024-04-29 week
the parcel arrives on the 20th | 2024-05-20 day
the rent is due on the 3rd | 2024-06-03 day
They fitted it on the 3rd | 2024-05-03 day
I have to hand it in by the 31st | 2024-05-31 day
The kiln gets delivered on the 18th | 2024-05-18 day
the hall moved us to sat the 25th | 2024-05-25 day
on Thursday the 2nd we signed | 2024-05-02 day
the match is on Tuesday, 21st | 2024-05-21 day
the 1st of this month I moved | 2024-05-01 day
I start on the 10th of next month | 2024-06-10 day
your technician came Monday | 2024-05-13 day
I handed in the keys friday | 2024-05-10 day
the flight is thursday, not tuesday | 2024-05-16 day
she stays with us from monday | 2024-05-20 day
starting Tuesday I will work nights | 2024-05-21 day
you can have the signed lease on sunday | 2024-05-19 day
I called them on Monday, so I will wait | 2024-05-13 day
I will see them on Monday, because nobody answered | 2024-05-20 day
They are bought, two seats, 22 June | 2024-06-22 day
I booked a table for 22 June | 2024-06-22 day
They gave me an interview on 3 June | 2024-06-03 day
the deposit is due by the 20th of june | 2024-06-20 day
born 9 jan 1988 | 1988-01-09 day
my surgery was 7 feb | 2024-02-07 day
we met feb 29 | 2024-02-29 day
I bought it in May of 2020 | 2020-05-01 month
I moved here in March last year | 2023-03-01 month
last year in June we married | 2023-06-01 month
next year in June we marry | 2025-06-01 month
I started by early March | 2024-03-01 month
I have lived here since late March | 2024-03-01 month
We built it in the summer of 2019 | 2019-01-01 year
I learned it in winter 2021 | 2021-01-01 year
we had guests on Boxing Day | 2023-12-26 day
We will fly home on xmas eve | 2024-12-24 day
I proposed on Valentine's Day | 2024-02-14 day
On Good Friday we walked | 2024-03-29 day
We visited her at Easter | 2024-03-31 day
Easter Monday was wet | 2024-04-01 day
we will go home for Easter | 2025-04-20 day
We ate at ours on the eve of Lunar New Year and cried | 2024-02-09 day
we will meet at Chinese New Year | 2025-01-29 day
I cooked on Lunar New Year's Eve | 2024-02-09 day
We hiked at the weekend | 2024-05-11 day
I will paint the fence over the weekend | 2024-05-18 day
in March 2027 I turn 40 | 2027-03-01 month
I can't eat it since March | 2024-03-01 month
I have been ill since Sunday | 2024-05-12 day
I retired as of 1 April | 2024-04-01 day
Dinner was yesterday and I leave tomorrow | 2024-05-14 day
I saw the doctor this past Monday | 2024-05-13 day
"""

CHINESE = """
我昨天去了医院 | 2024-05-14 day
昨晚没睡好 | 2024-05-14 day
今天好累 | 2024-05-15 day
今早跑了五公里 | 2024-05-15 day
前天见了她 | 2024-05-13 day
大前天下雨了 | 2024-05-12 day
明天考试 | 2024-05-16 day
明早出发 | 2024-05-16 day
后天回家 | 2024-05-17 day
大后天出差 | 2024-05-18 day
昨天晚上吃了火锅 | 2024-05-14 day
上周三我签了合同 | 2024-05-08 day
上星期五开会了 | 2024-05-10 day
上个礼拜天去爬山 | 2024-05-12 day
下周三有面试 | 2024-05-22 day
下下周一体检 | 2024-05-27 day
上上周五搬家了 | 2024-05-03 day
这周五聚餐 | 2024-05-17 day
本周日加班 | 2024-05-19 day
上周生病了 | 2024-05-06 week
下周出差 | 2024-05-20 week
这个星期很忙 | 2024-05-13 week
上周末去露营了 | 2024-05-11 day
这周末搬家 | 2024-05-18 day
下周末结婚 | 2024-05-25 day
上个月搬到上海 | 2024-04-01 month
这个月开始健身 | 2024-05-01 month
下个月毕业 | 2024-06-01 month
上上个月离职了 | 2024-03-01 month
下个月5号面试 | 2024-06-05 day
上个月二十号领养的 | 2024-04-20 day
去年结婚了 | 2023-01-01 year
前年买了房 | 2022-01-01 year
今年考研 | 2024-01-01 year
明年退休 | 2025-01-01 year
去年国庆去了西藏 | 2023-10-01 day
去年十月换了工作 | 2023-10-01 month
明年3月生孩子 | 2025-03-01 month
去年10月5日 | 2023-10-05 day
三天前见面 | 2024-05-12 day
三天后交稿 | 2024-05-18 day
3天之后交稿 | 2024-05-18 day
两周前感冒了 | 2024-04-29 week
两个星期后手术 | 2024-05-27 week
两个月前入职 | 2024-03-01 month
三个月后预产期 | 2024-08-01 month
十二天后出发 | 2024-05-27 day
五年前毕业 | 2019-01-01 year
十年后退休 | 2034-01-01 year
半年前分手了 | 2023-11-01 month
两小时前吃了药 | 2024-05-15 instant
10月5日要去北京 | 2024-10-05 day
10月5日去过北京 | 2023-10-05 day
六月三号开学 | 2024-06-03 day
2019年毕业 | 2019-01-01 year
2023年3月入职 | 2023-03-01 month
2023年3月8日入职 | 2023-03-08 day
二〇一九年毕业 | 2019-01-01 year
周五要交报告 | 2024-05-17 day
周一见了客户 | 2024-05-13 day
星期四要开会 | 2024-05-16 day
20号要交房租 | 2024-05-20 day
3号交了房租 | 2024-05-03 day
三月去了日本 | 2024-03-01 month
十月要去日本 | 2024-10-01 month
国庆要回老家 | 2024-10-01 day
圣诞节去了芬兰 | 2023-12-25 day
截止日期是2024-06-30 | 2024-06-30 day
上週三去了台北 | 2024-05-08 day
兩個月後回國 | 2024-07-01 month
端午要回外婆家 | 2024-06-10 day
中秋节要值班 | 2024-09-17 day
中秋吃了月饼 | 2023-09-29 day
清明去扫墓了 | 2024-04-04 day
清明回老家 | 2024-04-04 day
去年冬至那天走的 | 2023-12-22 day
前年端午订的婚 | 2022-06-03 day
明年春节要去三亚 | 2025-01-29 day
春节去了哈尔滨 | 2024-02-10 day
除夕在医院过的 | 2024-02-09 day
元宵节吃了汤圆 | 2024-02-24 day
七夕要求婚 | 2024-08-10 day
重阳要陪爷爷爬山 | 2024-10-11 day
母亲节送了花 | 2024-05-12 day
父亲节要回家 | 2024-06-16 day
感恩节要去纽约 | 2024-11-28 day
去年复活节受洗的 | 2023-04-09 day
万圣节要办派对 | 2024-10-31 day
双十一买了洗衣机 | 2023-11-11 day
立夏那天种的瓜 | 2024-05-05 day
去年正月初五开的业 | 2023-01-26 day
今年腊月二十三小年 | 2025-01-22 day
这个月最后一天交房 | 2024-05-31 day
上个月最后一天离的职 | 2024-04-30 day
下月6号换班 | 2024-06-06 day
我妈周五到 | 2024-05-17 day
周四上午复查 | 2024-05-16 day
大使馆约的周一上午 | 2024-05-20 day
顺利的话9月7号我就调去宜宾了 | 2024-09-07 day
跟前台说好了，7月3号那间换成家庭房 | 2024-07-03 day
装修完了，6月20号入住 | 2024-06-20 day
不是十月一号出发 | 2024-10-01 day
上上個禮拜天去的 | 2024-05-05 day
"""

UNDATED = """
I like Fridays
every Friday we play cards
We always meet on Mondays
most Fridays I cook
I went there a few days ago
recently I moved
My birthday is in March
I may go there
two days before my birthday
a week from Friday we leave
in the year of the dragon
She has two weeks of holiday
version 1.2.2024.5 is out
10-5 was the score
in 12 months of training
February 30, 2024
the March wind
the Friday meeting is boring
my Monday blues
it's Tuesday
it is Wednesday
not on Friday
a Saturday job
the 5th floor
his 40th birthday
Christmas is coming
I bought Easter eggs
we hang Christmas lights
Friday week
on Friday week we fly
at Orthodox Easter
one of these days I paint it
some time ago I had it out
between Monday and nothing
I prefer Sundays
the fall of Rome
may be the next one
I march on
每周三打球
周一到周五在汽修学校上课
周二周四上午不接单
星期六和星期天要补课
每年清明都回去扫墓
我女儿上初三
他是初二的学生
过了清明路口右转
合同到七月底
元宵路堵了
下午开会
清明节前后气温回升
每天都跑步
前几天见过她
最近很忙
以前住在上海
十五年级
上天台吹风
今后多联系
明年级组长
第三天才好
三个月饼
周五
后天性近视
我今年轻了不少
2023年2月30日
房间在三号楼
十分钟的路
"""


MOMENTS = st.integers(min_value=86_400, max_value=4_102_444_800).map(
    lambda seconds: datetime.fromtimestamp(seconds, tz=UTC).astimezone(SHANGHAI)
)


def table(lines: str) -> list[tuple[str, str]]:
    return [tuple(part.strip() for part in line.split("|")) for line in lines.strip().splitlines()]  # type: ignore[misc]


@pytest.mark.parametrize(("text", "expected"), table(ENGLISH))
def test_an_english_expression_resolves_against_the_time_of_speaking(text: str, expected: str) -> None:
    mention = resolve(text, AT_BERLIN)
    assert mention
    assert f"{mention.start.date()} {mention.granularity}" == expected
    assert mention.start.tzinfo is BERLIN
    assert text[mention.begin : mention.end] == mention.words


@pytest.mark.parametrize(("text", "expected"), table(CHINESE))
def test_a_chinese_expression_resolves_against_the_time_of_speaking(text: str, expected: str) -> None:
    mention = resolve(text, AT_SHANGHAI)
    assert mention
    assert f"{mention.start.date()} {mention.granularity}" == expected
    assert text[mention.begin : mention.end] == mention.words


@pytest.mark.parametrize("text", UNDATED.strip().splitlines())
def test_what_is_vague_or_recurring_gets_no_date(text: str) -> None:
    assert find_times(text, AT_SHANGHAI) == []


def test_the_day_is_the_speakers_not_that_of_utc() -> None:
    late = datetime(2024, 5, 15, 23, 30, tzinfo=UTC).astimezone(SHANGHAI)
    mention = resolve("昨天", late)
    assert mention
    assert mention.start.isoformat() == "2024-05-15T00:00:00+08:00"


def test_a_day_begins_at_midnight_of_its_own_offset() -> None:
    after_the_change = datetime(2024, 4, 2, 9, 0, tzinfo=BERLIN)
    mention = resolve("I was there last Saturday", after_the_change)
    assert mention
    assert mention.start.isoformat() == "2024-03-30T00:00:00+01:00"


def test_each_time_of_a_sentence_is_found_once() -> None:
    found = find_times("I moved last month and start work on June 3, 2024", AT_BERLIN)
    assert [m.words for m in found] == ["last month", "June 3, 2024"]


def test_a_naive_time_of_speaking_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        resolve("yesterday", datetime(2024, 5, 15))  # noqa: DTZ001 - the naive time is the subject


@given(st.text(), MOMENTS)
def test_any_text_is_read_without_error(text: str, at: datetime) -> None:
    for mention in find_times(text, at):
        assert text[mention.begin : mention.end] == mention.words


@given(
    st.lists(
        st.sampled_from(
            [
                "last",
                "next",
                "上个",
                "下下",
                "月",
                "周",
                "三",
                "十",
                "天",
                "后",
                "ago",
                "in",
                "2",
                "99",
                "years",
                "May",
                "5",
                "号",
                "Friday",
                "年",
            ]
        ),
        max_size=8,
    ),
    MOMENTS,
)
def test_any_mixture_of_time_words_is_read_without_error(words: list[str], at: datetime) -> None:
    find_times(" ".join(words), at)
    find_times("".join(words), at)
