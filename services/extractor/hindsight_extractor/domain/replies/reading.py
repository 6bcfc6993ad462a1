"""A reply as a whole: what in it is the answer, and what came of the answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hindsight_extractor.domain.replies.entries import Entry, is_entry, read_entries
from hindsight_extractor.domain.replies.loose_json import Found, read_value

# what a reply's parts are called, by this project and by others: name → the type of what stands in it
_LISTS: Final[Mapping[str, str | None]] = {
    "memories": None,
    "memory": None,
    "items": None,
    "results": None,
    "data": None,
    "output": None,
    "facts": "fact",
    "events": "event",
    "ops": None,
    "operations": None,
}
_THOUGHT = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
_THINKS = re.compile(rf"<({_THOUGHT})\b[^<>]*>", re.IGNORECASE)
_THOUGHT_OVER = re.compile(rf"</(?:{_THOUGHT})\s*>", re.IGNORECASE)
_OPENS = re.compile(rf"[{{\[]|</?(?:{_THOUGHT})\b[^<>]*>", re.IGNORECASE)
_REFUSES = re.compile(
    r"\b(?:i(?:'|’)?m\s+sorry|i\s+am\s+sorry|i\s+apologi[sz]e|i\s+can(?:no|(?:'|’))t|i\s+cannot|i(?:'|’)?m\s+(?:not\s+able|unable)"
    r"|as\s+an\s+ai)\b|抱歉|对不起|无法(?:提供|协助|帮助|提取|处理)|不能(?:提供|协助|帮助|提取)|作为(?:一个)?(?:AI|人工智能)",
    re.IGNORECASE,
)
# with every opening bracket a new attempt begins; a reply of nothing but brackets must end sometime
_MOST_ATTEMPTS: Final = 400


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says. `failure` names why it says nothing at all; then there are no entries.

    No entries and no failure = the model found nothing. `is_cut` = the reply ended too early, and what was finished
    by then stands. `dropped` counts the items that could not be taken, by reason.
    """

    entries: tuple[Entry, ...] = ()
    failure: str | None = None
    is_cut: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)


def read_reply(text: str, *, is_cut: bool = False) -> Reading:
    """Reads a reply, whatever it looks like; `is_cut` = the endpoint says that the token budget ended it.

    Failures: `empty`, `thinking` (nothing but thoughts), `refusal`, `prose` (no JSON), `shape` (JSON of another
    form), `unusable` (items, but none of them valid), `cut` (nothing was finished).
    """
    if not text.strip():
        return Reading(failure="empty", is_cut=is_cut)
    answers, only_thought, found_json = _answers(text)
    if not answers:
        return Reading(failure=_why_nothing(text, only_thought, found_json, is_cut), is_cut=is_cut)
    return _read(answers, is_cut)


def _read(answers: list[_Answer], is_cut: bool) -> Reading:
    """The last answer is the one that was meant; items on their own (one a line) count together."""
    whole = [answer for answer in answers if answer.is_whole]
    chosen = whole[-1:] or answers
    cut = is_cut or any(answer.is_cut for answer in chosen)
    dropped: Counter[str] = Counter()
    entries: list[Entry] = []
    for answer in chosen:
        for kind, value in answer.values:
            entries += read_entries(value, kind, dropped)
    unique = tuple(dict.fromkeys(entries))
    if not unique and dropped:
        return Reading(failure="unusable", is_cut=cut, dropped=dropped)
    if not unique and cut:
        return Reading(failure="cut", is_cut=True)
    return Reading(unique, is_cut=cut, dropped=dropped)


def _why_nothing(text: str, only_thought: bool, found_json: bool, is_cut: bool) -> str:
    if only_thought:
        return "thinking"
    if found_json:
        return "shape"
    if _REFUSES.search(text):
        return "refusal"
    return "cut" if is_cut else "prose"


@dataclass(frozen=True, slots=True)
class _Answer:
    """(type, entry) pairs of one JSON value. `is_whole` = it has the form of a reply, not of a single item."""

    values: tuple[tuple[str | None, Any], ...]
    is_whole: bool
    is_cut: bool


def _answers(text: str) -> tuple[list[_Answer], bool, bool]:
    """Every JSON value outside of thoughts that can be an answer, in order; whether all was thought; whether there
    was any JSON.
    """
    answers: list[_Answer] = []
    found_json = thought = False
    outside = ""
    for piece in _outside_thoughts(text):
        if piece is None:
            # a block of thoughts ended whose beginning is not there: what stood before it was thought
            answers, thought, outside = [], True, ""
            continue
        if isinstance(piece, str):
            outside += piece
            continue
        found_json = True
        answer = _answer(piece)
        if answer is not None:
            answers.append(answer)
    thinks = thought or _THINKS.search(text) is not None
    return answers, thinks and not found_json and not outside.strip(), found_json


def _outside_thoughts(text: str) -> Iterator[Found | str | None]:
    """JSON values and the prose between them; None where a block of thoughts ends that was never opened."""
    at = attempts = 0
    while at < len(text):
        mark = _OPENS.search(text, at)
        if mark is None or attempts > _MOST_ATTEMPTS:
            yield text[at:]
            return
        yield text[at : mark.start()]
        at = mark.end()
        if mark[0].startswith("</"):
            yield None
        elif mark[0].startswith("<"):
            over = _THOUGHT_OVER.search(text, at)
            at = over.end() if over else len(text)
        else:
            attempts += 1
            found = read_value(text, mark.start())
            if found is not None:
                at = max(found.end, at)
                yield found


def _answer(found: Found) -> _Answer | None:
    value = found.value
    if isinstance(value, list):
        if value and not any(isinstance(one, dict) for one in value):
            return None
        return _Answer(tuple((None, one) for one in value), True, found.is_cut)
    if not isinstance(value, dict):
        return None
    lists = _lists_in(value, found.is_cut, depth=0)
    if lists is not None:
        return _Answer(tuple(lists), True, found.is_cut)
    if is_entry(value) and not found.is_cut:
        return _Answer(((None, value),), False, False)
    return None


def _lists_in(value: Mapping[str, Any], is_cut: bool, *, depth: int) -> list[tuple[str | None, Any]] | None:
    """What stands in the known lists; None if there is no such list."""
    if depth > 2 or is_entry(value):
        return None
    found: list[tuple[str | None, Any]] | None = None
    for name, held in value.items():
        key = str(name).strip().lower()
        if key not in _LISTS:
            continue
        inner = _lists_in(held, is_cut, depth=depth + 1) if isinstance(held, dict) else None
        if inner is not None:
            found = (found or []) + inner
        elif isinstance(held, list):
            found = (found or []) + [(_LISTS[key], one) for one in held]
        elif held is None:
            found = found or []
        elif isinstance(held, dict) and not is_cut:
            found = (found or []) + [(_LISTS[key], held)]
    return found
