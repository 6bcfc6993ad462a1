"""Facts in Chinese that leaves out subjects and verbs, and what must not be taken for one."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from hindsight_common.ports.extraction import ExtractedItem, Message, Turn
from hindsight_extractor.domain.rules import RuleExtractor

AT = datetime.fromisoformat("2026-06-04T09:15:00+08:00")


def items(*messages: tuple[str, str]) -> tuple[ExtractedItem, ...]:
    said = tuple(Message(f"m{i}", role, text) for i, (role, text) in enumerate(messages, 1))
    turn = Turn("default", "u-1", "s-1", "t-1", None, AT, False, AT, "Asia/Shanghai", said)
    return asyncio.run(RuleExtractor().extract(turn)).items


def facts(*messages: tuple[str, str]) -> list[str]:
    return [
        f"{i.subject} {i.predicate}{' not' if i.negated else ''} {i.object}"
        for i in items(*messages)
        if i.type == "fact"
    ]


def said(text: str) -> list[str]:
    return facts(("user", text))


STATED = """
# the speaker, left out
成都人，做前端五年了，最近在学吉他 | user hometown 成都; user job 前端; user learning 吉他
坐标厦门，开民宿的 | user lives_in 厦门; user job 开民宿
坐标苏州，95后，幼师 | user lives_in 苏州; user job 幼师
高血压，每天一片氨氯地平，医生说要少盐 | user has_condition 高血压; user takes_medicine 氨氯地平
今年五十三，在养老院上班 | user age 五十三; user employer 养老院
四十二岁，未婚 | user age 四十二; user marital_status 未婚
在昆明一家花店打工 | user employer 花店
我在惠州一家电子厂上夜班 | user employer 电子厂
从杭州搬到了宁波 | user lives_in 宁波; user lived_in 杭州
祖籍揭阳，马来西亚护照 | user hometown 揭阳; user nationality 马来西亚
粤语会一点，英语还行 | user speaks 粤语; user speaks 英语
母语是维吾尔语 | user speaks 维吾尔语
学法律的，明年考研 | user studies 法律
博士在读，方向是遥感 | user studies 遥感
怀孕五个月了 | user has_condition 怀孕
孕32周 | user has_condition 孕32周
A型血，左撇子 | user blood_type A型血
近视八百度 | user has_condition 近视
去年从阿里离职了，自己创业做跨境电商 | user employer not 阿里; user job 跨境电商
腰伤之后转行做剪辑了 | user job 剪辑
开着一辆二手捷达 | user owns 捷达
# the object first, or nothing but it
不吃香菜，葱也不吃 | user eats not 香菜; user eats not 葱
羊肉我不吃的，膻味受不了 | user eats not 羊肉; user dislikes 膻味
榴莲我真接受不了 | user dislikes 榴莲
香菜是我的最爱 | user likes 香菜
苦瓜是我最讨厌的菜 | user dislikes 苦瓜
奶茶戒了半年了 | user avoids 奶茶
咖啡又喝上了 | user drinks 咖啡
不抽烟不喝酒 | user avoids 烟; user drinks not 酒
白酒不沾，喝黄酒 | user drinks not 白酒; user drinks 黄酒
对青霉素和头孢都过敏 | user allergic_to 青霉素; user allergic_to 头孢
过敏的是芒果不是菠萝 | user allergic_to 芒果; user allergic_to not 菠萝
一吃虾就起疹子 | user allergic_to 虾
乳糖不耐，喝牛奶拉肚子 | user intolerant_to 乳糖
妥妥的猫派 | user likes 猫
跑步只穿亚瑟士 | user prefers 亚瑟士
我的咖啡固定少冰 | user prefers 少冰
报告用表格不要大段文字 | user prefers 表格
手机是小米的，电脑用ThinkPad | user uses 小米; user uses ThinkPad
Notion早就弃了 | user uses not Notion
吉他课停了，改学架子鼓 | user learning not 吉他; user learning 架子鼓
那辆摩托我上周卖了 | user owns not 摩托
家里养了两只布偶 | user has_pet 布偶
我们乐队叫夜航船 | user member_of 夜航船
大伙都喊我，同事们都叫我老鱼 | user called 老鱼
同事都叫我小张 | user called 小张
# third persons, under their own name
老公程序员，对海鲜过敏 | 用户的老公 job 程序员; 用户的老公 allergic_to 海鲜
我爸是退休矿工，尘肺，现在住在大同 | 用户的爸 job 退休矿工; 用户的爸 has_condition 尘肺; 用户的爸 lives_in 大同
儿子七岁，会拉小提琴 | 用户的儿子 age 七; 用户的儿子 plays 小提琴
外婆八十三了，一个人住在衢州乡下 | 用户的外婆 age 八十三; 用户的外婆 lives_in 衢州
我们老板是德国人 | 用户的老板 nationality 德国
同事小周对花粉过敏 | user colleague 小周; 小周 allergic_to 花粉
我妹是护士，在儿童医院上班 | 用户的妹 job 护士; 用户的妹 employer 儿童医院
周末要送女儿去画画，她六岁，哮喘 | 用户的女儿 age 六; 用户的女儿 has_condition 哮喘
女朋友是长沙人，无辣不欢 | 用户的女朋友 hometown 长沙; 用户的女朋友 likes 辣
医生给我换药了，缬沙坦80mg | user takes_medicine 缬沙坦
1）下周出差；2）青霉素过敏 | user allergic_to 青霉素
"""

NOTHING = """
老师，我作业忘带了
医生，高血压能吃柚子吗
邻居家的孩子对花生过敏，住在三楼
客户是上海人，做建材的
那家店不错，在南京路，卖咖啡
他们公司在招程序员，双休
我在医院陪我妈，高血压，吃着药
陪我爸看病去了，糖尿病
今天和前端吵了一架，后端也不爽
这篇文章讲的是高血压，糖尿病这些
帮我查下过敏性鼻炎的药
我想养猫，还没定
昨天喝了咖啡，失眠
今晚不吃饭了
我朋友的女儿六岁，会弹钢琴
隔壁工位的阿伟是山东人
房东说下个月要涨价，在上海
中介说楼上住的是个护士
听说小李离职了，去了杭州
如果我在上海上班就好了
我妹男朋友是医生，北京人
爸妈吵架了，离婚
面试官问我是不是本地人
买了两只螃蟹，死了一只
领导是个海归，德国待过三年
打算学日语
奶茶不喝了，今天喝太多
这周末要去杭州，住三天
同学聚会，有人当了局长，有人开了公司
孩子班主任姓李，教数学
我们小区的保安是河南人
楼下理发店的老板养了两只猫
我对加班过敏
女儿同学的妈妈是护士
明天在上海开会，住全季
我不会开车
五十了还不发货
三十岁生日怎么过
老婆孩子热炕头
电脑是公司的
手机是刚买的
老板固定周一开会
保安一个，保洁两个，今天都没来
三只羊，直播带货
猫送去洗澡了
人在机场，刚落地
我在星巴克写代码
吃了布洛芬，好点了
花粉过敏季又到了
螃蟹过敏的人能吃虾吗
给我妈开了二甲双胍
朋友怀孕了，28周
大家都叫我回去
一只猫跑进来了
打麻将输了两百
快四十了还单身的同事
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [line.split(" | ") for line in STATED.strip().splitlines() if not line.startswith("#")],
)
def test_a_clause_states_of_whom_it_speaks_though_words_are_left_out(text: str, expected: str) -> None:
    assert sorted(said(text)) == sorted(expected.split("; "))


