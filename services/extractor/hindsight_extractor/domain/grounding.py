"""What a model says of a turn, held against what the user side of the turn said.

Only what users say is evidence. An item whose object or summary has nothing to do with their words came from
somewhere else: the assistant's reply, the prompt's own examples, or nowhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hindsight_common.domain.predicates import canonical, object_key, predicate, subject_key
from hindsight_common.domain.text import fold_text, normal_key
from hindsight_common.ports.extraction import ExtractedItem, Message, Turn
from hindsight_extractor.domain.dating import Dating, dated
from hindsight_extractor.domain.replies.entries import Entry
from hindsight_extractor.domain.rules.prose import language_of
from hindsight_extractor.domain.rules.speakers import THE_USER, said_by
from hindsight_extractor.domain.rules.word_lists import words_of
from hindsight_extractor.domain.testimony import testimonies
from hindsight_extractor.domain.testimony.instructions import instructs
from hindsight_extractor.domain.wording import fact_sentence

# what a model is trusted by default: more than a rule's guess, less than a plain statement read by a rule
_CONFIDENCE = 0.85
_EVENT_IMPORTANCE = 0.5
_WORD = re.compile(r"[a-z0-9]+(?:['.@_-][a-z0-9]+)*|[\u3400-\u9fff]+")
# of the words of an object or summary, the share that the user must have said
_SHARE_OF_OBJECT = 0.5
_SHARE_OF_SUMMARY = 0.25
# words of a message that are compared with the tables' names; each takes some 10 µs
_MOST_SPANS = 1000


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the user side, with its speaker ("user" or a name) and whether the speaker gives commands.

    `text` is what counts of the message: no quoted, pasted or injected text, nothing of a story or a play.
    """

    speaker: str
    message: Message
    text: str
    commands: bool
    folded: str
    key: str
    words: frozenset[str]


def heard(turn: Turn) -> tuple[Said, ...]:
    """Everything that the user side says, in order."""
    found: list[Said] = []
    for speaker, messages in said_by(turn):
        commands = any(instructs(message.content) for message in messages)
        for testimony in testimonies(messages):
            message, text = testimony.message, testimony.text
            folded = fold_text(text)
            words = frozenset(_words(folded))
            found.append(Said(speaker, message, text, commands, folded, normal_key(text), words))
    order = {message.id: number for number, message in enumerate(turn.messages)}
    return tuple(sorted(found, key=lambda said: order[said.message.id]))


def grounded(
    entries: Iterable[Entry], turn: Turn, sentinels: Sequence[str]
) -> tuple[tuple[ExtractedItem, ...], Counter[str]]:
    """The items that the turn bears out, in order, and how many were dropped, by reason.

    `example` = holds a name of the prompt's examples that nobody said; `unsupported` = the user side did not say it.
    """
    said = heard(turn)
    at = _in_zone(turn)
    dropped: Counter[str] = Counter()
    items: list[ExtractedItem] = []
    for entry in entries:
        if _from_example(entry, said, sentinels):
            dropped["example"] += 1
            continue
        source = _source(entry, said)
        if source is None:
            dropped["unsupported"] += 1
            continue
        unknown = set(entry.messages) - {message.id for message in turn.messages}
        if unknown:
            dropped["unknown_message"] += 1
        items.append(_item(entry, source, dated(entry, source.text, at), said))
    return tuple(items), dropped


def _from_example(entry: Entry, said: Sequence[Said], sentinels: Sequence[str]) -> bool:
    told = normal_key(" ".join(filter(None, (entry.subject, entry.object, entry.content, *entry.people))))
    keys = (normal_key(name) for name in sentinels)
    return any(key in told and not any(key in one.key for one in said) for key in keys if key)


def _source(entry: Entry, said: Sequence[Said]) -> Said | None:
    """The message that says it best: the one the model names if it bears it out, else the one that says most."""
    scored = [(_support(entry, one), one.message.id in entry.messages, one) for one in said]
    borne = [(named, share, one) for share, named, one in scored if share > 0]
    return max(borne, key=lambda found: found[:2])[2] if borne else None


