"""Folding of text, so that the same thing written in two ways compares equal.

Width, case, accents, invisible characters and Chinese script variants (traditional, simplified) are folded.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib import resources

_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000e-\u001b\u007f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_ACCENTED = re.compile("([a-z])[\u0300-\u036f]+")
# Latin letters whose stroke or ligature has no canonical decomposition
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "ħ": "h"})

# In a key: dots and underscores inside a word tell things apart (B.O.B and Bob, a.b@x.org and ab@x.org),
# so do slashes and colons inside a number (1/2 and 12) and the sign before one.
_KEY_NOISE = re.compile(
    r"[\s!\"'()*,;<=>?\[\\\]^`{|}~]+"
    r"|(?<![0-9a-z])[._]|[._](?![0-9a-z])"
    r"|(?<!\d)[/:]|[/:](?!\d)"
    r"|-(?!\d)|(?<=\w)-"
)


class _NoPunctuation(dict[int, str | None]):
    """Translation table that drops punctuation and separators beyond ASCII, filled as characters are met."""

    def __missing__(self, code: int) -> str | None:
        category = unicodedata.category(chr(code))
        kept = None if code > 127 and category[0] in "PZC" else chr(code)
        self[code] = kept
        return kept


_NO_PUNCTUATION = _NoPunctuation()


@cache
def simplified_characters() -> dict[int, str]:
    """Translation table of traditional Chinese characters to simplified ones, one to one."""
    table = resources.files("hindsight_common").joinpath("data/traditional_to_simplified.txt")
    pairs = table.read_text(encoding="utf-8").replace("\n", "")
    return {ord(pairs[i]): pairs[i + 1] for i in range(0, len(pairs), 2)}


def simplify(text: str) -> str:
    """The text with each traditional Chinese character simplified; its length stays the same."""
    return text if text.isascii() else text.translate(simplified_characters())


def without_invisible(text: str) -> str:
    """The text without characters that nobody sees: zero-width ones, marks of direction, variation selectors."""
    return _INVISIBLE.sub("", text)


def fold_text(text: str) -> str:
    """The text as it is compared: NFKC, case, Latin accents, script variants folded, invisible characters
    removed, runs of white space one space, none at the ends. Folding twice changes nothing.
    """
    if text.isascii():
        return " ".join(_INVISIBLE.sub("", text).lower().split())
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    bare = _ACCENTED.sub(r"\1", unicodedata.normalize("NFKD", folded).translate(_STROKES))
    composed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", bare).casefold())
    return " ".join(_INVISIBLE.sub("", composed).translate(simplified_characters()).split())


def normal_key(text: str) -> str:
    """The key of an entity or an object: folded text without spaces and punctuation.

    What tells two names apart stays: dots inside a word, `+`, `#` and other signs, emoji. A text of signs
    alone is its own key, so that only an empty text has an empty one.
    """
    folded = fold_text(text)
    key = _without_noise(folded)
    while key != (again := _without_noise(fold_text(key))):
        key = again
    return key or folded


def _without_noise(folded: str) -> str:
    if "@" in folded:
        return folded.replace(" ", "")
    return _KEY_NOISE.sub("", folded.translate(_NO_PUNCTUATION))
