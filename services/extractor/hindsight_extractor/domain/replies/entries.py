"""One item of a reply: what is usable in it, in the project's words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

LONGEST_OBJECT: Final = 300
LONGEST_TEXT: Final = 600
_MOST_PEOPLE: Final = 20
_BETWEEN_NAMES = re.compile(r"\s*[,，、;；]\s*")
_NUMBER = re.compile(r"\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*(%?)\s*$")
_DAY = re.compile(r"\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?(?![\d-])")

# other names for a field, tried in order
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "type": ("type", "kind", "memory_type", "类型"),
    "subject": ("subject", "subj", "entity", "主体", "主语"),
    "predicate": ("predicate", "relation", "relationship", "attribute", "谓词", "关系"),
    "object": ("object", "obj", "value", "target", "客体", "宾语"),
    "summary": ("summary", "event", "description", "摘要"),
    "content": ("content", "text", "sentence", "statement", "内容"),
    "people": ("people", "participants", "persons", "人物"),
    "importance": ("importance", "重要度"),
    "confidence": ("confidence", "置信度"),
    "negated": ("negated", "negation", "否定"),
    "when": ("when", "time", "时间"),
    "date": ("date", "day", "日期"),
    "message": ("message", "message_id", "message_ids", "source"),
}
_TYPES: Final[Mapping[str, Literal["fact", "event"]]] = {
    "fact": "fact",
    "facts": "fact",
    "事实": "fact",
    "event": "event",
    "events": "event",
    "事件": "event",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A valid item. A fact has subject, predicate and object, an event its summary in `content`.

    `importance` and `confidence` are in 0–1, None where the model gave none that could be read. `when` are the
    words that name a time, `date` is `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; both are the model's word, unchecked.
    """

    type: Literal["fact", "event"]
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    content: str | None = None
    people: tuple[str, ...] = ()
    importance: float | None = None
    confidence: float | None = None
    negated: bool = False
    when: str | None = None
    date: str | None = None
    messages: tuple[str, ...] = ()


def is_entry(value: Mapping[str, Any]) -> bool:
    """True if an object has the fields of a fact or of an event."""
    held = _fields(value)
    return ("predicate" in held and "object" in held) or isinstance(held.get("summary"), str)


def read_entries(value: Any, kind: str | None, dropped: Counter[str]) -> Iterator[Entry]:
    """The entries that one element of a reply's list holds: one, or one for each of several objects.

    Reasons in `dropped`: `shape`, `unknown_id` (an operation on an id that nobody offered), `missing` (a field),
    `too_long`.
    """
    if not isinstance(value, Mapping):
        dropped["shape"] += 1
        return
    held = _fields(value)
    said = held.get("type")
    kind = _TYPES.get(said.strip().lower() if isinstance(said, str) else "") or kind
    if kind is None:
        kind = "fact" if "predicate" in held else "event"
    reasons: list[str] = []
    entries = list(_facts(held, reasons) if kind == "fact" else _events(held, reasons))
    if entries:
        yield from entries
    else:
        # nothing was ever offered to be updated or deleted, so an operation counts only if it says a fact whole
        operates = any(name in value for name in ("id", "op", "action", "memory_id"))
        dropped["unknown_id" if operates else reasons[0] if reasons else "missing"] += 1


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    """The known fields under their own names; the first that is not null counts."""
    by_name = {str(name).strip().lower(): held for name, held in value.items()}
    found: dict[str, Any] = {}
    for name, others in _NAMES.items():
        for other in others:
            if by_name.get(other) is not None:
                found[name] = by_name[other]
                break
    return found


def _facts(held: Mapping[str, Any], reasons: list[str]) -> Iterator[Entry]:
    predicate = _text(held.get("predicate"))
    objects = held.get("object")
    for one in objects if isinstance(objects, list) else [objects]:
        said = _text(one)
        if not predicate or not said:
            reasons.append("missing")
        elif len(said) > LONGEST_OBJECT or len(predicate) > LONGEST_OBJECT:
            reasons.append("too_long")
        else:
            sentence = None if isinstance(objects, list) else _text(held.get("content"))
            subject = _text(held.get("subject")) or "user"
            yield _entry(held, "fact", subject=subject, predicate=predicate, object=said, content=sentence)


def _events(held: Mapping[str, Any], reasons: list[str]) -> Iterator[Entry]:
    summary = _text(held.get("summary")) or _text(held.get("content"))
    if not summary:
        reasons.append("missing")
    elif len(summary) > LONGEST_TEXT:
        reasons.append("too_long")
    else:
        yield _entry(held, "event", content=summary)


def _entry(held: Mapping[str, Any], kind: Literal["fact", "event"], **said: str | None) -> Entry:
    content = said.get("content")
    return Entry(
        type=kind,
        subject=said.get("subject"),
        predicate=said.get("predicate"),
        object=said.get("object"),
        content=content if content and len(content) <= LONGEST_TEXT else None,
        people=_names(held.get("people")),
        importance=unit(held.get("importance")),
        confidence=unit(held.get("confidence")),
        negated=_truth(held.get("negated")),
        when=_text(held.get("when")) or None,
        date=_date(held.get("date")),
        messages=_names(held.get("message")),
    )


def _text(value: Any) -> str:
    """The text of a string or a number, white space folded; empty for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, float):
        if not math.isfinite(value):
            return ""
        value = int(value) if value.is_integer() else value
    cleaned = str(value).replace("\x00", "").encode("utf-8", "replace").decode()
    return " ".join(cleaned.split())


def unit(value: Any) -> float | None:
    """A number in 0–1: text is read, what lies outside is clamped; None if there is no number in it."""
    if isinstance(value, str):
        number = _NUMBER.match(value)
        if number is None:
            return None
        value = float(number[1]) / (100 if number[2] else 1)
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(min(max(value, 0.0), 1.0))


def _truth(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("true", "yes", "1", "是")
    return value is True or (isinstance(value, int | float) and value == 1)


def _names(value: Any) -> tuple[str, ...]:
    listed = (
        value if isinstance(value, list) else _BETWEEN_NAMES.split(value) if isinstance(value, str) else []
    )
    names = (_text(name) for name in listed)
    return tuple(dict.fromkeys(name for name in names if name and len(name) <= LONGEST_OBJECT))[:_MOST_PEOPLE]


def _date(value: Any) -> str | None:
    found = _DAY.match(_text(value))
    return found[0] if found else None
