"""The fact rules of a language, read from `data/facts_<language>.toml` and compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import count
from typing import Any

from hindsight_common.domain.text import fold_text
from hindsight_extractor.domain.rules.chinese_names import surnamed_pattern
from hindsight_extractor.domain.rules.kinds import words_of_kinds
from hindsight_extractor.domain.rules.subjects import name_patterns
from hindsight_extractor.domain.rules.word_lists import Language, alternatives, read_data, words_of


@dataclass(frozen=True, slots=True)
class FactRule:
    """One way to say a fact; the fields are explained at the head of the data file."""

    predicate: str
    match: re.Pattern[str]
    says: str
    negative: str | None = None
    ended: str | None = None
    contrary: str | None = None
    only: frozenset[str] | None = None
    role_only: frozenset[str] | None = None
    made_by: frozenset[str] | None = None
    whole: bool = False
    place: bool = False
    known: bool = False
    proper: bool = False
    employer: bool = False
    many: bool = False
    exact: bool = False
    taste: bool = False
    begins: bool = False
    over: bool = False
    opening: bool = False
    greeted: bool = False
    bare: bool = False
    dates: bool = False
    digits: bool = False
    commas: bool = False
    only_negated: bool = False
    kind: str | None = None
    unlike: str | None = None
    own: bool = False
    company: bool = False
    undated: bool = False
    given: bool = False
    words: int = 6
    length: int = 14
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class FactRules:
    """The rules of a language by where they begin: at the clause itself, or after its subject.

    `any_whole` and `any_led` match wherever one of those rules does; dated rules read a clause with its times
    left in and are told by `any_dated`, which finds one of their words.
    """

    whole: tuple[FactRule, ...]
    led: tuple[FactRule, ...]
    any_whole: re.Pattern[str]
    any_led: re.Pattern[str]
    any_dated: re.Pattern[str]

    def first(self, predicate: str) -> FactRule:
        return next(rule for rule in self.led if rule.predicate == predicate)


@cache
def fact_rules(language: Language) -> FactRules:
    """Every rule of the language, in the order of its file."""
    forms = _forms(language)
    rows = [row for name in _FILES[language] for row in read_data(name)["rule"]]
    rules = [_compiled(row, forms, language) for row in rows]
    whole = tuple(rule for rule in rules if rule.whole)
    led = tuple(rule for rule in rules if not rule.whole)
    return FactRules(
        whole=whole,
        led=led,
        any_whole=_union(whole),
        any_led=_union([rule for rule in led if not rule.dates]),
        any_dated=re.compile(r"生|岁|今年|孕|\b(?:born|birthday)\b", re.IGNORECASE),
    )


_FILES: Mapping[Language, tuple[str, ...]] = {
    "en": ("facts_en.toml", "facts_en_terse.toml"),
    "zh": ("facts_zh.toml", "facts_zh_terse.toml"),
}


def _union(rules: Sequence[FactRule]) -> re.Pattern[str]:
    bare = (re.sub(r"\(\?P<\w+>", "(?:", rule.match.pattern) for rule in rules)
    return re.compile("|".join(f"(?:{pattern})" for pattern in bare), re.IGNORECASE)


def compiled_pattern(match: str, language: Language) -> re.Pattern[str]:
    """A regular expression as data files write it: names of lists in angle brackets, any white space for a space."""
    return _pattern(match, _forms(language), language)


def _pattern(match: str, forms: Mapping[str, str], language: Language) -> re.Pattern[str]:
    pattern = _PLACEHOLDER.sub(lambda found: forms[found[1]], match)
    numbers = count(1)
    pattern = re.sub(r"\(\?P<neg>", lambda _: f"(?P<neg{next(numbers)}>", pattern)
    if language == "en":
        pattern = pattern.replace(" ?", r"\s*").replace(" ", r"\s+")
        # typed in haste: im, ive, dont
        for typed in ("n't", "'m", "'ve"):
            pattern = pattern.replace(typed, typed.replace("'", "'?"))
    return re.compile(pattern, re.IGNORECASE)


def _compiled(row: Mapping[str, Any], forms: Mapping[str, str], language: Language) -> FactRule:
    values = {key: value for key, value in row.items() if key in _FIELDS}
    values["match"] = _pattern(str(row["match"]), forms, language)
    values["negative"] = row.get("not")
    for closed in ("only", "role_only", "made_by"):
        if closed in row:
            known = {**words_of_kinds(), **words_of(language).kinds}
            values[closed] = frozenset(fold_text(word) for word in known[row[closed]])
    return FactRule(**values)


_HOW_LONG_ZH = (
    r"(?:(?:都|已经|快|有|差不多|将近|大概|也|第)*(?:[一二两三四五六七八九十几半]+|\d+)(?:来|多|几)?个?(?:年|月|天|周|星期|礼拜)"
    r"(?:多|半|整)?(?:了)?)"
)
_MONTH_EN = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE_EN = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH_EN}(?:,?\s+\d{{4}})?|{_MONTH_EN}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?"
    r"|\d{4}-\d\d?-\d\d?|\d{1,2}[/.]\d{1,2}[/.]\d{4})"
)

# `<o>`, but not the name of a group: `(?P<o>`
_PLACEHOLDER = re.compile(r"(?<!\?P)<(\w+)>")
_FIELDS = frozenset(field.name for field in fields(FactRule))


@cache
def _forms(language: Language) -> dict[str, str]:
    words = words_of(language)
    shown, possible = name_patterns(language)
    adverb = alternatives(words["adverbs"])
    common = {"rel": alternatives(words.relations)}
    for kind, members in words.kinds.items():
        common[kind] = alternatives(members)
    if language == "zh":
        common |= {name: alternatives(members) for name, members in words_of_kinds().items()}
        return common | {
            "for": _HOW_LONG_ZH,
            "one": r"(?:一?[名个位枚])?",
            "fin": r"(?:了|的|啦|呀|啊|呢|哦|喔|哈|嘛|哒|捏|已经)*",
            "number": r"(?:\d{1,3}|[一二三四五六七八九]?十[一二三四五六七八九几]?|[一二三四五六七八九两])",
            "adv": rf"(?:{adverb})*",
            "not": r"(?P<neg>不再|再也不|再也没|不太|不怎么|不是很|从来不|从不|不会|不|没有|没)?",
            "not2": r"(?P<neg>不再|不太|不怎么|不|没有|没|并不)?",
            "name": possible,
            "shown": shown,
            "fullname": surnamed_pattern(),
            "o": r"(?P<o>.+)",
        }
    return common | {
        "adv": rf"(?: (?:{adverb}))*",
        "first_adv": rf"(?:(?:{adverb}) )*",
        "end": rf"(?:[\s,]+{alternatives(words['tags'])}(?![\w']))*(?=[^\w'-]*$|\s*[,;(])",
        "date": _DATE_EN,
        "drug": r"(?!april\b|cholesterol\b|magazine\b|mongrel\b|cocaine\b)"
        rf"[a-z]{{2,}}{alternatives(words['drug_stems'])}",
        "be": r"(?:'m|'re|'s| am| are| is)",
        "not": r"(?P<neg>n't| not| no longer| never)?",
        "dont": (
            r"(?:'ve| have| has| used to)?(?P<neg>(?: (?:really|just|honestly|actually))?"
            r"(?: (?:don't|doesn't|didn't|do not|does not"
            r"|did not"
            r"|dont|doesnt"
            r"|no longer|never|can't say i|wouldn't say i)))?(?: (?:really|even|actually|ever))?"
        ),
        "name": shown,
        "o": r" (?P<o>\S.*)",
    }
