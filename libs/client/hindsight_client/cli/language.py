"""The language of the person at the terminal."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

OPTION: Final = "--lang"
LANGUAGES: Final = ("zh", "en")


class _Choice:
    """What was asked for on the command line; None = the environment decides."""

    language: str | None = None


def choose_language(arguments: Sequence[str]) -> None:
    """Takes `--lang` before anything is worded: help texts are, when the commands are loaded."""
    _Choice.language = None
    for place, argument in enumerate(arguments):
        if argument == "--":
            return
        name, equals, value = argument.partition("=")
        if name == OPTION:
            _Choice.language = value if equals else (*arguments[place + 1 : place + 2], "")[0]


def speaks_chinese() -> bool:
    """By `--lang`, else by the variables that POSIX names, the first that is set."""
    if _Choice.language is not None:
        return _Choice.language.lower().startswith("zh")
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable):
            return value.lower().startswith("zh")
    return False


def say(english: str, chinese: str) -> str:
    return chinese if speaks_chinese() else english
