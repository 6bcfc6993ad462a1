"""What is told, apart by when it was: an event is of one time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest

from hindsight_extractor.domain.rules import stance
from hindsight_extractor.domain.rules.brief import brief
from hindsight_extractor.domain.rules.clauses import Clause, Parsed
from hindsight_extractor.domain.rules.events import Telling
from hindsight_extractor.domain.rules.standing import is_put_right
from hindsight_extractor.domain.time_expressions import TimeMention

# Less beside its time, and a part is left with the one before it
_LEAST = 1.0


def apart(said: Parsed, telling: Telling) -> list[Telling]:
    """A telling of a Chinese sentence that names several times, in one for each; any other as it is.

    Clauses without a time of their own stay with those before them.
    """
    if telling.language != "zh" or telling.is_question or len(said.mentions) < 2:
        return [telling]
    groups: list[tuple[TimeMention | None, list[Clause]]] = []
    for clause in telling.clauses:
        mention = _time_in(clause, said)
        if not groups or (mention and groups[-1][0] and not _same(mention, groups[-1][0])):
            groups.append((mention, [clause]))
        else:
            groups[-1] = (groups[-1][0] or mention, [*groups[-1][1], clause])
    if len(groups) < 2 or not all(_tells(said, clauses) for _, clauses in groups):
        return [telling]
    return [
        replace(telling, text=brief(said, telling.start, clauses), mention=mention, clauses=tuple(clauses))
        for mention, clauses in groups
    ]


def by_time(tellings: Iterable[tuple[Telling, str]]) -> list[list[tuple[Telling, str]]]:
    """Chinese tellings in runs of which each names one time at most; all others together, each with its message."""
    groups: list[list[tuple[Telling, str]]] = []
    time: TimeMention | None = None
    for telling, message_id in tellings:
        mention = telling.mention if telling.language == "zh" else None
        if not groups or (mention and time and not _same(mention, time)):
            groups.append([])
            time = None
        groups[-1].append((telling, message_id))
        time = time or mention
    return groups


def _same(one: TimeMention, other: TimeMention) -> bool:
    return (one.start, one.granularity) == (other.start, other.granularity)


def _time_in(clause: Clause, said: Parsed) -> TimeMention | None:
    """The first time that a clause names and means."""
    inside = [mention for mention in said.mentions if clause.begin <= mention.begin < clause.end]
    behind = zip_longest(inside, inside[1:])
    return next((m for m, after in behind if m and not is_put_right(said.sentence.read, m, after)), None)


def _tells(said: Parsed, clauses: Iterable[Clause]) -> bool:
    """True if clauses say something beside their times."""
    hidden = {place for mention in said.mentions for place in range(mention.begin, mention.end)}
    rest = "".join(
        " " if place in hidden else said.sentence.read[place]
        for clause in clauses
        for place in range(clause.begin, clause.end)
    )
    return stance.content_weight(rest, "zh")[0] >= _LEAST
