"""How somebody is named who was spoken of before, and how others' words are reported."""

from __future__ import annotations

import re

from hindsight_extractor.domain.rules.word_lists import Language

# "Tomas said he …" is Tomas's own word for it; what somebody said of others is hearsay.
REPORTS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\s+(?:said|says|told\s+(?:me|us)|mentioned|thinks?|claims?|admitted|believes?|feels)\b(?:\s+to\s+me)?"
        r"(?:\s+that)?(?P<self>\s+(?:he|she|they)(?=[\s']))?",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:跟我|告诉我|对我|和我)?(?:说|提到|表示|讲|告诉我|提过|觉得|认为)(?:过|了)?[,:]?"
        r"(?P<self>他们|她们|他|她|自己)?"
    ),
}
# What follows "my sister": " is called Ida", "'s name is Ida"
NAMING: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"(?:'s\s+name)?(?:'s|\s+is|\s+was)(?:\s+(?:called|named))?"
        r"\s+(?P<o>(?-i:[A-Z])[\w'-]*(?:\s+(?-i:[A-Z])[\w'-]*){0,2})\s*(?:$|[,.!]|\s+and\s)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:的)?(?:名字|全名|小名)?(?:叫做|名叫|叫|是叫)(?P<o>[\u4e00-\u9fff·]{1,6}|[A-Z][A-Za-z ]*)(?:了|啦)?$"
    ),
}

# After "I have a dog": "his name is Max", 名字叫短腿
NAMES_IT: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\s*(?:and\s+)?(?:(?:his|her|its|their|the\s+\w+'s)\s+name(?:'s|\s+is)"
        r"|(?:he|she|it)(?:'s|\s+is)\s+(?:called|named)|(?:called|named))\s+(?P<o>(?-i:[A-Z])[\w'-]*)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:它|他|她|这家伙)?(?:的)?(?:名字|小名|大名|全名)?(?:叫做|名叫|叫|是叫)"
        r"(?P<o>[\u4e00-\u9fff·]{1,6}|[A-Z][A-Za-z ]*)(?:了|啦)?$"
    ),
}
