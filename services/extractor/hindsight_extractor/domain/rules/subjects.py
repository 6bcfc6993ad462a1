"""Whom a clause speaks of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from hindsight_extractor.domain.rules import chinese_names
from hindsight_extractor.domain.rules.chinese_names import AFTER_NAME
from hindsight_extractor.domain.rules.word_lists import Language, alternatives, words_of

RELATION_OF_RELATION = "某"
Person = Literal["speaker", "named", "relation", "pet", "pronoun"]


@dataclass(frozen=True, slots=True)
class Subject:
    """`name` is None for the speaker, a pronoun, and a relation or pet that is not named.

    `relation` is the word that tells who it is to the speaker ("sister", 妹妹).
    """

    person: Person
    name: str | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A subject and where what is said of it begins. `joined`: no subject of its own, but an "and" before it.

    `word` is the Chinese pronoun that the subject is, or says that it is a relation's relation.
    """

    subject: Subject | None
    begin: int
    end: int
    joined: bool = False
    word: str | None = None


HIGH_EN = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪİĶĹĻŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŹŻŽȘȚ"
NAME_EN = (
    rf"(?-i:(?:(?:Mrs?|Ms|Dr|Prof)\.\s+)?[{HIGH_EN}][a-zA-Z'’À-ɏ-]*"
    rf"(?:\s+(?!I\b)[{HIGH_EN}][a-zA-Z'À-ɏ-]*){{0,2}})"
)
BUILD = (
    r"(?:(?:older|oldest|younger|elder|eldest|middle|youngest|little|big|twin|best|good|close|old|dear|new|late|baby)"
    r"[\s-]+)*"
)
# A form that only the third person has, or one of the past; it shows a capitalised word to be somebody
_DOES = (
    r"(?:\s+(?:also|still|just|really|always|never|only|now|actually|apparently|usually|often|finally|recently))*\s+"
    r"(?:is|was|isn't|wasn't|has|had|hasn't|can|can't|cannot|could|will|won't|would|doesn't|did|didn't|went|got|came|left|grew"
    r"|took|made|said|told|thinks?|became|began|bought|broke|fell|flew|found|gave|met|ran|rang|sang|saw|sold|sent|spent|taught|won"
    r"|wrote|quit|put|read|drove|ate|knew|kept|lost|felt|[a-z]{3,}(?:[^s\W]s|ss?es|ed))\b"
)
# "With clients he goes by …", "for work I use …"
_ASIDE_EN = (
    r"(?:with|at|for|in|on|during|outside)\s+(?!(?:my|the|a|his|her)\s+(?:dream|story|game|film|movie|novel|book|past)s?\b)"
    r"(?:[\w'-]+\s+){0,3}?[\w'-]+,?\s+"
)
_SURELY_DOES = (
    r"(?:\s+(?:also|still|just|really|always|never|only|now|actually))*\s+(?:is|was|isn't|has|had|can|can't|cannot|doesn't|lives|works"
    r"|speaks|plays|loves|hates|likes|enjoys|prefers|teaches|studies|owns|drives|runs|keeps|takes|uses|eats|drinks|comes|got|went|moved)\b"
)
_IS_SAID_OF = (
    r"'s\s+(?:an?|the|my|got|been|called|named|also|not|now|always|still|allergic|vegan|vegetarian|diabetic|pregnant|married"
    r"|single|from|in|on|at|turning|retired|coming|getting|learning|studying|working|living|\d)"
)


@cache
def name_patterns(language: Language) -> tuple[str, str]:
    """Regular expressions for a name that shows as one, and for what may be one where a name must stand."""
    return (NAME_EN, NAME_EN) if language == "en" else chinese_names.name_patterns()


@cache
def _leads(language: Language) -> re.Pattern[str]:
    words = words_of(language)
    if language == "zh":
        point = r"(?:[(（]?\d{1,2}[)）.、]\s*(?=\D)|[-•*·]\s*)?"
        return re.compile(rf"{point}(?:{alternatives(words['leads'])}[,\s]*)*[\s,]*")
    # "No, I …", but not "No pork"
    return re.compile(
        rf"\s*(?:(?:{alternatives(words['leads'])}(?![\w'])|no(?=\s*[,.!])|no(?=\s+no\b))[,\s]*)*",
        re.IGNORECASE,
    )