def _support(entry: Entry, said: Said) -> float:
    """How far a message bears an entry out, 0 = not at all."""
    told, least = (
        (entry.object or "", _SHARE_OF_OBJECT)
        if entry.type == "fact"
        else (entry.content or "", _SHARE_OF_SUMMARY)
    )
    key = normal_key(told)
    if key and key in said.key:
        return 2.0
    if entry.type == "fact" and _says_alias(entry, said):
        return 1.5
    words = _words(fold_text(told))
    if not words:
        return 0.0
    share = sum(_is_said(word, said) for word in words) / len(words)
    return share if share >= least else 0.0


def _is_said(word: str, said: Said) -> bool:
    if word in said.words:
        return True
    if word.isascii():
        # inflections: "engaged" for "engagement", "run" for "running"
        return len(word) >= 4 and any(len(w) >= 4 and w[:4] == word[:4] for w in said.words)
    return word in said.folded


def _says_alias(entry: Entry, said: Said) -> bool:
    """True if the object is said under another name of the tables: "peanut" for "peanuts", 川菜 for Sichuan food."""
    name = canonical(entry.predicate or "")
    wanted = object_key(name, entry.object or "")
    if wanted and wanted in said.key:
        return True
    words = said.folded.split(maxsplit=_MOST_SPANS)[:_MOST_SPANS]
    spans = (" ".join(words[i : i + n]) for n in (1, 2, 3) for i in range(len(words) - n + 1))
    return any(object_key(name, span) == wanted for span in spans)


def _words(folded: str) -> list[str]:
    """What carries meaning: Latin words and numbers, and Chinese in overlapping pairs of characters."""
    found: list[str] = []
    empty = _empty_words()
    for run in _WORD.findall(folded):
        if run.isascii():
            if run not in empty and (len(run) > 1 or run.isdigit()):
                found.append(run)
        else:
            bare = run.removeprefix("用户")
            found += [bare[i : i + 2] for i in range(len(bare) - 1)] or ([bare] if bare else [])
    return list(dict.fromkeys(found))


@cache
def _empty_words() -> frozenset[str]:
    # "the user" stands in every sentence that a model writes
    return frozenset(words_of("en")["function_words"]) | {"user"}


def _item(entry: Entry, source: Said, dating: Dating, said: Sequence[Said]) -> ExtractedItem:
    language = language_of(source.text)
    quarantined = "instruction" if source.commands else None
    confidence = _CONFIDENCE if entry.confidence is None else entry.confidence
    people = tuple(name for name in entry.people if any(normal_key(name) in one.key for one in said))
    if entry.type == "event":
        importance = _EVENT_IMPORTANCE if entry.importance is None else entry.importance
        return ExtractedItem(
            type="event",
            content=entry.content or "",
            importance=importance,
            confidence=confidence,
            language=language,
            message_ids=(source.message.id,),
            speaker=source.speaker,
            people=people,
            valid_from=dating.start,
            granularity=dating.granularity,
            when=dating.words,
            quarantined=quarantined,
        )
    subject = _subject(entry.subject or THE_USER, source)
    name = canonical(entry.predicate or "")
    thing = entry.object or ""
    kept = entry.content if entry.content and language_of(entry.content) == language else None
    return ExtractedItem(
        type="fact",
        content=kept or fact_sentence(subject, name, thing, language, negated=entry.negated),
        importance=predicate(name).importance if entry.importance is None else entry.importance,
        confidence=confidence,
        language=language,
        message_ids=(source.message.id,),
        speaker=source.speaker,
        subject=subject,
        predicate=name,
        object=thing,
        negated=entry.negated,
        people=people,
        valid_from=dating.start,
        granularity=dating.granularity,
        when=dating.words,
        quarantined=quarantined,
    )


def _subject(named: str, source: Said) -> str:
    """Whom a fact is of. What somebody else of the user side says of themself is theirs, not the user's."""
    if subject_key(named) == THE_USER:
        return source.speaker
    return named


def _in_zone(turn: Turn) -> datetime:
    try:
        return turn.occurred_at.astimezone(ZoneInfo(turn.time_zone))
    except (ZoneInfoNotFoundError, ValueError):
        return turn.occurred_at
