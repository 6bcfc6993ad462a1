"""A sentence in clauses, each with the stance that its place in the sentence gives it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest

from hindsight_extractor.domain.rules.prose import Sentence
from hindsight_extractor.domain.rules.stance import (
    asks,
    is_tag,
    is_tentative,
    supposes,
)
from hindsight_extractor.domain.rules.standing import is_over_since, is_put_right
from hindsight_extractor.domain.rules.word_lists import Language
from hindsight_extractor.domain.testimony.invention import not_meant
from hindsight_extractor.domain.time_expressions import TimeMention, find_times

_OPENS = (
    r"(?:i|i'm|i've|i'd|i'll|im|ive|its|hes|shes|thats|theres|we|we're|we've|he|he's|she|she's|they|they're|it|it's|you|you're|my|our|his|her|their|that|that's"
    r"|this|there|can|could|do|does|did|would|should|will|what|what's|where|who|why|how|any|is|are|please|let|remember|call)"
)
_JOINS = (
    r"(?:and|but|so|because|since|which|who|where|although|though|while|or|then|plus|also|if|unless"
    r"|especially|esp|even)"
)
_VERBS = (
    r"(?:works?|lives?|likes?|loves|love(?!\s+(?:theme|exists?|really|in|is|for|story|stories|life|and|as|to|has|can|will|makes?|songs?|languages?)\b)|hates?|enjoys?|have|has|had|grew|went|got|came|left|studied|graduated|retired|used|quit|stopped|do|did|was|feel|want|need|runs?|studies|study|speaks?|plays?|teach(?:es)?|owns?|drives?|drinks?"
    r"|eats?|uses?|prefers?|moved|worked|am|is|don't|doesn't|can't|never|always|adopted|bought|started|joined|graduated"
    r"|just|recently|learn|learns|drives?|speak|sings?|keeps?|raises?|married|switched|lost|sold|take|takes|turned|prefers?|hates?|got|became"
    r"|volunteers?|collects?|writes?|cooks?|bakes?|builds|manages?|suffers?|belongs?|grew|own|live|teach|eat)"
)
_BREAKS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        rf"\s*[;–—]\s*|\s*[\u2600-\u27bf\U0001f000-\U0001faff]+\s+|:\s+|\s+-+\s+|(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[!.]\s+|,\s+(?={_JOINS}\b)|,\s+(?={_OPENS}\b)"
        rf"|\s+(?=(?:but|because|although|though|if|unless|whether)\b)"
        rf"|\s+(?=who\s+{_VERBS}\b)"
        rf"|\s+(?=(?:and|so|or|since)\s+(?:{_OPENS}|{_VERBS})\b)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"\s*[,;:!。~…\U0001f000-\U0001faff]\s*|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])|(?<=不[抽吃喝][\u4e00-\u9fff])(?=不[抽吃喝沾赌])"
        r"|(?<=[^,;:!。\s]{4})(?=也(?:不|没|很|喜欢|爱|讨厌|对|会|住|在|是))|(?<=.)(?=但是|不过(?![敏去来问关])|所以|因为|而且|可是|然后|并且|虽然|尽管|如果|要是)"
    ),
}
_SHORT_DOUBT: dict[Language, int] = {"en": 30, "zh": 10}
# A statement that its speaker doubts may end in a question mark: "I think I'm allergic to latex?", 好像是对乳胶过敏吧?
_ADDRESSED = re.compile(r"\b(?:you|your|u)\b|[你您]", re.IGNORECASE)
_SAYS_OF_SOMEBODY = re.compile(
    r"\b(?:i|i'm|i've|my|we|we're|our|he|he's|she|she's|they|it's|mom|mum|dad)\b|[\u4e00-\u9fff]",
    re.IGNORECASE,
)
# These make everything after them in the sentence suppositional; "would" and its like only their own clause.
_CARRIES_ON = re.compile(
    r"\b(?:if|unless|suppos\w+|imagin\w+|pretend\w*|whether|i wish|what if|in case|assuming|dream\w+|hypothetically)\b"
    r"|如果|要是|假如|假设|假使|倘若|万一|想象|除非|梦见|梦到|做梦|若是|但愿",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """`begin`–`end` within the sentence. Only a clause that `holds` can give facts.

    `is_over` = the next clause says that what this one tells is so no more.
    """

    begin: int
    end: int
    holds: bool
    is_asking: bool
    is_tentative: bool
    is_over: bool = False


def clauses_of(sentence: Sentence) -> list[Clause]:
    """The clauses of a sentence in order."""
    read, language = sentence.read, sentence.language
    spans = _spans(read, language)
    asking = _which_ask([read[b:e] for b, e in spans], read, language)
    clauses = []
    supposed = not_meant(read) is not None
    ended = [is_over_since(read[b:e], language) for b, e in spans[1:]] + [False]
    for (begin, end), is_asking, is_over in zip(spans, asking, ended, strict=True):
        piece = read[begin:end]
        supposed = supposed or bool(_CARRIES_ON.search(piece))
        holds = not (is_asking or supposed or supposes(piece, language))
        clauses.append(Clause(begin, end, holds, is_asking, is_tentative(piece, language), is_over))
    return _doubted(clauses, language)


def _doubted(clauses: list[Clause], language: Language) -> list[Clause]:
    """A short clause that only doubts casts its doubt on the one before: "she moved to Lyon, not 100% sure"."""
    for number, clause in enumerate(clauses[1:]):
        if clause.is_tentative and clause.end - clause.begin <= _SHORT_DOUBT[language]:
            clauses[number] = replace(clauses[number], is_tentative=True)
    return clauses


def _spans(read: str, language: Language) -> list[tuple[int, int]]:
    spans = []
    begin = 0
    for found in _BREAKS[language].finditer(read):
        if found.start() > begin:
            spans.append((begin, found.start()))
            begin = found.end()
    spans.append((begin, len(read)))
    return [(b, e) for b, e in spans if read[b:e].strip()]


# At the beginning of a sentence; anywhere else "who" may tell of somebody who was named
_WHO_DID = re.compile(
    r"\W*(?:(?:so|and|but|ok|hey)\s+)?who\s+(?!knew\b|knows\b|cares\b|would\b|i\b|we\b|he\b|she\b|they\b|my\b)\w+",
    re.IGNORECASE,
)


def _which_ask(pieces: list[str], read: str, language: Language) -> list[bool]:
    """A question mark at the end makes the last clause a question; a tag ("right?") the one before it too."""
    asking = [asks(piece, language) and not _is_doubted(piece, language) for piece in pieces]
    if pieces and _WHO_DID.match(pieces[0]):
        asking[0] = True
    if pieces and read.rstrip().endswith("?"):
        asking[-1] = not _is_doubted(pieces[-1], language)
        if len(pieces) > 1 and is_tag(pieces[-1]):
            asking[-2] = True
    return asking


def _is_doubted(piece: str, language: Language) -> bool:
    bare = piece.rstrip(" ?").removesuffix("吧")
    return (
        is_tentative(bare, language)
        and bool(_SAYS_OF_SOMEBODY.search(bare))
        and not _ADDRESSED.search(bare)
        and not asks(bare, language)
    )


@dataclass(frozen=True, slots=True)
class Parsed:
    """A sentence with its clauses and the times it names; both empty where it is too long to be read."""

    sentence: Sentence
    clauses: tuple[Clause, ...]
    mentions: tuple[TimeMention, ...]

    @property
    def time_meant(self) -> TimeMention | None:
        """The first time that is not named only to be put right: of "not Tuesday, Thursday" the Thursday."""
        behind = zip_longest(self.mentions, self.mentions[1:])
        return next((m for m, after in behind if m and not is_put_right(self.sentence.read, m, after)), None)


def parsed(sentence: Sentence, at: datetime) -> Parsed:
    """The sentence, read once; `at` is when it was said, in the speaker's zone."""
    if not sentence.is_readable:
        return Parsed(sentence, (), ())
    return Parsed(sentence, tuple(clauses_of(sentence)), tuple(find_times(sentence.text, at)))
