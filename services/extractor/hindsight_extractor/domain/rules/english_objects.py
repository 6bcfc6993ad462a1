"""English objects: where they end, what is said beside them, and what cannot be one."""

from __future__ import annotations

import re
from functools import cache

from hindsight_common.domain.predicates import object_kind
from hindsight_extractor.domain.rules.fact_rules import FactRule
from hindsight_extractor.domain.rules.places import is_known_place
from hindsight_extractor.domain.rules.subjects import looks_like_name
from hindsight_extractor.domain.rules.word_lists import alternatives, given_names, words_of

EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_LOOSE_END = re.compile(r"(?:\s+(?:for|to|at|in|on|with|and|or|of|by|from|about))+$", re.IGNORECASE)
_CUT = re.compile(
    rf"\s*(?:[;:!?()\[\]…~{EMOJI}]|\.(?=\s|$)|\s[-–—]\s"
    r"|\s(?:because|since|when|whenever|while|if|but|so|and\s+(?:i|we|he|she|it|they|my|that)|which|that|who|where|although|though"
    r"|even|especially|particularly|too|as\s+well|a\s+lot|very\s+much|so\s+much|to\s+death|to\s+bits|anymore|any\s?more|any\s+longer"
    r"|these\s+days|nowadays|right\s+now|now|at\s+the\s+moment|at\s+all|currently|for\s+(?:a|an|about|almost|over|nearly|many|several"
    r"|\d+|one|two|three|four|five|six|seven|eight|nine|ten|years|months|my|our|fun|dinner|lunch|breakfast)|with\s+(?:my|our|his|her|the|a)"
    r"|every\w*|in\s+the\s+(?:morning|afternoon|evening|summer|winter|past)|on\s+(?:weekends?|\w+days)|more\s+than|over|before|after"
    r"|until|lately|recently|again|already|the\s+most|best|than|instead|either|anyway|by\s+the\s+way|btw|please|to\s+be\s+honest"
    r"|just|ever|since|originally|as\s+(?:an?|the|my|our)|esp|lol|haha|tbh|imo|rn|ngl|smh|pls|plz|thx|i\.e|e\.g)\b)",
    re.IGNORECASE,
)
_ENDED = re.compile(r"\b(?:any\s?more|any\s+longer)\b", re.IGNORECASE)
_BAD = re.compile(
    r"^(?:to$|it|its|it's|that|this|these|those|them|him|her|you|your|us|me|how|when|what|where|who|why|to\s+(?:be|hear|see|know|get|have|say|help|do|go)"
    r"|the\s+(?:idea|way|fact|thought|sound|look|vibe|energy|feeling|best|most|same|other)|everything|anything|nothing|something|all"
    r"|being|seeing|hearing|talking|spending|having|getting|knowing|keeping|feeling|trying|looking|everywhere|anywhere|somewhere|people|things|stuff|sometimes|most|one|some|both|mine|yours|each|his|their|much|more|about|as|at|of|on|in|with|up|like|really|so|such|etc|esp|out|well|less|home|twice|once|away|around|properly|quickly"
    r"|very|too|going|always|never|not|just|there|here|doing|making\s+a|any|hard(?!\s+of\s+hearing)|late|alone|together|am|is|are|was|do|did)\b"
    r"|\b(?:i|me|you|your|you're|we|us|he|she|they|them|him)\b",
    re.IGNORECASE,
)
_COUNTED = frozenset({"age", "has_children", "phone", "birthday"})
_IS_AN_AMOUNT = re.compile(
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|several|plenty|tons|lots|a\s+(?:lot|ton|bit|few|couple|little))(?:\s+of\b.*)?$",
    re.IGNORECASE,
)
# "I love the colors": those of what somebody has just shown
_IS_ONE_AT_HAND = re.compile(r"the\s+(?-i:[a-z])|(?:new|other|same|whole|entire|following)\b", re.IGNORECASE)
_LIST = re.compile(r"\s*,\s*(?:and|or)\s+|\s*,\s*|\s+(?:and|or|nor|&)\s+|\s*&\s*", re.IGNORECASE)
# "a safe, inviting place": the first of several adjectives is no thing
_LACKS_ITS_NOUN = re.compile(
    r"\b(?:an?|some)\s+(?:\w+(?:able|ible|ful|ous)|safe|big|small|new|old|good|nice|warm|cold|dark|calm|quiet|co[sz]y|fun|healthy|happy)$",
    re.IGNORECASE,
)
# Without it commas set apart what is said beside: "can't have gluten, coeliac"
_AND = re.compile(r"\b(?:and|or|nor)\b|&", re.IGNORECASE)
_TOGETHER = re.compile(
    r"\b(?:rock\s+(?:and|&)\s+roll|mac\s+and\s+cheese|fish\s+and\s+chips|arts\s+and\s+crafts|peanut\s+butter\s+and\s+jelly"
    r"|dungeons\s+and\s+dragons|r\s*&\s*b|d\s*&\s*d|black\s+and\s+white|bed\s+and\s+breakfast)\b",
    re.IGNORECASE,
)
# "Porto Alegre where …", "the Isle of Man", "Springfield, Ohio": the words that are the name
_PLACE = re.compile(
    r"\s*(?:(?:the|downtown|central|north|south|east|west|northern|southern|eastern|western|rural)\s+)*(?-i:[A-ZÀ-ÖØ-ÞŁŚŻČŠŽĐİ][\w'’.-]*)"
    r"(?:(?:,\s*|\s+(?:(?:de|da|do|del|di|la|las|le|les|el|of|the|am|an\s+der|upon|on|sur|und|and|by|bei)\s+){0,2})"
    r"(?-i:[A-ZÀ-ÖØ-ÞŁŚŻČŠŽĐİ][\w'’.-]*))*",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(
    r"^(?:a|an|my|our|his|her|their|this|that|such|one|some|it|there|here|another|fear|peace|harmony|constant|different|apartment|apt|room|unit|flat|suite|building|floor)\b",
    re.IGNORECASE,
)
# "my name's required", "my name is wrong" name nobody
_NO_NAME = re.compile(
    r"(?:ed|ing|ly|ant|ent)$|^(?:wrong|correct|private|secret|public|long|short|weird|different|unique|common|too|very|hard)\b",
    re.IGNORECASE,
)
# What stands behind a thing without being part of its name
_BEHIND = re.compile(
    r"\s+(?:at|for|in|with|from|who|to|on|by|of|and|near|above|below|behind|outside|under|next)\s",
    re.IGNORECASE,
)
_OWN = re.compile(r"\s*(?:my|our|(?:a\s+lot|lots|a\s+ton|tons|plenty)\s+of)\s+", re.IGNORECASE)


def stays_whole(said: str) -> bool:
    """True if what looks like a list is one thing ("fish and chips"), or its commas set apart what is said beside."""
    return bool(_TOGETHER.search(said) or not _AND.search(said))


def listed(said: str) -> list[re.Match[str]]:
    """What stands between the things of a list."""
    return list(_LIST.finditer(said))


def has_ended(said: str) -> bool:
    """True if the words after the verb say that it is so no more: "… anymore"."""
    return bool(_ENDED.search(said))


def cut(text: str, rule: FactRule) -> str:
    """The text up to where the object ends, if that can be told without knowing what it is."""
    end = None if rule.dates else _CUT.search(text)
    if end:
        text = _LOOSE_END.sub("", text[: end.start()])
    if not rule.commas and not rule.place and not rule.dates:
        text = text.split(",", maxsplit=1)[0]
    text = _tags().sub("", text)
    if rule.place:
        named = _PLACE.match(text)
        text = named[0] if named else text
        text = re.split(r"\s+(?:and|with|near)\s+(?=[a-z])|,\s+(?=[a-z])", text, maxsplit=1)[0]
    return text


def without_what_follows(text: str) -> str:
    """The thing alone: "two flats" of "two flats above a shop"."""
    return _BEHIND.split(text, maxsplit=1)[0]


def own_length(text: str) -> int:
    """How much of the beginning says whose or how much: 3 in "my garden"."""
    found = _OWN.match(text)
    return found.end() if found else 0


@cache
def _tags() -> re.Pattern[str]:
    """What the end of a clause may hold beside the object: "halal only btw"."""
    return re.compile(rf"(?:[\s,]+{alternatives(words_of('en')['tags'])}(?![\w'-]))+\s*$", re.IGNORECASE)


def fits(rule: FactRule, text: str) -> bool:
    """True if the rule may have this object, as far as its words tell."""
    if len(text.split()) > rule.words or _is_no_object(rule, text):
        return False
    if rule.predicate in ("name", "called"):
        return _fits_as_name(rule, text)
    if rule.place:
        return not _NO_PLACE.match(text) and (_starts_high(text) or is_known_place(text))
    if rule.proper:
        return _starts_high(text) or bool(re.match(r"(?:an?|the)\s+\w+(?:\s+\w+){0,3}$", text, re.IGNORECASE))
    return rule.predicate != "address" or _starts_high(text)


def _is_no_object(rule: FactRule, text: str) -> bool:
    """True for what is no thing by itself: half a quotation, a number, a pronoun, an adjective."""
    return bool(
        text.count('"') % 2
        or _LACKS_ITS_NOUN.search(text)
        or (rule.predicate not in _COUNTED and _IS_AN_AMOUNT.match(text))
        or (rule.taste and _IS_ONE_AT_HAND.match(text))
        or (not rule.commas and not rule.dates and _BAD.search(text))
    )


def _fits_as_name(rule: FactRule, text: str) -> bool:
    if rule.given:
        return text.split(maxsplit=1)[0].lower() in given_names() and object_kind(text) is None
    if rule.opening or rule.greeted:
        return looks_like_name(text) and object_kind(text) is None
    if text[:1].islower():
        return not _NO_NAME.search(text)
    return rule.predicate == "name" or looks_like_name(text)


def _starts_high(text: str) -> bool:
    bare = re.sub(
        r"^(?:the|downtown|central|north|south|east|west|northern|southern)\s+", "", text, flags=re.IGNORECASE
    )
    return bool(bare) and (bare[0].isupper() or bare[0].isdigit() or ord(bare[0]) > 0x2E80)
