"""What a person says, in sentences."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from hindsight_extractor.domain.rules.transcripts import lines_of_others
from hindsight_extractor.domain.rules.word_lists import Language
from hindsight_extractor.domain.testimony.plain_signs import in_plain_signs

# Sentences beyond this length are kept as they are, but no fact is read from them.
LONGEST_READ = 600

_BREAK = re.compile(
    r"(?<=[。!?…])(?![。!?…\"'”’』」)])"
    r"|(?<=[.][\"'”])(?=\s)"
    r"|(?<=\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\b[A-Z]\.)(?=\s)"
    r"|(?<=[A-Z]\.[A-Z]\.)(?=\s+[A-Z][a-z]+\s)"
    r"|\n"
)
# A long quotation is somebody else's words; a short one is a title.
_QUOTATION = re.compile(r'"([^"\n]{1,400})"|“([^“”\n]{1,400})”|「([^「」\n]{1,400})」|『([^『』\n]{1,400})』')
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]+")
_ENGLISH_GLUE = re.compile(
    r"\b(?:i|i'm|my|we|the|is|are|was|and|in|to|love|like|have|of|at|a)\b", re.IGNORECASE
)

HIDDEN = "\x01"


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is what the speaker wrote; `read` is the same, character for character, in simplified characters and
    half-width signs, with long quotations hidden. `is_anothers` = it repeats somebody by name ("Mark: I …").
    """

    text: str
    read: str
    language: Language
    is_anothers: bool = False

    @property
    def is_readable(self) -> bool:
        return len(self.text) <= LONGEST_READ


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text in order, each said once; a line that repeats somebody else stays whole."""
    read = _QUOTATION.sub(_hide, in_plain_signs(text))
    others = list(lines_of_others(read))
    starts = [begin for begin, _ in others]
    seen: set[str] = set()
    begin = 0
    for stop in [*_BREAK.finditer(read), None]:
        end = stop.start() if stop else len(read)
        line = bisect_right(starts, end) - 1
        if stop and line >= 0 and end < others[line][1]:
            continue
        piece = text[begin:end].strip()
        if piece and piece not in seen:
            seen.add(piece)
            shift = begin + len(text[begin:end]) - len(text[begin:end].lstrip())
            aligned = read[shift : shift + len(piece)]
            line = bisect_right(starts, shift) - 1
            is_anothers = line >= 0 and shift < others[line][1]
            yield Sentence(piece, aligned, language_of(piece), is_anothers)
        begin = stop.end() if stop else end


def _hide(found: re.Match[str]) -> str:
    inside = next(group for group in found.groups() if group is not None)
    is_title = len(inside.split()) < 5 and len(_HAN.findall(inside)) < 10
    return found[0] if is_title else found[0][0] + HIDDEN * len(inside) + found[0][-1]


def language_of(text: str) -> Language:
    """The language that carries a sentence in which both may stand."""
    han = len(_HAN.findall(text))
    if not han:
        return "en"
    latin = len(_LATIN.findall(text))
    if han >= 2 * latin or not _ENGLISH_GLUE.search(text):
        return "zh"
    first = re.search(r"[A-Za-z\u3400-\u9fff]", text)
    return "zh" if first and _HAN.match(first[0]) else "en"
