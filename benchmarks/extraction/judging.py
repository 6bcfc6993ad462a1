"""What is right and wrong with the memories that one labelled turn gave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from benchmarks.extraction.labels import EventLabel, FactLabel, Labelled
from hindsight_common.domain.predicates import canonical, object_key, subject_key
from hindsight_common.domain.text import fold_text
from hindsight_common.ports.extraction import ExtractedItem

# at least so sure is what was said without a hedge
FIRM = 0.8


@dataclass(slots=True)
class Verdict:
    """Of one turn. `stored` counts every memory that may be recalled; junk, wrong speakers and leaks are parts of it.

    `right` counts labels that some memory says and `wanted` all of them; a fact is `structured` if it is kept as one
    and not only in the user's words. `neutral` are memories that are neither demanded nor wrong.
    """

    wanted: int = 0
    right: int = 0
    facts_wanted: int = 0
    structured: int = 0
    stored: int = 0
    neutral: int = 0
    junk: int = 0
    wrong_speaker: int = 0
    dated: int = 0
    wrong_date: int = 0
    days_wanted: int = 0
    days_right: int = 0
    too_firm: int = 0
    leaks: int = 0
    recalled_quarantine: int = 0
    mistakes: list[str] = field(default_factory=list)

    def __iadd__(self, other: Verdict) -> Verdict:
        for name in self.__slots__:
            if name != "mistakes":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    @property
    def precision(self) -> float | None:
        """Of the memories that are not neutral, those that a label demands."""
        judged = self.stored - self.neutral
        return (judged - self.junk - self.wrong_speaker) / judged if judged else None

    @property
    def recall(self) -> float | None:
        return self.right / self.wanted if self.wanted else None

    @property
    def junk_rate(self) -> float | None:
        """Of all that is stored, what no label supports."""
        return self.junk / self.stored if self.stored else None


def judge(row: Labelled, items: Iterable[ExtractedItem]) -> Verdict:
    verdict = Verdict(wanted=len(row.facts) + len(row.events), facts_wanted=len(row.facts))
    shown = [item for item in items if item.quarantined is None]
    met: set[FactLabel | EventLabel] = set()
    for item in shown:
        verdict.stored += 1
        if row.quarantine:
            verdict.recalled_quarantine += 1
        _place(row, item, verdict, met)
        for secret in row.never:
            if fold_text(secret) in fold_text(" ".join(filter(None, (item.content, item.object)))):
                verdict.leaks += 1
                verdict.mistakes.append(f"leak of {secret!r}: {item.content!r}")
    verdict.right = len(met)
    verdict.structured = sum(
        any(_says(item, fact) for item in shown if item.type == "fact") for fact in row.facts
    )
    verdict.mistakes += [f"missed {label}" for label in (*row.facts, *row.events) if label not in met]
    _days(row, shown, met, verdict)
    return verdict


def _place(row: Labelled, item: ExtractedItem, verdict: Verdict, met: set[FactLabel | EventLabel]) -> None:
    label, *others = [*_labels_of(row, item), None]
    if label is not None:
        # one sentence in the user's words may say several things
        met.update(each for each in (label, *others) if each is not None and item.type == "event")
        met.add(label)
        days = {each.day for each in (label, *others) if each is not None and each.day is not None}
        # a sentence in the user's words may tell more than the fact, such as when something else happened
        if days or isinstance(label, EventLabel) or item.type == "fact":
            _date(item, days, row, verdict)
        if isinstance(label, FactLabel) and label.tentative and item.confidence >= FIRM:
            verdict.too_firm += 1
            verdict.mistakes.append(f"too firm: {item.content!r}")
        return
    if item.type == "fact" and any(_says(item, may) for may in row.may):
        verdict.neutral += 1
    elif item.type == "fact" and any(_says(item, fact, by_anybody=True) for fact in (*row.facts, *row.may)):
        verdict.wrong_speaker += 1
        verdict.mistakes.append(f"wrong speaker: {item.content!r} ({item.subject})")
    elif item.type == "event" and (row.may_event or any(_restates(item, may) for may in row.may)):
        verdict.neutral += 1
    else:
        verdict.junk += 1
        verdict.mistakes.append(f"junk: {item.content!r} ({item.predicate or 'event'}: {item.object})")


def _labels_of(row: Labelled, item: ExtractedItem) -> Iterator[FactLabel | EventLabel]:
    """The labels that the memory meets, the ones that say most first."""
    if item.type == "fact":
        yield from (fact for fact in row.facts if _says(item, fact))
    else:
        yield from (fact for fact in row.facts if _restates(item, fact))
    text = fold_text(item.content)
    for event in row.events:
        if all(fold_text(word) in text for word in event.words) and (event.words or item.type == "event"):
            yield event


def _says(item: ExtractedItem, label: FactLabel, *, by_anybody: bool = False) -> bool:
    if item.predicate not in label.predicates or item.negated != label.negated:
        return False
    if not by_anybody and _who(item.subject or "") != _who(label.subject):
        return False
    said = object_key(item.predicate, item.object or "")
    return any(object_key(item.predicate, thing) == said for thing in label.objects)


def _who(subject: str) -> str:
    """The key of a subject; "Mum", "mother" and "the user's mom" are one."""
    return canonical(subject_key(subject).removeprefix("user's "))


def _restates(item: ExtractedItem, label: FactLabel) -> bool:
    """A fact in the words of the one who said it: who it is about and what must both be there."""
    text = fold_text(item.content)
    about = label.subject == "user" or fold_text(label.subject) in text
    own = item.speaker == "user" or label.subject != "user"
    return about and own and any(fold_text(thing) in text for thing in label.objects)


def _date(item: ExtractedItem, days: set[date], row: Labelled, verdict: Verdict) -> None:
    resolved = _resolved(item, row)
    if resolved is None:
        return
    verdict.dated += 1
    # the short form says the day of one memory only; the others' are not labelled
    if resolved in days | {row.day_of_any} or (row.kind == "tuning" and not days):
        return
    verdict.wrong_date += 1
    verdict.mistakes.append(f"wrong date: {item.content!r} {resolved}, not {sorted(days)}")


def _resolved(item: ExtractedItem, row: Labelled) -> date | None:
    """The first day of the time that a memory claims; None if it claims none."""
    if item.valid_from is None or item.granularity is None:
        return None
    local = item.valid_from.astimezone(ZoneInfo(row.turn.time_zone)).date()
    match item.granularity:
        case "week":
            return local - timedelta(days=local.weekday())
        case "month":
            return local.replace(day=1)
        case "year":
            return local.replace(month=1, day=1)
    return local


def _days(
    row: Labelled, items: list[ExtractedItem], met: set[FactLabel | EventLabel], verdict: Verdict
) -> None:
    """Days that the text says, and how many of them the memories that were found carry."""
    wanted = {label.day for label in met if label.day is not None} | {row.day_of_any} - {None}
    found = {_resolved(item, row) for item in items}
    verdict.days_wanted += len(wanted)
    verdict.days_right += len(wanted & found)
    verdict.mistakes += [f"no memory of {day}" for day in sorted(d for d in wanted - found if d)]
