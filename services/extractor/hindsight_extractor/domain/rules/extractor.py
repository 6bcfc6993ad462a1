"""The extractor that needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hindsight_common.domain.text import normal_key
from hindsight_common.ports.extraction import ExtractedItem, Extraction, Turn
from hindsight_extractor.domain.rules import stance
from hindsight_extractor.domain.rules.clauses import parsed
from hindsight_extractor.domain.rules.events import Event, Telling, event_of, question_told, telling_of
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.facts import FactReader
from hindsight_extractor.domain.rules.prose import Sentence, language_of, sentences
from hindsight_extractor.domain.rules.speakers import THE_USER, said_by
from hindsight_extractor.domain.testimony import Reason, Testimony, testimonies
from hindsight_extractor.domain.testimony.instructions import instructing_passage, instructs
from hindsight_extractor.domain.testimony.invention import asks_idly
from hindsight_extractor.domain.testimony.orders import chatters

_ASKED_TO_KEEP = 0.1
_MOST_QUESTIONS = 20
_SENTENCES_AT_ONCE = 20
_FICTION_SHOWS_WITHIN = 4000
# Whoever comments a text of these kinds in the same message speaks of it, not of themself
_COMMENTED = frozenset({Reason.CODE, Reason.FOREIGN, Reason.DIALOGUE, Reason.MATERIAL, Reason.FORWARDED})
_INSTRUCTION_WEIGHS = 0.1


@dataclass(slots=True)
class _Heard:
    """What has been taken from one speaker's messages, each with the id of its message.

    `commanding` = the first message that tries to instruct the memory, with its id. `others` = the keys of the names
    of those who speak for themselves in the turn.
    """

    commanding: tuple[str, str] | None
    others: frozenset[str]
    facts: list[tuple[Fact, Sentence, str]] = field(default_factory=list)
    tellings: list[tuple[Telling, str]] = field(default_factory=list)
    questions: list[tuple[Telling, str]] = field(default_factory=list)

    def is_hearsay(self, fact: Fact) -> bool:
        """True if the fact is of somebody who speaks in the same turn."""
        return normal_key(fact.subject) in self.others


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
        """Facts in the order said, then at most one event, for each speaker of the turn's user side.

        Long messages are read in steps between which the event loop runs.
        """
        at = _in_zone(turn.occurred_at, turn.time_zone)
        items: list[ExtractedItem] = []
        questions = _asked_before(turn)
        by_speaker = list(said_by(turn))
        present = {normal_key(speaker): speaker for speaker, _ in by_speaker if speaker != THE_USER}
        if turn.user_name:
            present[normal_key(turn.user_name)] = THE_USER
        for speaker, messages in by_speaker:
            heard = _Heard(
                next(((m.content, m.id) for m in messages if instructs(m.content)), None),
                frozenset(key for key, name in present.items() if name != speaker),
            )
            reader = FactReader(speaker)
            for testimony in testimonies(messages):
                reader.begin_message(questions.get(testimony.message.id))
                await _hear(heard, reader, testimony, at)
            items += _items(speaker, heard)
        return Extraction(tuple(items))


async def _hear(heard: _Heard, reader: FactReader, testimony: Testimony, at: datetime) -> None:
    text, message = testimony.text, testimony.message
    comments = any(cut.reason in _COMMENTED for cut in testimony.words.cuts)
    idle = asks_idly(text)
    invented = stance.is_fiction(text[:_FICTION_SHOWS_WITHIN], language_of(text[:_FICTION_SHOWS_WITHIN]))
    for number, sentence in enumerate(sentences(text), start=1):
        said = parsed(sentence, at)
        unread = invented or sentence.is_anothers or chatters(sentence.read)
        facts = [] if unread else [fact for fact in reader.read(said) if not heard.is_hearsay(fact)]
        heard.facts += [(fact, sentence, message.id) for fact in facts]
        telling = telling_of(said, facts, at, beside_others=comments)
        if isinstance(telling, Telling):
            heard.tellings.append((telling, message.id))
        elif len(heard.questions) < _MOST_QUESTIONS and not facts and not (idle or comments):
            question = question_told(said, at)
            if question:
                heard.questions.append((question, message.id))
        if number % _SENTENCES_AT_ONCE == 0:
            await asyncio.sleep(0)


def _items(speaker: str, heard: _Heard) -> Iterator[ExtractedItem]:
    quarantined = "instruction" if heard.commanding else None
    for fact, sentence, message_id in _each_once(heard.facts):
        yield _fact_item(fact, sentence, message_id, speaker, quarantined)
    tellings = heard.tellings or ([] if heard.facts else heard.questions)
    event = event_of([telling for telling, _ in tellings])
    if event:
        ids = tuple(dict.fromkeys(message_id for _, message_id in tellings))
        yield _event_item(event, ids, speaker, quarantined)
    elif heard.commanding:
        yield _instruction_item(*heard.commanding, speaker)


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


def _instruction_item(content: str, message_id: str, speaker: str) -> ExtractedItem:
    """What instructed the memory, where nothing else is kept of it: somebody may want to see it."""
    passage = instructing_passage(content)
    return ExtractedItem(
        type="event",
        content=passage,
        importance=_INSTRUCTION_WEIGHS,
        confidence=_INSTRUCTION_WEIGHS,
        language=language_of(passage),
        message_ids=(message_id,),
        speaker=speaker,
        quarantined="instruction",
    )


def _asked_before(turn: Turn) -> dict[str, str]:
    """By the id of a message what the assistant said right before it."""
    return {
        message.id: before.content
        for before, message in pairwise(turn.messages)
        if before.role == "assistant" and message.role == "user"
    }


def _in_zone(at: datetime, time_zone: str) -> datetime:
    try:
        return at.astimezone(ZoneInfo(time_zone))
    except (ZoneInfoNotFoundError, ValueError):
        return at
