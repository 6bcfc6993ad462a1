"""Our own blocks in what people and agents write: a recalled memory is not said again by being shown again."""

from __future__ import annotations

import re

_BLOCK = re.compile(
    r"<(MEMORY_SNAPSHOT|MEMORIZE|FORGET|WORKING_MEMORY|EPISODIC_MEMORY|SEMANTIC_MEMORY)\b[^<>]{0,200}>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)


def without_injected(text: str) -> str:
    """The text without snapshots and directives, also those that are never closed."""
    return _BLOCK.sub("\n", text) if "<" in text else text
