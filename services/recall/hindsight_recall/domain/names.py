"""The stretches of a question that could be somebody's or something's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from hindsight_common.domain.predicates import alias_key, object_key
from hindsight_common.domain.text import fold_text, normal_key

# a name in the graph is looked up whole: words of one, or characters of a Chinese one
MOST_WORDS: Final = 4
MOST_CHARACTERS: Final = 8
# questions are short; of a longer text the beginning has to do
MOST_NAMES: Final = 240

_HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_ATOM: Final = re.compile(rf"(?P<han>[{_HAN}])|[^\s{_HAN}]+")
_ROOM: Final = 8
_OF_A_CHARACTER: Final = _ROOM // MOST_CHARACTERS
_OF_A_WORD: Final = _ROOM // MOST_WORDS


def possible_names(question: str) -> tuple[str, ...]:
    """Keys of all runs of a few words or Chinese characters, mixed ones too; also of what they translate to.

    Distinct, at most `MOST_NAMES`, in the order of the text.
    """
    return tuple(islice(dict.fromkeys(key for key in _keys(fold_text(question)) if key), MOST_NAMES))


def _keys(folded: str) -> Iterator[str | None]:
    for run, chinese in _runs(folded):
        # folded Chinese without a sign in it is its own key
        key = run if chinese else normal_key(run)
        # 我, of or a: no name of one character is worth a look
        if len(key) > 1:
            yield key
            yield alias_key(key) if chinese else object_key("", run)


def _runs(folded: str) -> Iterator[tuple[str, bool]]:
    """Each run, and whether it is Chinese throughout."""
    atoms = [(atom.start(), atom.end(), atom["han"] is not None) for atom in _ATOM.finditer(folded)]
    for first, (start, _, _) in enumerate(atoms):
        room, chinese, before = _ROOM, True, start
        for begin, end, is_han in atoms[first : first + _ROOM]:
            room -= _OF_A_CHARACTER if is_han else _OF_A_WORD
            if room < 0:
                break
            chinese = chinese and is_han and begin == before
            before = end
            yield folded[start:end], chinese
