"""Texts that somebody hands over for something to be done with them: whoever wrote them, it is no word of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hindsight_extractor.domain.testimony.plain_signs import in_plain_signs
from hindsight_extractor.domain.testimony.signs import signs, signs_at_the_start

Span = tuple[int, int]

_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_ENDS: Final = re.compile(r"[.!?。！？\n]")
_HANDS_OVER: Final = re.compile(r"(?<!\d)[:：](?!//)\s*|(?<=\d)[:：](?!\d)\s*")
GONE: Final = "\ue000"
_QUOTATION_GONE: Final = "“…”"
# A text that a task names without a colon: "translate 'good morning' to Finnish"
_QUOTES: Final = re.compile(
    r"\s*(?:(?:this|the)\s+(?:\w+\s+)?|一下|下)?(?P<said>['‘][^\n]{2,400}?['’](?!\w)|[\"“「][^\"”」\n]{1,400}[\"”」])"
)
# What a task is about was found and taken out before
_GONE_ALREADY: Final = re.compile(rf"\s*{GONE}")
# An English verb orders only where a sentence begins or behind words that ask
_ASKED: Final = re.compile(
    r"(?:^|[\n.!?,;:()\"'…-]|[\u3000-\uffef]|\b(?:please|pls|plz|kindly|just|you|u|me|to|and|then|now|help|need|want|for|or|a|the))\s*$",
    re.IGNORECASE,
)
# A longer paragraph before the task is what the task is about
_LONG: Final = 300
_SHORT_TASK: Final = 160
_ONLY_A_TASK: Final = 30
# of the first paragraph, and of its sentence behind the task
_FIRST: Final = 2000
_REACH: Final = 60


# The ways to hand a text over, and those that are clear enough anywhere in a message
_WAYS: Final = ("text_tasks", "tasks_of_it", "received", "looks_at", "letters")
_PLAIN_WAYS: Final = ("text_tasks", "letters")


@dataclass(frozen=True, slots=True)
class _Task:
    """A sign of that name, and where the colon ends that its sentence has behind it."""

    name: str
    found: re.Match[str]
    colon_end: int | None


def forwarded_in(text: str) -> Iterator[Span]:
    """From the head of a forwarded letter to the end."""
    found = signs("mail_heads").search(in_plain_signs(text))
    if found:
        yield found.start(), len(text)


def materials_in(text: str) -> Iterator[Span]:
    """What stands behind "translate:", "this came from HR:" and the like, to the end or to where the writer speaks
    again; and all that stands before "summarise the above".
    """
    text = in_plain_signs(text)
    paragraphs = list(_paragraphs(text))
    if not paragraphs:
        return
    above = _asked_about(text, paragraphs)
    if above is not None:
        yield paragraphs[0][0], above
        return
    handed = _handed_over(text, paragraphs)
    if handed is not None:
        begin, line_end = handed
        end = next(
            (b for b, _ in paragraphs if b > begin and signs_at_the_start("returns").match(text, b)),
            len(text),
        )
        if text[begin : min(end, line_end)].strip():
            yield begin, min(end, line_end)


def _paragraphs(text: str) -> Iterator[Span]:
    begin = len(text) - len(text.lstrip())
    for gap in _BLANK_LINE.finditer(text, begin):
        yield begin, gap.start()
        begin = gap.end()
    if text[begin:].strip():
        yield begin, len(text)


def _asked_about(text: str, paragraphs: list[Span]) -> int | None:
    """Where the last paragraph begins, if it asks for something to be done with what stands before it."""
    begin, end = paragraphs[-1]
    if len(paragraphs) < 2 or end - begin > _SHORT_TASK:
        return None
    asks = signs("text_tasks").search(text, begin, end)
    colon = _HANDS_OVER.search(text, begin, end)
    if asks is None or (colon and colon.end() < end):
        return None
    only_asks = end - begin <= _ONLY_A_TASK and signs_at_the_start("text_tasks").match(text, begin)
    if only_asks or signs("above").search(text, begin, end):
        return begin
    return begin if begin > _LONG and signs("handed").search(text, begin, end) else None


def _handed_over(text: str, paragraphs: list[Span]) -> Span | None:
    """Where a text that is handed over begins, and where it must end at the latest."""
    for number, paragraph in enumerate(paragraphs):
        is_last = number == len(paragraphs) - 1
        for name in _WAYS if number == 0 else _PLAIN_WAYS:
            for found in _tasks(text, paragraph, name):
                handed = _by(found, text, paragraph, is_last=is_last)
                if handed:
                    return handed
    return None


def _tasks(text: str, paragraph: Span, name: str) -> Iterator[_Task]:
    """What a paragraph says of a text that it may hand over."""
    begin, end = paragraph
    is_order = name in ("text_tasks", "tasks_of_it")
    for found in signs(name).finditer(text, begin, min(end, begin + _FIRST)):
        if is_order and not _ASKED.search(text[max(0, found.start() - 12) : found.start()]):
            continue
        behind = text[found.end() : min(end, found.end() + _REACH)]
        colon = _HANDS_OVER.search(behind)
        between = behind[: colon.start()] if colon else behind
        if name == "tasks_of_it" and not signs("handed").search(between):
            continue
        if name == "letters" and not _opens_a_letter(colon, behind):
            continue
        reaches = colon is not None and not _SENTENCE_ENDS.search(between)
        yield _Task(name, found, found.end() + colon.end() if colon and reaches else None)


def _by(task: _Task, text: str, paragraph: Span, *, is_last: bool) -> Span | None:
    """What a task hands over; None if that was taken out before, or nothing follows."""
    end = paragraph[1]
    quoted = _QUOTES.match(text, task.found.end()) if task.name == "text_tasks" else None
    if quoted:
        return quoted.span("said")
    if _GONE_ALREADY.match(text, end if task.colon_end is None else task.colon_end):
        return None
    if task.colon_end is not None:
        return _behind_colon(text, task.colon_end, end)
    return (end, len(text)) if not is_last and _stands_alone(text, task, paragraph) else None


def _opens_a_letter(colon: re.Match[str] | None, behind: str) -> bool:
    """True if "my landlord wrote" is followed by a colon at the end of its line."""
    return colon is not None and colon.start() == 0 and ("\n" in colon[0] or colon.end() == len(behind))


def _behind_colon(text: str, begin: int, paragraph_end: int) -> Span:
    """A quotation is all that is handed over of its line; anything else goes on to the end of the message."""
    if text.startswith(_QUOTATION_GONE, begin):
        line_end = text.find("\n", begin)
        return begin, line_end if line_end >= 0 else paragraph_end
    return begin, len(text)


def _stands_alone(text: str, task: _Task, paragraph: Span) -> bool:
    """True if a short paragraph asks for something to be done with a text, and the text can only follow."""
    begin, end = paragraph
    if end - begin > _SHORT_TASK or task.name in ("looks_at", "letters"):
        return False
    if task.name == "received":
        return bool(signs("handed").search(task.found[0])) or task.found.end() >= end - 1
    return bool(signs("handed").search(text, begin, end)) or task.found.start() - begin < 4
