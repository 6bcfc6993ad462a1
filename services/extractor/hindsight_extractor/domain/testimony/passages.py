"""Passages of a message that show by their form that nobody says them: code, data, blocks of programs, quotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

Span = tuple[int, int]

_FENCED: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_FOREIGN_BLOCK: Final = re.compile(
    r"<(system|context|documents?|article|page|webpage|email|quote|blockquote|transcript|history|search_results?"
    r"|tool_\w{1,20}|result)\b[^<>]{0,200}>.*?</\1>|<!--.*?(?:-->|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_ENCODED: Final = re.compile(
    r"(?:data:[\w/+.-]+;base64,\S*|(?<!\S)(?:https?://|www\.)\S+|[A-Za-z0-9+/=_-]{48,})"
)
_QUOTED_LINE: Final = re.compile(r"^[ \t]*>(?!>>\s).*$", re.MULTILINE)
_CODE_LINE: Final = re.compile(
    r"^\s*(?:[{}\[\]();]+\s*$|(?:def|class|import|from\s+\S+\s+import|function|var|const|public|private|static|return"
    r"|#include|package|using\s+namespace)\b.*[;:({)\w]\s*$(?<![.!?])|\$\s|>>>\s|</?\w+[^>]*>\s*$|\"[\w-]+\"\s*:"
    r"|\S.*[{;]\s*$|(?:SELECT|INSERT|UPDATE|DELETE)\s.*\b(?:FROM|INTO|SET)\b|at\s+[\w.$]+\("
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\[?(?:ERROR|WARN|INFO|DEBUG)\b|Traceback\s)"
)
_CODE_STARTS_IN_PROSE: Final = re.compile(
    r"^\s*(?:from|return|import|class|using)\s+(?:the|my|a|it|this|that|school)\b", re.IGNORECASE
)
# Single quotes quote where they cannot be apostrophes
_QUOTATION: Final = re.compile(
    r'"[^"\n]{1,2000}"|“[^“”\n]{1,2000}”|「[^「」]{1,4000}」|『[^『』]{1,4000}』'
    r"|(?:(?<=[::] )|(?<=[::]))['‘][^'‘’\n]{20,2000}?(?:['’](?=\w)[^'‘’\n]{1,400}?){0,20}['’](?!\w)"
)
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
# Somebody speaks, and the quotation is what they told: part of what happened
_TELLS: Final = re.compile(
    r"(?:\b(?:said|says|told (?:me|us|him|her|them)|asked|replied|texted|yelled|whispered|called me"
    r"|goes|was like|say)\b[^.!?\n]{0,12}"
    r"|(?:说|告诉我|问我?|回我|喊|跟我讲|嘀咕|回答)(?:了|道|过)?[,，::]?\s*)$",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(r"\w")
_LONGEST_TITLE: Final = (4, 9)
_LONGEST_SPEECH: Final = (14, 28)


def fences_in(text: str) -> Iterator[Span]:
    if "```" in text or "~~~" in text:
        yield from (found.span() for found in _FENCED.finditer(text))


def foreign_blocks_in(text: str) -> Iterator[Span]:
    """Blocks that programs put into messages: documents, results of searches, hidden comments."""
    if "<" in text:
        yield from (found.span() for found in _FOREIGN_BLOCK.finditer(text))


def encoded_in(text: str) -> Iterator[Span]:
    """Addresses and encoded data."""
    yield from (found.span() for found in _ENCODED.finditer(text))


def quoted_lines_in(text: str) -> Iterator[Span]:
    """Lines that are marked as quoted, as letters do."""
    if ">" in text:
        yield from (found.span() for found in _QUOTED_LINE.finditer(text))


def code_lines_in(text: str) -> Iterator[Span]:
    """Lines of code or of a log; none in a message of one line."""
    if "\n" not in text:
        return
    at = 0
    for line in text.split("\n"):
        if _CODE_LINE.match(line[:400]) and not _CODE_STARTS_IN_PROSE.match(line[:60]):
            yield at, at + len(line)
        at += len(line) + 1


def quotations_in(text: str) -> Iterator[Span]:
    """Long quotations: somebody else's words. A short one is a title, and a few words that somebody is told to have
    said belong to what happened.
    """
    for found in _QUOTATION.finditer(text):
        words, han = len(found[0].split()), len(_HAN.findall(found[0]))
        told = bool(_TELLS.search(text[max(0, found.start() - 40) : found.start()]))
        most_words, most_han = _LONGEST_SPEECH if told else _LONGEST_TITLE
        is_all_there_is = not text[: found.start()].strip() and not _WORDS.search(text, found.end())
        if (words > most_words or han > most_han) and not is_all_there_is:
            yield found.span()
