"""What shows as a Chinese name, where no space and no capital tells."""

from __future__ import annotations

import re
from functools import cache

from hindsight_extractor.domain.rules.word_lists import alternatives, read_data, words_of

# What may follow a name
AFTER_NAME = (
    r"喜欢|讨厌|爱|不|没|对|住|在|是|有|养|会|说|用|吃|喝|玩|打|弹|踢|搬|来自|出生|从|学|教|的|今年|更|偏|热爱|受不了|毕业|就读|怀孕|结婚"
    r"|买|最|家|报|开|生日|正|常|每|很|特别|非常|也|一直|想|要|去|昨|今|明|上|下|刚|已|告诉|跟|和|给|都|被|叫|比较|真的|超|其实|以前|现在"
    r"|考|当|做|得了|收|发|出|换|辞|跑|走|病|摔|回|进|找|看|写|读|念|拿|送|约|带|让|才|又|还|总|老是|比|因|应该|需要|问|把|终于|马上"
    r"|快|准备|打算|过|生了|到|帮|请|就|可|能|怕|嫌|特|超|巨|第一|长|睡|起|戴|穿|喊|骂|哭|笑|闹|坐|站|参加|申请|入|离|分手|订"
)
_NOT_IN_NAME = (
    "喜欢讨厌爱不没对住在是有养会说用吃喝玩打的了吗呢吧也很就都还要想去来到和跟给把被我你您他她它们这那个些几每"
    "特别非常真超其实现考换辞跑走病摔找看读念拿送约订带让又比因该需问做当得住院差班课钱饭"
)
# An introduced name is freer: 来福, 想想
_NO_CALL = re.compile(
    r"^(?:去|回|来(?![福宝喜财])|做|吃|喝|打|起|给|帮|把|被|不|没|别|就|都)|[我你您他她它们了着过吗呢吧的得]"
)
_NUMBERS = "一二三两"
_TITLES = "先生|女士|小姐|老师|医生|经理|总|教授|叔叔|阿姨|哥|姐"
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_NICKNAME = re.compile(r"[小老阿大].{1,2}|.宝|.{1,2}[儿仔哥姐妹]")
_FOREIGN = re.compile(r"[\u4e00-\u9fff]{1,6}(?:·[\u4e00-\u9fff]{1,6})+")


def name_patterns() -> tuple[str, str]:
    """Regular expressions for a name that shows as one, and for what may be one where a name must stand."""
    surname = alternatives(words_of("zh")["surnames"])
    given = rf"(?![{_NOT_IN_NAME}{_NUMBERS}])[\u4e00-\u9fff]"
    full = rf"(?:{surname}{given}(?:{given})?|{surname}(?:{_TITLES}))"
    short = rf"(?:(?!{alternatives(words_of('zh')['not_names'])})[小老阿]{given}{{1,2}}?)"
    latin = r"[A-Z][A-Za-z]*(?:[\s·]+[A-Z][a-z]+)*"
    # Any two to five characters may be a name where one must stand, as few as will do
    no_adverb = rf"(?!{alternatives((*words_of('zh')['adverbs'], *words_of('zh')['leads']))})"
    any_given = rf"(?![{_NOT_IN_NAME}])[\u4e00-\u9fff]"
    foreign = rf"{no_adverb}{any_given}(?:{given}){{1,4}}?(?:·(?:{given}){{1,5}}?)?"
    return rf"(?:{full}|{short}|{latin})", rf"(?:{latin}|{foreign})"


@cache
def surnamed_pattern() -> str:
    """A regular expression for a name of a family name and a given one."""
    given = rf"(?![{_NOT_IN_NAME}{_NUMBERS}])[\u4e00-\u9fff]"
    return rf"(?:{alternatives(words_of('zh')['surnames'])}{given}{{1,2}})"


@cache
def _characters() -> frozenset[str]:
    return frozenset("".join(_table()["given"].split()))


@cache
def _table() -> dict[str, str]:
    return read_data("names_zh.toml")


@cache
def _words() -> frozenset[str]:
    return frozenset(_table()["words"].split()) | frozenset(words_of("zh")["not_names"])


def is_common_word(text: str) -> bool:
    """True if a text is a word or a time that nobody is called by: 明天, 大学, 身体."""
    return text in _words() or text in words_of("zh")["adverbs"] or text in words_of("zh")["leads"]


def is_pet_form(text: str) -> bool:
    """True if a text is 小, 老 or 阿 before one character and no word: 小尤, but not 小组."""
    return bool(re.fullmatch(r"[小老阿][\u4e00-\u9fff]", text)) and not is_common_word(text)


def may_be_called(text: str) -> bool:
    """True if who "is called" this may bear it as a name: 我女儿叫想想, but not 我女儿叫外卖."""
    return not is_common_word(text) and not _NO_CALL.search(text)


def is_name(text: str) -> bool:
    """True if a text that nothing introduces as a name shows as one, by its characters.

    In 我女儿梓涵开学 it does, in 我女儿幼儿园开学 it does not.
    """
    text = text.strip()
    if not _HAN.fullmatch(text) or _FOREIGN.fullmatch(text):
        return bool(text) and text[0] not in _NOT_IN_NAME
    if text in _table()["pets"].split():
        return True
    if is_common_word(text) or any(sign in _NOT_IN_NAME for sign in text):
        return False
    surname = next((s for s in words_of("zh")["surnames"] if text.startswith(s) and len(text) > len(s)), "")
    rest = text[len(surname) :]
    if re.fullmatch(_TITLES, rest):
        return bool(surname)
    if _NICKNAME.fullmatch(text):
        further = _table()["nicknames"] + "小老阿大儿仔哥姐妹"
        return all(sign in _characters() or sign in further for sign in text)
    return len(text) <= 4 and all(sign in _characters() for sign in rest)
