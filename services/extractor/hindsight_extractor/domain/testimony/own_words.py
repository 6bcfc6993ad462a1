"""Messages without what is not their writer's own word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hindsight_common.domain.snapshot import snapshots_in
from hindsight_common.ports.extraction import Message
from hindsight_extractor.domain.testimony.dialogues import dialogues_in
from hindsight_extractor.domain.testimony.invention import ends_a_play, opens_a_play, orders_invention
from hindsight_extractor.domain.testimony.materials import GONE, forwarded_in, materials_in
from hindsight_extractor.domain.testimony.passages import (
    code_lines_in,
    encoded_in,
    fences_in,
    foreign_blocks_in,
    quotations_in,
    quoted_lines_in,
)
from hindsight_extractor.domain.testimony.reasons import Reason

Span = tuple[int, int]

# Private signs: the first stands for a passage that was taken out until all steps are done
_INVISIBLE: Final = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ud800-\udfff\ue000]"
)


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage that was taken out of a message, and why."""

    text: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class OwnWords:
    """`text` is what the writer says, without invisible signs; `cuts`, in order of finding, what else stood there."""

    text: str
    cuts: tuple[Cut, ...]


@dataclass(frozen=True, slots=True)
class Testimony:
    """One message of a speaker. `is_invented` = whoever says "I" in it need not be the speaker: nothing counts."""

    message: Message
    words: OwnWords
    is_invented: bool

    @property
    def text(self) -> str:
        """What counts of the message."""
        return "" if self.is_invented else self.words.text


# In this order: what is inside a snapshot or a fence needs no closer look, and a quotation may be what is handed over.
_STEPS: Final[tuple[tuple[Reason, str, Callable[[str], Iterator[Span]]], ...]] = (
    (Reason.SNAPSHOT, f"{GONE}\n", lambda text: iter(snapshots_in(text))),
    (Reason.CODE, f"{GONE}\n", fences_in),
    (Reason.FOREIGN, f"{GONE}\n", foreign_blocks_in),
    (Reason.ENCODED, " ", encoded_in),
    (Reason.FORWARDED, f"{GONE}\n", forwarded_in),
    (Reason.QUOTED, f"{GONE}\n", quoted_lines_in),
    (Reason.CODE, f"{GONE}\n", code_lines_in),
    (Reason.DIALOGUE, f"{GONE}\n\n", dialogues_in),
    (Reason.QUOTED, "“…”", quotations_in),
    (Reason.MATERIAL, "\n", materials_in),
)


def testimonies(messages: Iterable[Message]) -> Iterator[Testimony]:
    """The messages of one speaker in a turn, in order; a play that one of them opens goes on in those behind it."""
    plays = False
    for message in messages:
        words = own_words(message.content)
        plays = (plays and not ends_a_play(words.text)) or opens_a_play(words.text)
        yield Testimony(message, words, plays or orders_invention(words.text))


def own_words(content: str) -> OwnWords:
    """What the writer of a message says in it. Takes time in proportion to the text."""
    text = _INVISIBLE.sub("", content.replace("\r\n", "\n").replace("\r", "\n"))
    cuts: list[Cut] = []
    for reason, instead, find in _STEPS:
        text = _without(text, find(text), instead, reason, cuts)
    return OwnWords(text.replace(GONE, ""), tuple(cuts))


def _without(text: str, spans: Iterator[Span], instead: str, reason: Reason, cuts: list[Cut]) -> str:
    parts: list[str] = []
    at = 0
    for begin, end in spans:
        parts += (text[at:begin], instead)
        if text[begin:end].strip():
            cuts.append(Cut(text[begin:end].strip(), reason))
        at = end
    return "".join((*parts, text[at:])) if parts else text
