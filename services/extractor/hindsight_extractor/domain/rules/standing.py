"""Does what a clause states still stand: is it of now and for good, or of the past, of today, or of some hours only."""

from __future__ import annotations

import re

from hindsight_common.domain.predicates import predicate as declared
from hindsight_extractor.domain.rules.fact_rules import FactRule
from hindsight_extractor.domain.rules.word_lists import Language
from hindsight_extractor.domain.time_expressions import TimeMention

# True of somebody whenever it was said to have been, or past by its own meaning
_OF_ANY_TIME = frozenset(
    {
        "name", "called", "birthday", "born_in", "hometown", "nationality", "gender", "blood_type", "lived_in",
        "worked_at", "graduated_from", "speaks", "relation", "email", "phone",
    }
)  # fmt: skip
# What one does or is as a rule; a day named beside it makes it that day's
_OF_HABIT = frozenset({"eats", "drinks", "plays", "uses", "has_condition", "takes_medicine", "diet"})
_BEGAN = re.compile(
    r"开始|改|成为|变成|started|became|turned|went|diagnosed|stopped|quit|gave\s+up|确诊|查出|诊断|得了|患了"
)
_LIMITED = frozenset({"eats", "drinks", "plays", "uses"})

_FORMER: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:used\s+to|formerly|previously|back\s+then|in\s+the\s+past|once\s+upon"
        r"|as\s+a\s+(?:kid|child|teen\w*|boy|girl|student)|when\s+i\s+was\s+\w+)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"以前|之前|曾经|曾(?!祖|国|经)|过去(?!的)|小时候|从前|年轻时|年轻的时候|那时候?|那会儿?|当年|当初|原先|原来"
        r"|(?:大学|高中|初中|小学|上学|读书)(?:时候?|的时候)"
    ),
}
# Without it 我想 before a verb is a wish, before 我 it is "I think"
_WISHED: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:almost|nearly|(?:want|wants|hope|hoping|plan|planning|trying|about|going)\s+to)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?<![没感思])想(?![我起到念法])|希望|打算|计划|准备|考虑|差点|差一点|恨不得|渴望|盼着|梦想"
    ),
}
_OVER_SINCE: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"^\W*(?:(?:but|and|though|although|now|these\s+days)\s+)*(?:(?:i|we|he|she|they)\s+)?(?:(?:just|really)\s+)?"
        r"(?:not\s+(?:so\s+much\s+)?(?:any\s?more|now|these\s+days)|no\s+longer\s*$|no\s+more\b"
        r"|(?:don't|dont|doesn't|can't|cant)\s+(?:any\s?more|now|these\s+days)"
        r"|(?:stopped|quit|gave\s+(?:it|that)\s+up|grew\s+out\s+of\s+it)\b(?!\s+\w+ing))",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"^[\s,]*(?:但是|但|不过|可是|可)?(?:现在|如今|后来|这几年|最近|目前)?(?:已经|早就|早|就|都|再也)?"
        r"(?:不了|不(?:再)?(?:喜欢|爱|吃|喝|玩|用|住|做|干|养|打|看|这样|是)了|没有?了|戒了|不再了|戒掉了|不行了)\s*$"
    ),
}
_PUT_RIGHT_BY = re.compile(
    r"(?:\b(?:not|isn't|wasn't|aren't|instead\s+of|rather\s+than|no\s+longer)(?:\s+(?:on|at|in|this|the|for|until))*"
    r"|\b(?:moved|changed|rescheduled|postponed|shifted|pushed|switched|brought\s+forward)\s+(?:it\s+)?from"
    r"|不是|并非|而不是|不在|原定(?:在|是|于)?|原本(?:是|在|定在)?|本来(?:是|在|定在)?|原来(?:是|在|定在)?)\s*$",
    re.IGNORECASE,
)
_GIVES_WAY = re.compile(
    r"\s*(?:\w+\s+){0,2}?(?:was\s+|got\s+|is\s+|has\s+been\s+)?(?:moved|changed|rescheduled|postponed|shifted|pushed)\s+to\b"
    r"|[的那]{0,2}.{0,4}?(?:改|推迟|延|提前|挪|换|顺延)(?:到|成|为|在)",
    re.IGNORECASE,
)
_RESTRICTED: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"^[\s,]*(?:(?:right|just|even)\s+)?(?:after|before|at|on|in\s+(?:the|my)|when\w*|while|during|without|past|until"
        r"|unless|much|often|every|that\s+(?:much|often)|very\s+(?:much|often)|a\s+lot|as\s+much|too|straight|alone"
        r"|by\s+(?:my|him|her)self|from)\b(?!\s+all\b)",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"^(?:的时候|之前|之后|以前|以后)"),
}


def is_put_right(read: str, mention: TimeMention, following: TimeMention | None) -> bool:
    """True if a time is named as what does not hold: "not on Tuesday", 原定周二; or gives way to the one that follows:
    周二改到周四.
    """
    if _PUT_RIGHT_BY.search(read[max(0, mention.begin - 24) : mention.begin]):
        return True
    return following is not None and bool(_GIVES_WAY.match(read, mention.end, following.begin))


def was_only(rule: FactRule, before: str, language: Language) -> bool:
    """True if the words before the object put into the past what the rule would state of now."""
    if (
        rule.over
        or rule.begins
        or rule.predicate in _OF_ANY_TIME
        or declared(rule.predicate).relation == "KNOWS"
    ):
        return False
    return bool(_FORMER[language].search(before))


def is_wished(before: str, language: Language) -> bool:
    """True if the words before the object speak of what is wanted, planned or nearly came true."""
    return bool(_WISHED[language].search(before))


def is_over_since(clause: str, language: Language) -> bool:
    """True if a clause ends what the one before it told: "… but not anymore", 现在不了."""
    return bool(_OVER_SINCE[language].search(clause))


def is_of_the_day(rule: FactRule, before: str, mention: TimeMention | None) -> bool:
    """True if a habit or state is stated of one day: "no wine for me tonight" says nothing of tomorrow."""
    if rule.predicate not in _OF_HABIT or mention is None or _BEGAN.search(before):
        return False
    return mention.granularity in ("instant", "day")


def is_restricted(name: str, after: str, language: Language) -> bool:
    """True if a denial holds under a condition only: "never drink coffee after noon"."""
    return name in _LIMITED and bool(_RESTRICTED[language].match(after))
