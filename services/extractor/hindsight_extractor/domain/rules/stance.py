"""How a piece of text is meant: does it tell something, ask, request, suppose, invent, or only greet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from hindsight_extractor.domain.rules.word_lists import Language, alternatives, any_of, words_of
from hindsight_extractor.domain.testimony.invention import doubts
from hindsight_extractor.domain.testimony.orders import asks_in_form

_WORD = re.compile(r"[^\W_]+(?:['_][^\W_]+)*")
_HAN_OR_WORD = re.compile(r"[\u3400-\u9fff]|[A-Za-z0-9]+")
_TAG = re.compile(
    r"^\s*(?:right|correct|okay|ok|no|yes|huh|eh|isn't it|aren't i|don't i|you know"
    r"|对吗|对吧|是吗|是吧|好吗|对不对|是不是|懂吗)\s*[?]*\s*$",
    re.IGNORECASE,
)
_FIRST_PERSON = {
    "en": re.compile(
        r"\b(?:my|our|i'm|i am|i was|i've|i have|i had|i got|i need to|we're|we are"
        r"|i just|i recently|i live|i work|i feel)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"[我俺咱](?:的|们|家|妈|爸|姐|妹|哥|弟|老[婆公]|女|儿|朋|孩|在(?!想)|有(?!没)|是|刚|最近|今天|明天|下|要去|打算)"
    ),
}
_FIRST_PERSON_AT_ALL = {
    "en": re.compile(r"\b(?:i|i'm|im|i've|ive|i'd|i'll|me|my|mine|we|we're|we've|our|us)\b", re.IGNORECASE),
    "zh": re.compile(r"[我俺咱]|本人"),
}
# "Fix was simple", "Plan is to …" name a thing and order nothing
_NO_ORDER = re.compile(r"\s+(?:was|is|are|were|went|has|had|came|took|got)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"\W*(?:(?:and|but|so|or)\s+)?(?:if|whether|unless|in\s+case|suppose|supposing|assuming)\b"
    r"|\W*(?:那|那么)?(?:如果|要是|假如|假设|假使|倘若|万一|若|是否)",
    re.IGNORECASE,
)
_VOCATIVE = {
    "en": re.compile(r"^(?-i:[A-Z])\w+\s*[,!]|,\s*(?-i:[A-Z])\w+(?=\s*[!.?~]*\s*$)"),
    "zh": re.compile(r"[,\s][A-Z][a-z]+\s*(?=[!。~,]|$)|^[A-Z][a-z]+\s*[,!]"),
}
_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|hiya|good\s+(?:morning|afternoon|evening)|morning|evening)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Signs:
    """The compiled signs of one language."""

    tentative: re.Pattern[str]
    supposing: re.Pattern[str]
    fiction: re.Pattern[str]
    asking: re.Pattern[str]
    request: re.Pattern[str]
    remember: re.Pattern[str]
    openers: re.Pattern[str]


@cache
def _signs(language: Language) -> _Signs:
    words = words_of(language)
    shapes = _chinese_shapes() if language == "zh" else _english_shapes()
    return _Signs(
        tentative=any_of(words["tentative"], language),
        supposing=any_of(words["supposing"], language),
        fiction=any_of(words["fiction"], language),
        asking=shapes[0],
        request=shapes[1],
        remember=shapes[2],
        openers=shapes[3],
    )


def _chinese_shapes() -> tuple[re.Pattern[str], ...]:
    words = words_of("zh")
    return (
        re.compile(alternatives(words["question_marks"]) + r"|[?]"),
        re.compile(rf"^\s*{alternatives(words['request_verbs'])}"),
        re.compile(
            rf"^[\s,]*{alternatives(words['remember'])}[\s,:]*(?:一下|一点|一件事|这件事|这一点|着)?[\s,:]*"
        ),
        re.compile(
            rf"^(?:{alternatives(words['openers'])}[呀啊哦呢啦吧]?\s*(?:[A-Z][a-z]+\s*)?[,!。~…\s]+)+",
            re.IGNORECASE,
        ),
    )


_ASIDE = r"(?:(?:and|so|but|or|hey|well|ok|okay|also|then|just|please|now|by\s+the\s+way|btw|oh)[,\s]+)*"
_WH = r"(?:what|where|who|whom|whose|which|why|how|when)"
_AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|shall|have|has|had|am|isn't|aren't|don't|didn't"
    r"|doesn't|won't|wouldn't|couldn't|haven't)"
)
_SOMEONE = (
    r"(?:i|you|u|ya|we|they|he|she|it|there|this|that|these|those|the|a|an|my|your|our|his|her|their|any\w*|some\w*"
    r"|(?-i:[A-Z])\w*)"
)


def _english_shapes() -> tuple[re.Pattern[str], ...]:
    words = words_of("en")
    openers = alternatives(words["openers"])
    return (
        re.compile(
            rf"^\s*{_ASIDE}(?:{_AUXILIARY}\s+{_SOMEONE}\b"
            rf"|{_WH}(?:'s|\s+(?:\w+\s+){{0,3}}?{_AUXILIARY}\b|\s+(?:about|come|kind|many|much|else|to)\b)"
            r"|(?:any|wanna|ever|got\s+any|know\s+any)\b)|[?]",
            re.IGNORECASE,
        ),
        re.compile(rf"^\s*{_ASIDE}{alternatives(words['request_verbs'])}(?!\w)", re.IGNORECASE),
        re.compile(
            rf"^[\s,]*{_ASIDE}{alternatives(words['remember'])}(?![\w'])[\s,:]*(?:this|that)?[\s,:]*",
            re.IGNORECASE,
        ),
        re.compile(
            rf"^(?:{openers}(?:\s+(?-i:[A-Z])\w+|\s+(?:there|everyone|all|guys|again|so\s+much|a\s+lot))?\s*[,!.…~-]+\s*"
            r"|(?:hey|hi|hello|thanks)\s+(?-i:[A-Z])\w+\s+)+",
            re.IGNORECASE,
        ),
    )


def is_tentative(read: str, language: Language) -> bool:
    """True if the speaker is not sure."""
    return bool(_signs(language).tentative.search(read)) or doubts(read)


def supposes(read: str, language: Language) -> bool:
    """True if a clause states what might be, is wished or dreamt."""
    return bool(_signs(language).supposing.search(read))


def is_fiction(read: str, language: Language) -> bool:
    """True if the first person in this text need not be who writes it."""
    return bool(_signs(language).fiction.search(read))


def greets(before: str) -> bool:
    """True if what stands before a clause's own words is a greeting: "Hi, " before "this is Tom"."""
    return bool(_GREETING.match(before))


