"""Sentences that ask or order without a question mark or a polite word, and those that say nothing."""

from __future__ import annotations

import re

from hindsight_extractor.domain.testimony.signs import signs, signs_at_the_start

_SHORT = 40
_IMPERATIVE = re.compile(
    r"\W*(?:(?:and|also|now|then|ok|please|pls|just)\s+)*(?:make|put|add|remove|drop|delete|replace|move|use|insert|include|change|swap)\b",
    re.IGNORECASE,
)


def orders(sentence: str) -> bool:
    """True if a sentence wants something done with a text, a picture or an answer: "shorter please", 语气别那么冲."""
    changes = signs("edits").search(sentence) or signs("text_tasks").search(sentence)
    edits = bool(signs("edited").search(sentence) and changes)
    if signs("speaker").search(sentence):
        # "remove my name from the title"
        return edits and not signs("subject").search(sentence) and bool(_IMPERATIVE.match(sentence))
    if signs_at_the_start("text_tasks").match(sentence) or signs("imperatives").search(sentence):
        return True
    return edits


def asks_in_form(clause: str) -> bool:
    """True if the order of the words asks: "do people have to …", 下不下雨, 到底是能还是不能."""
    return bool(signs("asking").search(clause))


def chatters(sentence: str) -> bool:
    """True for a sentence of thanks or cheer that says nothing of its speaker."""
    return len(sentence) <= 2 * _SHORT and bool(signs("chatter").search(sentence))


def points_above(sentence: str) -> bool:
    """True if a sentence is a remark about what stands above it in the message: "^ that's what it said"."""
    return bool(signs_at_the_start("points").match(sentence))
