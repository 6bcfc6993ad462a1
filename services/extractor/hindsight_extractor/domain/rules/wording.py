"""The sentence that keeps a fact, in the language it was said in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hindsight_extractor.domain.rules.speakers import THE_USER
from hindsight_extractor.domain.rules.subjects import Subject
from hindsight_extractor.domain.rules.word_lists import Language

NAMED_RELATION: dict[Language, str] = {"en": "'s {rel} is called {o}", "zh": "的{rel}叫{o}"}
NAMED_PET: dict[Language, str] = {"en": "has a {rel} named {o}", "zh": "养了{rel}，叫{o}"}

_SLOT = re.compile(r"\{(\w+)\}")
_WRONG_ARTICLE = re.compile(r"\ba (?=(?:an?|the|their)\s|[aeioAEIO]|[FHLMNRSX][A-Z]{1,3}\b)")
_OWNED = re.compile(r"\b(?:my|our)\s+$", re.IGNORECASE)


def is_owned(read: str, begin: int) -> bool:
    """True if the object that begins there is the speaker's own: "my garden"."""
    return bool(_OWNED.search(read[max(0, begin - 8) : begin]))


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said of a subject: a template with `{o}` for the thing and names for further parts of the match.

    `owned` = the thing is the subject's own ("my garden").
    """

    template: str
    thing: str
    parts: Mapping[str, str]
    owned: bool = False


def sentence(speaker: str, whom: Subject, statement: Statement, language: Language) -> str:
    """The subject and what is said of it, in one sentence without a full stop."""
    who = subject_shown(speaker, whom, language)
    thing = f"their {statement.thing}" if statement.owned and language == "en" else statement.thing
    said = _SLOT.sub(
        lambda slot: thing if slot[1] == "o" else statement.parts.get(slot[1], ""), statement.template
    )
    if language == "en":
        joined = who + said if said.startswith("'") else f"{who} {said}"
        return _WRONG_ARTICLE.sub(_article, joined)
    gap = " " if who[-1].isascii() and who[-1].isalnum() else ""
    return f"{who}{gap}{said}"


def _article(found: re.Match[str]) -> str:
    rest = found.string[found.end() :]
    return "" if re.match(r"(?:an?|the|their)\s", rest) else "an "


def subject_shown(speaker: str, whom: Subject, language: Language) -> str:
    """How the subject begins a sentence."""
    return _subject(speaker, whom, language, "用户" if language == "zh" else "The user")


def subject_field(speaker: str, whom: Subject, language: Language) -> str:
    """The subject of the fact: "user", a name, or whose relation it is."""
    own = THE_USER if whom.person == "speaker" else "用户" if language == "zh" else "the user"
    return _subject(speaker, whom, language, own)


def _subject(speaker: str, whom: Subject, language: Language, own: str) -> str:
    if whom.name:
        return whom.name
    base = own if speaker == THE_USER else speaker
    if whom.relation is None:
        return base
    return f"{base}的{whom.relation}" if language == "zh" else f"{base}'s {whom.relation}"