def asks(clause: str, language: Language) -> bool:
    """True if a clause is a question; "what I hate is …" is none."""
    if language == "en" and _CLEFT.match(clause):
        return False
    return bool(_signs(language).asking.search(clause)) or asks_in_form(clause)


_CLEFT = re.compile(r"\W*what\s+(?:i|we)\s+[^?]*\b(?:is|are|was|were)\b[^?]*$", re.IGNORECASE)


def is_tag(clause: str) -> bool:
    """A clause that asks for assent to the one before: "right?", 对吗？"""
    return bool(_TAG.match(clause))


def requests(read: str, language: Language) -> bool:
    """True if the sentence wants something done by its reader."""
    found = _signs(language).request.match(read)
    return bool(found) and not _NO_ORDER.match(read, found.end() if found else 0)


def asked_to_remember(read: str, language: Language) -> int:
    """The length of the words that ask to keep what follows them; 0 if there are none."""
    found = _signs(language).remember.match(read)
    if found is None or read[found.end() :].lower().startswith("to "):
        return 0
    return found.end()


def opener_length(read: str, language: Language) -> int:
    """The length of greetings and interjections that a sentence begins with."""
    found = _signs(language).openers.match(read)
    return found.end() if found else 0


def speaks_of_oneself(read: str, language: Language) -> bool:
    return bool(_FIRST_PERSON[language].search(read))


def is_condition(clause: str) -> bool:
    """True if a clause begins with "if" or "whether": beside a question it belongs to what is asked."""
    return bool(_CONDITION.match(clause))


def is_of_the_speaker(read: str, language: Language) -> bool:
    """True if the first person stands in a text at all."""
    return bool(_FIRST_PERSON_AT_ALL[language].search(read))


def tells(read: str, language: Language) -> bool:
    """True if a text holds more than greetings, thanks, applause and function words."""
    weight, is_own = content_weight(read, language)
    return weight >= 2 or (is_own and weight >= 1)


def names_something(read: str, language: Language) -> bool:
    """True if a text holds a proper name or a number, those it calls by name left out."""
    bare = _VOCATIVE[language].sub(" ", read)
    return bool(re.search(r"(?<=[a-z,] )[A-Z][a-z]+|\d" if language == "en" else r"[A-Za-z]{2,}|\d", bare))


def content_weight(read: str, language: Language) -> tuple[float, bool]:
    """How many words (in Chinese: pairs of characters) carry something, and whether the first person speaks."""
    bare = _VOCATIVE[language].sub(" ", read)
    if language == "zh":
        rest = _small_talk_zh().sub("", bare)
        weight = sum(
            0.5 if len(found[0]) == 1 and ord(found[0]) > 0x3000 else 1
            for found in _HAN_OR_WORD.finditer(rest)
        )
        return weight, bool(re.search("[我俺咱]", bare)) and "你" not in bare
    words = [found[0].lower() for found in _WORD.finditer(bare)]
    empty = _empty_words_en()
    # "I love your painting" praises; it tells nothing of oneself
    praises = any(word.startswith("you") for word in words) and "my" not in words
    own = not praises and any(word in _OWN_WORDS_EN for word in words)
    return float(
        len({word for word in words if word not in empty and word.removesuffix("'s") not in empty})
    ), own


_OWN_WORDS_EN = frozenset({"i", "i'm", "i've", "i'd", "i'll", "my", "we", "we're", "we've", "our"})


@cache
def _empty_words_en() -> frozenset[str]:
    words = words_of("en")
    return frozenset(words["function_words"]) | frozenset(words["small_talk"])


@cache
def _small_talk_zh() -> re.Pattern[str]:
    words = words_of("zh")
    return re.compile(alternatives((*words["small_talk"], *words["function_words"])), re.IGNORECASE)
