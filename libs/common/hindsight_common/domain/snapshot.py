"""The language of snapshots: its tags, how text is made harmless inside them, and how they are found again.

A snapshot is the block of memory in a prompt. Whoever writes one and whoever must not read it back as something new
speak of the same tags here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindsight_common.domain.text import without_invisible

SNAPSHOT: Final = "MEMORY_SNAPSHOT"
WORKING: Final = "WORKING_MEMORY"
EPISODIC: Final = "EPISODIC_MEMORY"
SEMANTIC: Final = "SEMANTIC_MEMORY"
DIRECTIVES: Final = ("MEMORIZE", "FORGET")

_Span = tuple[int, int]

# A tag in any brackets that a program or a person puts in their place, and with its words joined by anything: escaped
# for HTML or Markdown, full-width, translated, broken over two lines.
_OPENS: Final = r"(?:\\?<|[＜‹﹤〈《【]|\\?\[|&(?:lt|\#60|\#x3c);)"
_ENDS: Final = r"(?:\\?>|[＞›﹥〉》】]|\\?\]|&(?:gt|\#62|\#x3e);)"
_JOIN: Final = r"[\s_\\-]{0,4}"
_NAMES: Final = "|".join(
    [
        *(name.replace("_", _JOIN) for name in (SNAPSHOT, WORKING, EPISODIC, SEMANTIC)),
        r"[记記][忆憶]快照|工作[记記][忆憶]|情[景节節][记記][忆憶]|[语語][义義][记記][忆憶]",
    ]
)
_TAG: Final = re.compile(
    rf"{_OPENS}\s{{0,4}}(?P<close>/\s{{0,4}})?(?P<name>{_NAMES})(?![\w])[^<>\n]{{0,200}}?{_ENDS}"
    rf"|(?:\\?<|[＜‹]|&lt;)\s{{0,4}}(?P<closing>/\s{{0,4}})?"
    rf"(?P<word>{'|'.join(DIRECTIVES)}|(?:recalled|user|relevant|long[_-]?term)?[\s_-]?memor(?:y|ies))\b"
    rf"[^<>\n]{{0,200}}(?:\\?>|[＞›]|&gt;)",
    re.IGNORECASE,
)
_NOT_A_LETTER: Final = re.compile(r"[\W_]+")
# "#include <memory>" opens nothing
_OF_OURS: Final = frozenset(
    name.replace("_", "").casefold() for name in (SNAPSHOT, WORKING, EPISODIC, SEMANTIC, *DIRECTIVES)
) | {"记忆快照", "記憶快照"}
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")
# Lines that nobody but the builder of a snapshot writes; whoever quotes them may have lost the tags around them.
_QUOTE_MARKS: Final = r"^[^\S\n]*(?:(?:>|[-*•])[^\S\n]*){0,4}"
_LINE: Final = re.compile(
    rf"{_QUOTE_MARKS}\d{{1,3}}\.\s{{0,3}}\[(?:fact|event)\]"
    r"(?:(?:(?!\n[^\S\n]*\n)[\s\S]){0,600}?\((?:重要度|importance)\s{0,3}[:：]\s{0,3}[\d.]+\)|.*$)"
    rf"|{_QUOTE_MARKS}\[[UA]\d{{1,2}}\][^\S\n]*(?:用户|助手|User|Assistant)[^\S\n]*[:：].*$"
    rf"|{_QUOTE_MARKS}\[(?:WORKING|EPISODIC|SEMANTIC)\][^\S\n].*$"
    r"|\([^()\n]{1,120}\)-\[[A-Z_]{2,40}\]->\([^()\n]{1,200}\)[;；]?",
    re.IGNORECASE | re.MULTILINE,
)
_MAY_HOLD: Final = re.compile(
    r"memor|[记記][忆憶]|forget|\[(?:fact|event|[UA]\d)|\]->|\[(?:WORK|EPISOD|SEMANT)", re.IGNORECASE
)

_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
# No tag can be made of ‹ and ›, and they read much the same. Beside < and > stand what text becomes them when it is
# normalised (struck through, small, full-width) and what only looks like them.
_BRACKETS: Final = str.maketrans("<≮﹤＜˂ᐸ❮>≯﹥＞˃ᐳ❯", "‹‹‹‹‹‹‹›››››››")


def without_snapshots(text: str) -> str:
    """The text without snapshots and directives: what is shown to an agent is not said again by that."""
    parts: list[str] = []
    at = 0
    for begin, end in snapshots_in(text):
        parts += (text[at:begin], "\n")
        at = end
    return "".join((*parts, text[at:]))


def snapshots_in(text: str) -> list[tuple[int, int]]:
    """Where snapshots and directives stand, in order and apart, however they are quoted.

    One that is never closed goes to the end of the text, one whose beginning is lost from the last blank line on. The
    lines of a snapshot are known without its tags as well.
    """
    if not _MAY_HOLD.search(text):
        return []
    blocks = list(_blocks(text))
    lines = [found.span() for found in _LINE.finditer(text)]
    return _joined(sorted(blocks + lines))


def _blocks(text: str) -> Iterator[_Span]:
    """Each block with its tags; what stands inside another is part of it. A tag is closed in the brackets that it was
    opened in: text that `harmless` tamed cannot close the block that holds it.
    """
    opened: tuple[int, str, str] | None = None
    past = 0
    for tag in _TAG.finditer(text):
        bracket = tag[0].lstrip("\\")[0]
        kind = _NOT_A_LETTER.sub("", (tag["name"] or tag["word"]).casefold())
        if opened is None and (tag["close"] or tag["closing"]):
            blank = [found.end() for found in _BLANK_LINE.finditer(text, past, tag.start())]
            yield (blank[-1] if blank else past), tag.end()
            past = tag.end()
        elif opened is None:
            opened = tag.start(), kind, bracket
        elif (kind, bracket) == opened[1:] and (tag["close"] or tag["closing"]):
            yield opened[0], tag.end()
            past, opened = tag.end(), None
    if opened and opened[1] in _OF_OURS:
        yield opened[0], len(text)


def _joined(spans: list[_Span]) -> list[_Span]:
    joined: list[_Span] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


def harmless(text: str) -> str:
    """The text on one line, unable to open or close a tag, whatever stands in it.

    Angle brackets of any width become ‹ and ›, line breaks and control characters spaces, and invisible characters go.
    """
    return _SPACE.sub(" ", without_invisible(text)).strip().translate(_BRACKETS)
