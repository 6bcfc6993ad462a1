"""What one speaker of a turn says, sentence by sentence: facts, what is worth telling, and why the rest is neither."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from hindsight_common.domain.text import normal_key
from hindsight_extractor.domain.rules import stance
from hindsight_extractor.domain.rules.by_time import apart
from hindsight_extractor.domain.rules.clauses import parsed
from hindsight_extractor.domain.rules.events import Telling, question_told, telling_of
from hindsight_extractor.domain.rules.fact import Fact
from hindsight_extractor.domain.rules.facts import FactReader
from hindsight_extractor.domain.rules.prose import Sentence, language_of, sentences
from hindsight_extractor.domain.testimony import Reason, Testimony
from hindsight_extractor.domain.testimony.invention import asks_idly
from hindsight_extractor.domain.testimony.orders import chatters

_MOST_QUESTIONS = 20
_SENTENCES_AT_ONCE = 20
_FICTION_SHOWS_WITHIN = 4000
# Whoever comments a text of these kinds in the same message speaks of it, not of themself
_COMMENTED = frozenset({Reason.CODE, Reason.FOREIGN, Reason.DIALOGUE, Reason.MATERIAL, Reason.FORWARDED})


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, or a passage that was taken out of a message. `reason` is why it is not told in an event; None if it
    is, or if its facts say all of it.
    """

    message_id: str
    text: str
    reason: Reason | None
    facts: tuple[Fact, ...] = ()


class Hearing:
    """Listens to one speaker's messages in order. `others` are the names of those who speak for themselves in the
    turn: what this speaker says of them is no fact.
    """

    def __init__(self, speaker: str, others: Iterable[str]) -> None:
        self.speaker = speaker
        self.facts: list[tuple[Fact, Sentence, str]] = []
        self.tellings: list[tuple[Telling, str]] = []
        self.questions: list[tuple[Telling, str]] = []
        self.lines: list[Line] = []
        self._others = frozenset(map(normal_key, others))
        self._reader = FactReader(speaker)

    async def listen(self, testimony: Testimony, question: str | None, at: datetime) -> None:
        """Reads a message, said at that time in the speaker's zone. `question` is what the assistant said before it.

        A long one is read in steps between which the event loop runs.
        """
        self._reader.begin_message(question)
        message_id, cuts = testimony.message.id, testimony.words.cuts
        self.lines += [Line(message_id, cut.text, cut.reason) for cut in cuts]
        if testimony.is_invented:
            self.lines.append(Line(message_id, testimony.words.text.strip(), Reason.INVENTED))
        text = testimony.text
        comments = any(cut.reason in _COMMENTED for cut in cuts)
        asks = not (comments or asks_idly(text))
        beginning = text[:_FICTION_SHOWS_WITHIN]
        invented = stance.is_fiction(beginning, language_of(beginning))
        for number, sentence in enumerate(sentences(text), start=1):
            self._hear(sentence, message_id, at, reads=not invented, comments=comments, asks=asks)
            if number % _SENTENCES_AT_ONCE == 0:
                await asyncio.sleep(0)

    def _hear(
        self, sentence: Sentence, message_id: str, at: datetime, *, reads: bool, comments: bool, asks: bool
    ) -> None:
        said = parsed(sentence, at)
        reads = reads and not sentence.is_anothers and not chatters(sentence.read)
        facts = [fact for fact in self._reader.read(said) if not self._is_hearsay(fact)] if reads else []
        self.facts += [(fact, sentence, message_id) for fact in facts]
        telling = telling_of(said, facts, at, beside_others=comments)
        if isinstance(telling, Telling):
            self.tellings += [(each, message_id) for each in apart(said, telling)]
        elif asks and not facts and len(self.questions) < _MOST_QUESTIONS:
            question = question_told(said, at)
            if question:
                self.questions.append((question, message_id))
        reason = telling if isinstance(telling, Reason) and not facts else None
        self.lines.append(Line(message_id, sentence.text, reason, tuple(facts)))

    def _is_hearsay(self, fact: Fact) -> bool:
        return normal_key(fact.subject) in self._others
