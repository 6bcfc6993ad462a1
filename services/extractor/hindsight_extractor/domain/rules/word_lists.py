"""The word lists of a language, and regular expressions made of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

Language = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class Weight:
    """An event that holds one of the words (`pattern`) matters this much, 0–1."""

    importance: float
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Words:
    """`relations` maps a relation's word to its predicate, `kinds` names closed lists of objects."""

    lists: Mapping[str, tuple[str, ...]]
    relations: Mapping[str, str]
    kinds: Mapping[str, tuple[str, ...]]
    weights: tuple[Weight, ...]

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self.lists[name]


@cache
def words_of(language: Language) -> Words:
    """The word lists of `data/words_<language>.toml`."""
    table = read_data(f"words_{language}.toml")
    weights = tuple(Weight(w["importance"], any_of(w["words"], language)) for w in table.pop("weight"))
    relations, kinds = table.pop("relations"), table.pop("kinds")
    lists = {name: tuple(words) for name, words in table.items()}
    if language == "en":
        _join_kinds(kinds, read_data("kinds_en.toml")["kinds"])
    return Words(lists, relations, {name: tuple(words) for name, words in kinds.items()}, weights)


def _join_kinds(kinds: dict[str, list[str]], longer: Mapping[str, str]) -> None:
    """Adds the words of lists written with commas between them to those of the same name."""
    for name, words in longer.items():
        each = (" ".join(word.split()) for word in words.split(","))
        kinds[name] = [*kinds.get(name, ()), *(word for word in each if word)]


@cache
def given_names() -> frozenset[str]:
    """Given names of the English-speaking world, in lower case."""
    source = resources.files("hindsight_common").joinpath("data", "words", "given_names.txt")
    lines = source.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def read_data(name: str) -> dict[str, Any]:
    """One TOML file of this package's data."""
    source = resources.files("hindsight_extractor.domain.rules").joinpath("data", name)
    return tomllib.loads(source.read_text(encoding="utf-8"))


def alternatives(words: Iterable[str]) -> str:
    """A regular expression for any of the words, longest first; a space in a word is any white space."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in ordered) + ")"


def any_of(words: Iterable[str], language: Language) -> re.Pattern[str]:
    """Finds any of the words: whole ones in English, anywhere in Chinese."""
    if language == "zh":
        return re.compile(alternatives(words), re.IGNORECASE)
    return re.compile(rf"(?<![\w']){alternatives(words)}(?![\w])", re.IGNORECASE)
