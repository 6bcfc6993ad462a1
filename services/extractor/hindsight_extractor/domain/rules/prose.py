"""What a person wrote of a message, in sentences: no code, no pasted data, no quoted lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from hindsight_common.domain.snapshot import without_snapshots
from hindsight_common.domain.text import simplify
from hindsight_extractor.domain.rules.transcripts import lines_of_others
from hindsight_extractor.domain.rules.word_lists import Language

# Sentences beyond this length are kept as they are, but no fact is read from them.
LONGEST_READ = 600

_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ud800-\udfff]"
)
_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_FOREIGN_BLOCK = re.compile(
    r"<(system|context|document)\b[^<>]{0,200}>.*?</\1>",
    re.DOTALL | re.IGNORECASE,
)
_PASTED = re.compile(r"(?:data:[\w/+.-]+;base64,\S*|(?<!\S)(?:https?://|www\.)\S+|[A-Za-z0-9+/=_-]{48,})")
_CODE_LINE = re.compile(
    r"^\s*(?:>|[{}\[\]();]+\s*$|(?:def|class|import|from\s+\S+\s+import|function|var|const|public|private|static|return"
    r"|#include|package|using\s+namespace)\b.*[;:({)\w]\s*$(?<![.!?])|\$\s|>>>\s|</?\w+[^>]*>\s*$|\"[\w-]+\"\s*:"
    r"|\S.*[{;]\s*$|(?:SELECT|INSERT|UPDATE|DELETE)\s.*\b(?:FROM|INTO|SET)\b|at\s+[\w.$]+\("
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\[?(?:ERROR|WARN|INFO|DEBUG)\b|Traceback\s)"
)
_CODE_STARTS_IN_PROSE = re.compile(
    r"^\s*(?:from|return|import|class|using)\s+(?:the|my|a|it|this|that|school)\b", re.IGNORECASE
)
_BREAK = re.compile(
    r"(?<=[。!?…])(?![。!?…\"'”’』」)])"
    r"|(?<=[.][\"'”])(?=\s)"
    r"|(?<=\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\b[A-Z]\.)(?=\s)"
    r"|(?<=[A-Z]\.[A-Z]\.)(?=\s+[A-Z][a-z]+\s)"
    r"|\n"
)
# A long quotation is somebody else's words; a short one is a title.
_QUOTATION = re.compile(r'"([^"\n]{1,400})"|“([^“”\n]{1,400})”|「([^「」\n]{1,400})」|『([^『』\n]{1,400})』')
_ONE_TO_ONE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    ord(mark): plain
    for mark, plain in {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "`": "'",
        "\u3000": " ",
        "\u00a0": " ",
        "，": ",",
        "｡": "。",
    }.items()
}
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


def written_text(content: str) -> str:
    """The message without code, logs, addresses, encoded data, quoted lines, injected blocks and invisible signs."""
    text = _INVISIBLE.sub("", content.replace("\r\n", "\n").replace("\r", "\n"))
    if "```" in text or "~~~" in text:
        text = _FENCED.sub("\n", text)
    if "<" in text:
        text = _FOREIGN_BLOCK.sub("\n", without_snapshots(text))
    text = _PASTED.sub(" ", text)
    if "\n" not in text and not text.startswith(">"):
        return text
    return "\n".join(line for line in text.split("\n") if not _is_code(line))


def _is_code(line: str) -> bool:
    return bool(_CODE_LINE.match(line[:400])) and not _CODE_STARTS_IN_PROSE.match(line[:60])


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text in order, each said once; a line that repeats somebody else stays whole."""
    read = _QUOTATION.sub(_hide, simplify(text).translate(_ONE_TO_ONE))
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
