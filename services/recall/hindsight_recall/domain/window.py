"""Which of a session's last utterances a snapshot shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_common.ports.working_memory import Utterance


@dataclass(frozen=True, slots=True)
class Heard:
    """`similarity` to the query is calibrated, 0–1; None = it was not measured. The latest exchange is kept always."""

    utterance: Utterance
    similarity: float | None
    is_latest: bool


def latest_exchange(utterances: Sequence[Utterance]) -> int:
    """How many of the last utterances belong to the latest exchange: the user's and the reply to it.

    Where the user spoke last there is no reply yet: then the exchange before belongs to it too, since that is what
    "and the battery?" speaks of.
    """
    place = len(utterances)
    while place and utterances[place - 1].speaker == "user":
        place -= 1
    while place and utterances[place - 1].speaker == "assistant":
        place -= 1
    while place and utterances[place - 1].speaker == "user":
        place -= 1
    return len(utterances) - place


def window(
    utterances: Sequence[Utterance], similarities: Sequence[float | None], threshold: float
) -> tuple[Heard, ...]:
    """The latest exchange, and of what was said before it what is similar enough; oldest first."""
    first_of_latest = len(utterances) - latest_exchange(utterances)
    heard = (
        Heard(utterance, similarity, place >= first_of_latest)
        for place, (utterance, similarity) in enumerate(zip(utterances, similarities, strict=True))
    )
    return tuple(h for h in heard if h.is_latest or (h.similarity or 0.0) > threshold)
