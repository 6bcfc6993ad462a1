"""The language of snapshots: its tags, how text is made harmless inside them, and how they are found again.

A snapshot is the block of memory in a prompt. Whoever writes one and whoever must not read it back as something new
speak of the same tags here.
"""

from __future__ import annotations

import re
from typing import Final

from hindsight_common.domain.text import without_invisible

SNAPSHOT: Final = "MEMORY_SNAPSHOT"
WORKING: Final = "WORKING_MEMORY"
EPISODIC: Final = "EPISODIC_MEMORY"
SEMANTIC: Final = "SEMANTIC_MEMORY"
DIRECTIVES: Final = ("MEMORIZE", "FORGET")

# also one that is never closed, and the layers of one whose frame was lost
_BLOCK: Final = re.compile(
    rf"<({'|'.join((SNAPSHOT, *DIRECTIVES, WORKING, EPISODIC, SEMANTIC))})\b[^<>]{{0,200}}>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
# No tag can be made of ‹ and ›, and they read much the same. Beside < and > stand what text becomes them when it is
# normalised (struck through, small, full-width) and what only looks like them.
_BRACKETS: Final = str.maketrans("<≮﹤＜˂ᐸ❮>≯﹥＞˃ᐳ❯", "‹‹‹‹‹‹‹›››››››")


def without_snapshots(text: str) -> str:
    """The text without snapshots and directives: what is shown to an agent is not said again by that."""
    return _BLOCK.sub("\n", text) if "<" in text else text


def harmless(text: str) -> str:
    """The text on one line, unable to open or close a tag, whatever stands in it.

    Angle brackets of any width become ‹ and ›, line breaks and control characters spaces, and invisible characters go.
    """
    return _SPACE.sub(" ", without_invisible(text)).strip().translate(_BRACKETS)
