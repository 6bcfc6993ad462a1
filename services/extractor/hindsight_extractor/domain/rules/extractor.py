"""The extractor that needs no model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hindsight_common.ports.extraction import ExtractedItem, Extraction, Message, Turn
from hindsight_extractor.domain.rules import stance
from hindsight_extractor.domain.rules.events import Event, Telling, event_of, question_told, telling_of
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.facts import FactReader
from hindsight_extractor.domain.rules.prose import Sentence, language_of, sentences, written_text
from hindsight_extractor.domain.rules.speakers import said_by

_ASKED_TO_KEEP = 0.1
_MOST_SENTENCES_ASKED = 20


@dataclass(slots=True)
class _Heard:
    """What has been taken from one speaker's messages so far; ids are those of the messages that gave it."""

    facts: list[tuple[Fact, Sentence, str]] = field(default_factory=list)
    tellings: list[tuple[Telling, str]] = field(default_factory=list)
    questions: list[tuple[Telling, str]] = field(default_factory=list)


class RuleExtractor:
    """Extracts by the rules of this package. The same turn always gives the same items; it never fails."""

    @property
    def name(self) -> str:
        return "rules/1"

    @property
    def model(self) -> str | None:
        return None

    @property
    def prompt_hash(self) -> str | None:
        return None

    async def extract(self, turn: Turn) -> Extraction:
        """Facts in the order said, then at most one event, for each speaker of the turn's user side."""
        at = _in_zone(turn.occurred_at, turn.time_zone)
        return Extraction(
            tuple(item for speaker, said in said_by(turn) for item in _items(speaker, said, at))
        )


def _items(speaker: str, messages: Sequence[Message], at: datetime) -> Iterator[ExtractedItem]:
    heard = _Heard()
    reader = FactReader(speaker, at)
    texts = [(message.id, written_text(message.content)) for message in messages]
    commanded = any(stance.is_command(text) for _, text in texts)
    for message_id, text in texts:
        _hear(heard, reader, message_id, text, at)
    quarantined = "instruction" if commanded else None
    for fact, sentence, message_id in _each_once(heard.facts):
        yield _fact_item(fact, sentence, message_id, speaker, quarantined)
    tellings = heard.tellings or ([] if heard.facts else heard.questions)
    event = event_of([telling for telling, _ in tellings])
    if event:
        ids = tuple(dict.fromkeys(message_id for _, message_id in tellings))
        yield _event_item(event, ids, speaker, quarantined)


def _hear(heard: _Heard, reader: FactReader, message_id: str, text: str, at: datetime) -> None:
    invented = stance.is_fiction(text[:4000], language_of(text[:4000]))
    for sentence in sentences(text):
        facts = reader.read(sentence) if sentence.is_readable and not invented else []
        heard.facts += [(fact, sentence, message_id) for fact in facts]
        telling = telling_of(sentence, facts, at)
        if telling:
            heard.tellings.append((telling, message_id))
        elif len(heard.questions) < _MOST_SENTENCES_ASKED and not facts:
            question = question_told(sentence, at)
            if question:
                heard.questions.append((question, message_id))


def _each_once(facts: list[tuple[Fact, Sentence, str]]) -> Iterator[tuple[Fact, Sentence, str]]:
    seen: set[tuple[str, str, str, bool]] = set()
    for fact, sentence, message_id in facts:
        key = (fact.subject, fact.predicate, fact.object, fact.negated)
        if key not in seen:
            seen.add(key)
            yield fact, sentence, message_id


def _fact_item(
    fact: Fact, sentence: Sentence, message_id: str, speaker: str, quarantined: str | None
) -> ExtractedItem:
    remembered = stance.asked_to_remember(sentence.read, sentence.language)
    importance = min(fact.importance + _ASKED_TO_KEEP, 1.0) if remembered else fact.importance
    return ExtractedItem(
        type="fact",
        content=fact.content,
        importance=round(importance, 3),
        confidence=fact.confidence,
        language=sentence.language,
        message_ids=(message_id,),
        speaker=speaker,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        negated=fact.negated,
        people=fact.people,
        valid_from=fact.mention.start if fact.mention else None,
        granularity=fact.mention.granularity if fact.mention else None,
        when=fact.mention.words if fact.mention else None,
        quarantined=quarantined,
    )


def _event_item(event: Event, ids: tuple[str, ...], speaker: str, quarantined: str | None) -> ExtractedItem:
    return ExtractedItem(
        type="event",
        content=event.content,
        importance=event.importance,
        confidence=event.confidence,
        language=event.language,
        message_ids=ids,
        speaker=speaker,
        people=event.people,
        valid_from=event.mention.start if event.mention else None,
        granularity=event.mention.granularity if event.mention else None,
        when=event.mention.words if event.mention else None,
        quarantined=quarantined,
    )


def _in_zone(at: datetime, time_zone: str) -> datetime:
    try:
        return at.astimezone(ZoneInfo(time_zone))
    except (ZoneInfoNotFoundError, ValueError):
        return at