@cache
def _subjects(language: Language) -> re.Pattern[str]:
    words = words_of(language)
    relation = alternatives(words.relations)
    pet = alternatives(words.kinds["pet"])
    shown, possible = name_patterns(language)
    if language == "zh":
        after = rf"(?=\s*(?:{AFTER_NAME}))"
        return re.compile(
            # 我妹男朋友, 我朋友的女儿: neither I nor my relation
            rf"(?P<strange>(?:[我俺咱](?:们)?(?:家)?(?:的)?)?(?>{relation})(?:的|家)?"
            rf"{alternatives((*words.relations, *words['persons']))})"
            rf"|[我俺咱](?:们)?(?:家)?(?:的)?(?:(?P<rel>{relation})|(?P<pet>{pet}))(?![们都])\s*(?P<relname>(?:{shown}|{possible}){after})?"
            rf"|(?P<me>我们家|[我俺咱]们|[我俺咱]家|本人|[我俺咱](?:这边|这儿|这头)?)"
            rf"|(?P<pronoun>他们|她们|他|她)(?!的|家|(?:{relation}))"
            rf"|(?P<bare>{alternatives((*words['kin'], *words['fellows']))})"
            rf"(?P<barename>(?:{shown}){after}|[小老阿][\u4e00-\u9fff]|[A-Z][a-z]+(?![A-Za-z]))"
            rf"|(?P<kin>{alternatives(words['kin'])})(?![们的家都群节孩和跟、])"
            rf"|(?P<name>{shown}){after}"
        )
    return re.compile(
        rf"(?:my|our)\s+{BUILD}(?:(?P<rel>{relation})|(?P<pet>(?:[a-z]+\s+)?{pet}))(?![\w-])(?:(?!')|(?={_IS_SAID_OF}\b))"
        rf"(?:,?\s+(?P<relname>(?!I\b){NAME_EN}),?)?"
        rf"|(?P<bare>{alternatives(words.kinds['bare_relation'])})(?={_DOES}|{_IS_SAID_OF}\b|(?-i:'s\s+[A-Z]))"
        rf"|(?:my|our)\s+{BUILD}(?P<relof>{relation}|{pet})(?='s\s+name\b)"
        rf"|(?P<me>(?:me,?\s+)?(?:I|we)(?=[\s'])|(?:me,?\s+)?I(?=(?:m|ve)\s))"
        rf"|{_ASIDE_EN}(?:(?P<me2>(?:I|we)(?=[\s']))|(?P<pronoun2>(?:he|she|they)(?=[\s'])))"
        rf"|(?P<pronoun>he|she|they|who)(?=[\s'])"
        rf"|(?:(?:the|our|my)\s+[a-z-]+(?:\s+[a-z-]+)?,\s+)?(?P<name>{NAME_EN})"
        rf"(?:,?\s+(?:my|our)\s+{BUILD}(?P<apposed>{relation}),?(?={_DOES})"
        rf"|,?\s+(?:from|at|in|who)\s+[\w'-]+(?:\s+[\w'-]+){{0,4}}?,?(?={_SURELY_DOES})"
        rf"|,?(?={_DOES})|(?='s\s))",
        re.IGNORECASE,
    )


@cache
def _not_names() -> frozenset[str]:
    return frozenset(words_of("en")["not_names"])


def looks_like_name(text: str) -> bool:
    """True if a capitalised English word or words may name a person."""
    words = text.lower().split()
    if len(words) > 1 and words[0].rstrip(".") in words_of("en")["titles"]:
        words = words[1:]
    first = words[0] if words else ""
    return bool(first) and first.split("'")[0] not in _not_names() and first not in _not_names()


def shows_as_name(text: str, language: Language) -> bool:
    """True if words after a relation ("my sister …", 我妹妹…) name whom it is."""
    if language == "zh":
        return chinese_names.is_name(text)
    return looks_like_name(text) and not text.lower().endswith(("'s", "’s"))


def lead_end(read: str, begin: int, end: int, language: Language) -> int:
    """Where a clause's own words begin, after "but", "actually", 其实 and the like."""
    found = _leads(language).match(read, begin, end)
    return found.end() if found else begin


def subject_of(read: str, begin: int, end: int, language: Language) -> Found:
    """The subject that a clause begins with, if it has one."""
    start = lead_end(read, begin, end, language)
    found = _subjects(language).match(read, start, end)
    if found is None:
        return Found(
            None, start, start, joined=bool(re.match(r"\s*(?:and|but|or)\s", read[begin:end], re.IGNORECASE))
        )
    groups = found.groupdict()
    if groups["me"] or groups.get("me2"):
        return Found(Subject("speaker"), start, found.end())
    if groups["pronoun"] or groups.get("pronoun2"):
        word = groups["pronoun"] if language == "zh" else None
        return Found(Subject("pronoun"), start, found.end(), word=word)
    return _somebody(found, start, language)


def _somebody(found: re.Match[str], start: int, language: Language) -> Found:
    """Who is neither the speaker nor a pronoun."""
    groups = found.groupdict()
    if groups.get("strange"):
        return Found(Subject("pronoun"), start, found.end(), word=RELATION_OF_RELATION)
    if groups.get("kin") or (groups.get("bare") and language == "zh"):
        return _relative(found, start, language)
    if groups["name"]:
        return _named(groups["name"], found, start, language)
    if groups.get("bare"):
        return Found(Subject("relation", None, groups["bare"]), start, found.end())
    name = groups["relname"]
    if name and language == "en" and name.lower().endswith(("'s", "’s")):
        return Found(None, start, start)
    if name and not shows_as_name(name, language):
        name = None
    word = groups["rel"] or groups["pet"] or groups.get("relof") or ""
    finish = found.end() if name or not groups["relname"] else found.start("relname")
    is_pet = not groups["rel"] and word.lower() not in words_of(language).relations
    return Found(Subject("pet" if is_pet else "relation", name, word), start, finish)


def _relative(found: re.Match[str], start: int, language: Language) -> Found:
    """老婆, 同事小尤: the speaker's own, though they do not say so."""
    if found["kin"]:
        return Found(Subject("relation", None, found["kin"]), start, found.end())
    name = found["barename"]
    if shows_as_name(name, language) or chinese_names.is_pet_form(name):
        return Found(Subject("relation", name, found["bare"]), start, found.end())
    if found["bare"] in words_of(language)["kin"]:
        return Found(Subject("relation", None, found["bare"]), start, found.end("bare"))
    return Found(None, start, start)


def _named(name: str, found: re.Match[str], start: int, language: Language) -> Found:
    if language == "en":
        # A possessive is somebody's thing, not the somebody.
        if not looks_like_name(name) or name.lower().endswith("'s"):
            return Found(None, start, start)
        bare = name.split("'", maxsplit=1)[0]
        end = found.end() if found.end() > found.end("name") else found.start("name") + len(bare)
        return Found(Subject("named", bare, found["apposed"]), start, end)
    if chinese_names.is_common_word(name):
        return Found(None, start, start)
    return Found(Subject("named", name.strip()), start, found.end())
