"""The language of the person at the terminal."""

from __future__ import annotations

import os


def speaks_chinese() -> bool:
    """By the variables that POSIX names, the first that is set."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable):
            return value.lower().startswith("zh")
    return False


def say(english: str, chinese: str) -> str:
    return chinese if speaks_chinese() else english
