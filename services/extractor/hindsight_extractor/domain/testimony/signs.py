"""The signs of this package's data files, as regular expressions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

_LANGUAGES: Final = ("en", "zh")
# In English a sign is whole words; in Chinese there are none to see.
_WHOLE: Final = {"en": (r"(?<![\w'])", r"(?!\w)"), "zh": ("", "")}
# Signs that bring their own bounds
_AS_THEY_ARE: Final = frozenset(
    {"irony", "jokes", "mail_heads", "role_play_ends", "edits", "imperatives", "asking", "chatter", "points"}
)


@cache
def signs(name: str) -> re.Pattern[str]:
    """Any sign of that name in either language, anywhere in a text; nothing where no language has one."""
    return re.compile(_either(name), re.IGNORECASE | re.MULTILINE)


@cache
def signs_at_the_start(name: str) -> re.Pattern[str]:
    """The same, to be matched where a sentence or paragraph begins."""
    return re.compile(rf"[\W_]*(?:{_either(name)})", re.IGNORECASE)


@cache
def signs_alone(name: str) -> re.Pattern[str]:
    """The same, for a label that is nothing else."""
    return re.compile(rf"(?:{_either(name)})", re.IGNORECASE)


def _either(name: str) -> str:
    return "|".join(_of(language, name) for language in _LANGUAGES if name in table(f"testimony_{language}"))


def _of(language: str, name: str) -> str:
    before, after = ("", "") if name in _AS_THEY_ARE else _WHOLE[language]
    return f"{before}(?:{'|'.join(table(f'testimony_{language}')[name])}){after}"


def any_sign(expressions: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in expressions), re.MULTILINE)


@cache
def table(name: str) -> Mapping[str, Any]:
    """One TOML file of this package's data."""
    source = resources.files("hindsight_extractor.domain.testimony").joinpath("data", f"{name}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))
