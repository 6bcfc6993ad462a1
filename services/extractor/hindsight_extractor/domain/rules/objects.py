"""What a fact is about, cut out of the words that follow the verb."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hindsight_common.domain.text import fold_text
from hindsight_extractor.domain.rules import chinese_names, english_objects
from hindsight_extractor.domain.rules.english_objects import EMOJI
from hindsight_extractor.domain.rules.fact_rules import FactRule
from hindsight_extractor.domain.rules.kinds import amount_length, kind
from hindsight_extractor.domain.rules.places import is_known_place
from hindsight_extractor.domain.rules.prose import HIDDEN
from hindsight_extractor.domain.rules.word_lists import Language, words_of

Span = tuple[int, int]

_CUT_ZH = re.compile(
    rf"[,;:!?。()…~{EMOJI}{HIDDEN}]|因为|所以|但是|但(?!丁)|不过(?![敏去来问关])|而且|的时候|之后|以后|之前|已经|一直|快(?=.*年)|有(?=.{{1,3}}年)|都(?=.{{1,3}}年)|(?<=.)[却就]?(?:不喜欢|不爱|不吃|不喝|讨厌)"
)
_DURATION_ZH = re.compile(
    r"(?:快|都|已经|有|将近|差不多)*[一二两三四五六七八九十几半\d]+个?多?(?:年|个?月|天|周|星期|礼拜)(?:多|半)?了?$"
)
_TAIL_ZH = re.compile(r"(?:了|啊|呢|吧|哦|呀|啦|嘛|哈|呗|喔|的事|这件事|什么的|之类的|等等|等)+$")
_BAD_ZH = re.compile(
    r"^(?:你|您|他|她|它|这|那|哪|自己|一切|大家|我|的|得|着|是|一样|听你|看到|不|了|就|都|也|很|太|在|到|去|和|跟|把|过(?!山车|年|生日)|想"
    r"|说|上(?!海|饶|虞|班|网)|多|有|没|像|点|啥|事|人$)|什么|怎么|你|谁|吗"
)
_LIST_ZH = re.compile(r"\s*(?:、|,|以及|还有|或者?|跟|和(?!牛|服|平|谐|田)|与|及(?=.))\s*")
_NO_PLACE_ZH = re.compile(
    r"^(?:家|这|那|公司|宿舍|学校|一起|外面|附近|医院|酒店|里|楼|父母|朋友|我|一个|一栋|一间|一套|新|哪|老家|国外|城里|乡下|隔壁|别)"
)
_FLOOR = re.compile(
    r"^(?:第?[\d一二三四五六七八九十]+[楼层号]|.{0,4}[部组队科室处]$)|(?:酒店|宾馆|旅馆|民宿|医院|公司|宿舍|学校|家里?|隔壁)$"
)
_NO_EMPLOYER_ZH = re.compile(
    r"^(?:家|这|那|外面|外地|国外|哪|老家|一起|我|认真|努力|拼命|图书馆|教室|咖啡|宿舍|网上|线上|路上|办公室|周末|晚上|白天)"
)


_NAMING = frozenset({"name", "called", "relation", "has_pet"})
# An address that the table of places need not know
_BEFORE_MAKER = re.compile(
    r"^(?:(?:an?|the|my|our|two|new|used|second-?hand|old|red|blue|black|white|silver|grey|gray|green|\d{4})\s+)+"
    r"|^(?:一?[台部辆个只架]|新|二手|旧)*的?"
)
_ADMINISTRATIVE = re.compile(
    r"^(?!小区|社区|校区|这|那|哪|本|外|郊区|市区|县城|镇上|村里)[\u4e00-\u9fff]{1,5}?(?:省|市|州|县|区|镇|乡|村|街道?|大道|路|花园|新城|苑)"
)


def objects_of(rule: FactRule, said: str, language: Language) -> Iterator[Span]:
    """Where in the words after the verb the objects stand, each fit for the rule; none if the first is not."""
    kept_whole = language == "en" and english_objects.stays_whole(said)
    parts = _parts(said, language) if rule.many and not kept_whole else [(0, len(said))]
    for number, (begin, end) in enumerate(parts):
        span = _trimmed(said, begin, end, rule, language)
        if span is None or (number and _is_too_long(said[slice(*span)], language)):
            return
        yield span
        # What was cut off ends a list: "tea, coffee because I …" does not go on.
        if span[1] < end and said[span[1] : end].strip(" .!?。,"):
            return


def has_ended(said: str, language: Language) -> bool:
    """True if the words after the verb say that it is so no more: "… anymore", 不…了."""
    if language == "en":
        return english_objects.has_ended(said)
    return bool(re.search(r"了[。!,~\s]*$|了(?=[,;。])", said))


def _parts(said: str, language: Language) -> list[Span]:
    spans = []
    begin = 0
    for found in english_objects.listed(said) if language == "en" else _LIST_ZH.finditer(said):
        if found.start() > begin:
            spans.append((begin, found.start()))
        begin = found.end()
    return [*spans, (begin, len(said))] if begin < len(said) else spans


def _is_too_long(part: str, language: Language) -> bool:
    return len(part.split()) > 3 if language == "en" else len(part) > 8


def _trimmed(said: str, begin: int, end: int, rule: FactRule, language: Language) -> Span | None:
    text = said[begin:end]
    if language == "en":
        text = english_objects.cut(text, rule)
    elif not rule.dates:
        end_of_it = _CUT_ZH.search(text)
        text = _DURATION_ZH.sub("", (text[: end_of_it.start()] if end_of_it else text).rstrip())
    text = _TAIL_ZH.sub("", text.rstrip()) if language == "zh" else text
    text = text.rstrip(" .,!?;:。、~'\"")
    lead = len(text) - len(text.lstrip(" '\""))
    if language == "en":
        if rule.bare or (rule.only and not is_listed(text, rule.only, language)):
            text = english_objects.without_what_follows(text)
        lead = english_objects.own_length(text) or lead
    if rule.exact and rule.only:
        lead = max(lead, len(text) - _listed_length(text, rule.only, language))
    if rule.kind and fold_text(text[lead:]) not in kind(rule.kind).words:
        lead = max(lead, amount_length(text))
    kept = text[lead:]
    return (begin + lead, begin + len(text)) if is_fit(rule, kept, language) else None


def is_fit(rule: FactRule, text: str, language: Language) -> bool:
    """True if the rule may have this object."""
    if not any(sign.isalnum() for sign in text) or HIDDEN in text:
        return False
    if rule.only is not None and not is_listed(text, rule.only, language) and not _is_made_by(text, rule):
        return False
    if rule.kind is not None and not kind(rule.kind).holds(text):
        return False
    if rule.unlike is not None and text in kind(rule.unlike).words:
        return False
    if rule.digits and not re.search(r"\d", text) and not _names_a_month(text):
        return False
    return english_objects.fits(rule, text) if language == "en" else _fits_chinese(rule, text)


def _fits_chinese(rule: FactRule, text: str) -> bool:
    if rule.kind is not None:
        return True
    if len(text) > rule.length or _BAD_ZH.search(text):
        return False
    if rule.predicate in _NAMING and rule.only is None:
        return _fits_as_name(rule, text)
    if rule.place:
        return _fits_as_place(rule, text)
    return not rule.employer or not (_NO_EMPLOYER_ZH.match(text) or is_known_place(text))


def _fits_as_name(rule: FactRule, text: str) -> bool:
    is_job = rule.predicate == "name" and text.endswith(words_of("zh").kinds["job"])
    return chinese_names.may_be_called(text) and not is_job


def _fits_as_place(rule: FactRule, text: str) -> bool:
    if _NO_PLACE_ZH.match(text) or _FLOOR.search(text):
        return False
    return not rule.known or is_known_place(text) or bool(_ADMINISTRATIVE.match(text))


def _is_made_by(text: str, rule: FactRule) -> bool:
    """True if a text is an article of one of the rule's makers: "a Honda Civic", 一台二手的ThinkPad."""
    bare = _BEFORE_MAKER.sub("", fold_text(text))
    maker = next((m for m in rule.made_by or () if bare.startswith(m)), None)
    return maker is not None and not re.match(
        r"['’]|\w+'s|.*的|股|公司|\s+(?:problem|question|dealer)", bare[len(maker) :]
    )


def _names_a_month(text: str) -> bool:
    return bool(re.search(r"月|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", text, re.IGNORECASE))


def _listed_length(text: str, only: frozenset[str], language: Language) -> int:
    """How much of the end of the text the longest word of the list takes; all of it if none does."""
    starts = (
        range(len(text)) if language == "zh" else [0, *(i + 1 for i, sign in enumerate(text) if sign == " ")]
    )
    return next((len(text) - i for i in starts if fold_text(text[i:]) in only), len(text))


def is_listed(text: str, only: frozenset[str], language: Language) -> bool:
    """True if a text ends with a word of a closed list, in English in any number."""
    folded = fold_text(text)
    if language == "zh":
        return any(folded.endswith(word) for word in only)
    words = folded.split()
    endings = (" ".join(words[-count:]) for count in range(1, min(4, len(words)) + 1))
    return any(
        ending in only or ending.removesuffix("s") in only or ending.removesuffix("es") in only
        for ending in endings
    )