@pytest.mark.parametrize("text", NOTHING.strip().splitlines())
def test_what_is_of_others_of_the_day_or_not_said_is_no_fact(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("好的，您住松江还是青浦？", "青浦", "user lives_in 青浦"),
        ("请问怎么称呼您？", "欧阳澈", "user name 欧阳澈"),
        ("您对什么过敏吗？", "花生和虾", "user allergic_to 花生; user allergic_to 虾"),
        ("有什么忌口吗？", "香菜", "user eats not 香菜"),
        ("您的血型是？", "AB型", "user blood_type AB型"),
    ],
)
def test_a_short_answer_says_what_was_asked(question: str, answer: str, expected: str) -> None:
    assert facts(("assistant", question), ("user", answer)) == expected.split("; ")


@pytest.mark.parametrize("answer", ["不用了", "好的", "都可以", "帮我查一下青浦", "你猜"])
def test_what_answers_nothing_is_no_fact(answer: str) -> None:
    assert facts(("assistant", "您住松江还是青浦？"), ("user", answer)) == []


def test_the_entries_of_a_form_are_read_under_their_headings() -> None:
    assert said("姓名：李雷\n城市：厦门\n过敏：花生") == [
        "user name 李雷",
        "user lives_in 厦门",
        "user allergic_to 花生",
    ]


def test_each_time_that_a_turn_tells_of_has_an_event_of_its_own() -> None:
    told = [
        (i.content, i.valid_from and i.valid_from.date().isoformat())
        for i in items(("user", "昨天钱包在地铁上被偷了，警察局约的周五上午补材料。"))
    ]
    assert told == [("昨天钱包在地铁上被偷了", "2026-06-03"), ("警察局约的周五上午补材料。", "2026-06-05")]


def test_an_event_leaves_out_what_its_facts_say_and_what_says_nothing() -> None:
    kept = [i.content for i in items(("user", "哈哈哈对了，我对芒果过敏，所以芒果季不能进分拣车间啦😂"))]
    assert kept == ["用户对芒果过敏", "芒果季不能进分拣车间"]
