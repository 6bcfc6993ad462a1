"""What evidence should have said, from what somebody says instead: keyed, worded and redacted as extraction does it."""

from __future__ import annotations

from collections.abc import Callable

from hindsight_common.domain.decisions import Correction
from hindsight_common.domain.memory import Evidence
from hindsight_common.domain.predicates import object_key, predicate
from hindsight_common.domain.text import normal_key
from hindsight_common.ids import IdFactory, Owner
from hindsight_extractor.domain.evidence import event_id, fact_id
from hindsight_extractor.domain.rules.people import people_in
from hindsight_extractor.domain.rules.prose import language_of, sentences
from hindsight_extractor.domain.wording import fact_sentence

Redact = Callable[[str], str]


def corrected_fact(
    ids: IdFactory, owner: Owner, said: Evidence, instead: str, redact: Redact
) -> Correction | None:
    """The fact that `said` states, with another object, worded anew in its language; None if the object is empty."""
    name, subject = said.predicate or "", said.subject or "user"
    thing, content = _redacted_object(said, instead, redact)
    key = object_key(name, thing)
    if not key:
        return None
    return Correction(
        memory_id=fact_id(ids, owner, said.subject_key or "", name, key, negated=said.negated),
        content=content,
        language=said.language,
        object=thing,
        object_key=key,
        people=(thing,) if predicate(name).value == "person" and subject != thing else (),
    )


def corrected_event(
    ids: IdFactory, owner: Owner, said: Evidence, instead: str, redact: Redact
) -> Correction | None:
    """The event that `said` tells, in other words; None if they say nothing."""
    content = redact(instead)
    if not normal_key(content):
        return None
    return Correction(
        # the offset of the time is that of the zone in which it was told
        memory_id=event_id(ids, owner, said.speaker, content, said.valid_from.date()),
        content=content,
        language=language_of(content),
        people=tuple(dict.fromkeys(name for s in sentences(content) for name in people_in(s, 0))),
    )


def _redacted_object(said: Evidence, instead: str, redact: Redact) -> tuple[str, str]:
    """(object, sentence), redacted where it stands: what a number is called decides whether it is a secret."""
    marked = _sentence(said, "\0")
    before, _, after = marked.partition("\0")
    sentence = redact(before + instead + after)
    if sentence.startswith(before) and sentence.endswith(after):
        thing = redact(sentence[len(before) : len(sentence) - len(after)])
        return thing, before + thing + after
    # the words around it went too; what is left of them is all that may be kept
    return sentence, sentence


def _sentence(said: Evidence, thing: str) -> str:
    written = fact_sentence(
        said.subject or "user",
        said.predicate or "",
        thing,
        "zh" if said.language == "zh" else "en",
        negated=said.negated,
    )
    return written[0].upper() + written[1:] if written.startswith("the user") else written
