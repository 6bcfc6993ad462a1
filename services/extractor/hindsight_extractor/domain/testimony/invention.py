"""Speech that is not meant as it stands: stories to order, parts in a play, irony, jokes, suppositions."""

from __future__ import annotations

from hindsight_extractor.domain.testimony.reasons import Reason
from hindsight_extractor.domain.testimony.signs import signs, signs_at_the_start

_SHOWS_WITHIN = 4000


def orders_invention(text: str) -> bool:
    """True if a text asks for a story, a scene or made-up people: whoever it says "I" of need not be the writer."""
    found = signs("commissions").search(text, 0, _SHOWS_WITHIN)
    return bool(found) and not signs("for_real").search(text, 0, _SHOWS_WITHIN)


def opens_a_play(text: str) -> bool:
    """True if from this text on both sides play a part."""
    return bool(signs("role_plays").search(text, 0, _SHOWS_WITHIN))


def ends_a_play(text: str) -> bool:
    return bool(signs("role_play_ends").search(text, 0, _SHOWS_WITHIN))


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
