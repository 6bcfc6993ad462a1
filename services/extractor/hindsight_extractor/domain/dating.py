"""When what a model says began or happened: its own words are resolved here, its dates are believed if they can be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hindsight_common.domain.text import normal_key
from hindsight_extractor.domain.replies.entries import Entry
from hindsight_extractor.domain.time_expressions import Granularity, TimeMention, find_times, resolve

_EARLIEST_YEAR: Final = 1900
_YEARS_AHEAD: Final = 50
_GRANULARITIES: Final[tuple[Granularity, ...]] = ("year", "month", "day")


@dataclass(frozen=True, slots=True)
class Dating:
    """`start` is aware, in the speaker's zone; None = at the turn's own time. `words` are the speaker's."""

    start: datetime | None = None
    granularity: Granularity | None = None
    words: str | None = None


def dated(entry: Entry, said: str, at: datetime) -> Dating:
    """The time of an entry that rests on the message `said`, spoken at `at` in the speaker's zone.

    First the words the model copied, if they were said and can be resolved; then its date, if it is plausible. A
    date that is today's own adds nothing where no time was named.
    """
    words = entry.when if entry.when and normal_key(entry.when) in normal_key(said) else None
    if words:
        mention = resolve(words, at) or _around(words, said, at)
        if mention is not None:
            return Dating(mention.start, mention.granularity, words)
    if entry.date is None:
        return Dating(words=words)
    read = _read(entry.date, at)
    if read is None or (words is None and not _names_a_time(said, at, read)):
        return Dating(words=words)
    return Dating(*read, words)


def _around(words: str, said: str, at: datetime) -> TimeMention | None:
    """The mention of the whole message that the words are part of: a tense beside them may decide."""
    wanted = normal_key(words)
    for mention in find_times(said, at):
        if wanted in normal_key(mention.words) or normal_key(mention.words) in wanted:
            return mention
    return None


def _names_a_time(said: str, at: datetime, read: tuple[datetime, Granularity]) -> bool:
    """True if the message names a time, or the date is not the turn's own: then a name like 国庆 stands in it."""
    return bool(find_times(said, at)) or read[0].date() != at.date()


def _read(date: str, at: datetime) -> tuple[datetime, Granularity] | None:
    parts = [int(part) for part in date.split("-")]
    if not _EARLIEST_YEAR <= parts[0] <= at.year + _YEARS_AHEAD:
        return None
    year, month, day = (*parts, 1, 1)[:3]
    try:
        return datetime(year, month, day, tzinfo=at.tzinfo), _GRANULARITIES[len(parts) - 1]
    except ValueError:
        return None
