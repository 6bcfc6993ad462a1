"""Kinds of Chinese objects: lists of words, and endings for what no list holds whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from hindsight_common.domain.text import fold_text
from hindsight_extractor.domain.rules.word_lists import read_data

# 两只, 一家, 四十五缸: what stands before a thing that is counted
_AMOUNT = re.compile(
    r"(?:第?(?:[一二两三四五六七八九十百几半俩仨]+|\d+)(?:来|多|几)?"
    r"[只条个名位匹头缸窝箱群对辆台片粒颗杯瓶盒针口家间张份枚把架部套所]"
    r"|[只条个辆台部架间家])(?=.)"
)
_LONGEST = 12


@dataclass(frozen=True, slots=True)
class Kind:
    """The words of a kind, what further ones end in, and what none of those holds."""

    words: frozenset[str]
    endings: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def holds(self, text: str) -> bool:
        """True if a text, as a whole, is of the kind."""
        folded = fold_text(text)
        if folded in self.words:
            return True
        if len(folded) > _LONGEST or not folded.endswith(self.endings):
            return False
        return folded not in self.endings and not any(word in folded for word in self.without)


@cache
def kind(name: str) -> Kind:
    """A kind of `data/kinds_zh.toml`."""
    table = read_data("kinds_zh.toml")
    return Kind(
        words=frozenset(fold_text(word) for word in table["kinds"][name].split()),
        endings=tuple(table["endings"].get(name, "").split()),
        without=tuple(table["no_ending"].get(name, "").split()),
    )


@cache
def words_of_kinds() -> dict[str, tuple[str, ...]]:
    """The words of every kind, for patterns that name one in angle brackets."""
    return {name: tuple(words.split()) for name, words in read_data("kinds_zh.toml")["kinds"].items()}


def amount_length(text: str) -> int:
    """How much of the beginning of a text says how many: 2 in 两只猫."""
    found = _AMOUNT.match(text)
    return found.end() if found else 0
