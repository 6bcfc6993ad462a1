"""Speech that is not meant as it stands: stories to order, parts in a play, irony, jokes, suppositions."""

from __future__ import annotations

import re

from hindsight_extractor.domain.testimony.plain_signs import in_plain_signs
from hindsight_extractor.domain.testimony.reasons import Reason
from hindsight_extractor.domain.testimony.signs import signs, signs_at_the_start

_SHOWS_WITHIN = 4000
_BEFORE = 24
# "I love to write stories" and 我在写小说 order nothing
_WRITES_THEMSELF = re.compile(
    r"\b(?:i|i'm|we|he|she|they|who|daughter|son|kids?|wife|husband|friend)\s+(?:(?!you\b|u\b)[\w']+\s+){0,3}$"
    r"|(?<![帮给替为让])[我她他们][^,。!?,你]{0,8}$",
    re.IGNORECASE,
)


def orders_invention(text: str) -> bool:
    """True if a text asks for a story, a scene or made-up people: whoever it says "I" of need not be the writer."""
    text = in_plain_signs(text[:_SHOWS_WITHIN])
    if signs("for_real").search(text):
        return False
    found = signs("commissions").finditer(text)
    return any(
        not _WRITES_THEMSELF.search(text[max(0, one.start() - _BEFORE) : one.start()]) for one in found
    )


def opens_a_play(text: str) -> bool:
    """True if from this text on both sides play a part."""
    return bool(signs("role_plays").search(in_plain_signs(text[:_SHOWS_WITHIN])))


def ends_a_play(text: str) -> bool:
    return bool(signs("role_play_ends").search(in_plain_signs(text[:_SHOWS_WITHIN])))


def not_meant(sentence: str) -> Reason | None:
    """Why a sentence must not be taken at its word; None if it may."""
    if signs("irony").search(sentence):
        return Reason.IRONY
    if signs("jokes").search(sentence):
        return Reason.JOKE
    return None


def only_supposes(sentence: str) -> bool:
    """True if a sentence begins by supposing what is not so."""
    return bool(signs_at_the_start("supposes").match(sentence))


def asks_idly(text: str) -> bool:
    """True if a text says that what it asks about is nobody's case."""
    return bool(signs("idle").search(text))


def doubts(sentence: str) -> bool:
    """True if the speaker is not sure of what the sentence says."""
    return bool(signs("doubts").search(sentence))
