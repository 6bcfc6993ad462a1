"""The extractor that needs no model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hindsight_common.ports.extraction import ExtractedItem, Extraction, Message, Turn
from hindsight_extractor.domain.rules import stance
from hindsight_extractor.domain.rules.by_time import by_time
from hindsight_extractor.domain.rules.events import Event, event_of
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.hearing import Hearing, Line
from hindsight_extractor.domain.rules.prose import Sentence, language_of
from hindsight_extractor.domain.rules.speakers import THE_USER, said_by
from hindsight_extractor.domain.testimony import Reason, testimonies
from hindsight_extractor.domain.testimony.instructions import instructing_passage, instructs

_ASKED_TO_KEEP = 0.1
_INSTRUCTION_WEIGHS = 0.1


@dataclass(frozen=True, slots=True)
class Explained:
    """What a turn gives, and of every sentence whether it is kept or why not, by speaker in the order said."""

    items: tuple[ExtractedItem, ...]
    lines: tuple[tuple[str, Line], ...]


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
        """For each speaker of the turn's user side facts in the order said, then an event for each time told of."""
        return Extraction((await self.explained(turn)).items)

    async def explained(self, turn: Turn) -> Explained:
        """The same, with what was made of every sentence."""
        at = _in_zone(turn.occurred_at, turn.time_zone)
        items: list[ExtractedItem] = []
        lines: list[tuple[str, Line]] = []
        questions = _asked_before(turn)
        by_speaker = list(said_by(turn))
        for speaker, messages in by_speaker:
            hearing = Hearing(speaker, _others(turn, speaker, [name for name, _ in by_speaker]))
            for testimony in testimonies(messages):
                await hearing.listen(testimony, questions.get(testimony.message.id), at)
            commanding = next((message for message in messages if instructs(message.content)), None)
            items += _items(hearing, commanding)
            lines += [(speaker, line) for line in hearing.lines]
            if commanding:
                passage = instructing_passage(commanding.content)
                lines.append((speaker, Line(commanding.id, passage, Reason.INSTRUCTION)))
        return Explained(tuple(items), tuple(lines))


def _others(turn: Turn, speaker: str, speakers: list[str]) -> list[str]:
    """The names of those who speak in the turn beside this one."""
    names = [name for name in speakers if name not in (THE_USER, speaker)]
    return [*names, turn.user_name] if turn.user_name and speaker != THE_USER else names


def _items(hearing: Hearing, commanding: Message | None) -> Iterator[ExtractedItem]:
    """`commanding` = a message of the speaker that instructs the memory: then none of their words is trusted."""
    quarantined = "instruction" if commanding else None
    for fact, sentence, message_id in _each_once(hearing.facts):
        yield _fact_item(fact, sentence, message_id, hearing.speaker, quarantined)
    tellings = hearing.tellings or ([] if hearing.facts else hearing.questions)
    for told in by_time(tellings):
        event = event_of([telling for telling, _ in told])
        if event:
            ids = tuple(dict.fromkeys(message_id for _, message_id in told))
            yield _event_item(event, ids, hearing.speaker, quarantined)
    if commanding and not tellings:
        yield _instruction_item(commanding, hearing.speaker)


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


def _instruction_item(message: Message, speaker: str) -> ExtractedItem:
    """What instructed the memory, where nothing else is kept of it: somebody may want to see it."""
    passage = instructing_passage(message.content)
    return ExtractedItem(
        type="event",
        content=passage,
        importance=_INSTRUCTION_WEIGHS,
        confidence=_INSTRUCTION_WEIGHS,
        language=language_of(passage),
        message_ids=(message.id,),
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
