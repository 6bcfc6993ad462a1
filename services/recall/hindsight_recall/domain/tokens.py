"""How many tokens a text costs, on purpose too many rather than too few, whatever model will read it."""

from __future__ import annotations

import re
from typing import Final

_PIECE: Final = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<gap>[^\S\n]+)|(?P<sign>[\x00-\x7f])|(?P<other>.)", re.DOTALL
)
# letters of an English word that surely go into one token; words average four to five
_LETTERS: Final = 3


def tokens(text: str) -> int:
    """The estimate: English about one token for three letters, every digit and sign one, Chinese one and a half a
    character, other scripts one to three. A text costs no more than its lines and what parts them.

    Byte-pair vocabularies need about 1.2 tokens a Chinese character where they know Chinese least (cl100k), fewer where
    they were trained on it.
    """
    halves = 0
    for piece in _PIECE.finditer(text):
        match piece.lastgroup:
            case "word":
                halves += 2 * -(-len(piece[0]) // _LETTERS)
            case "gap":
                # a single space belongs to the word behind it
                halves += 2 * (len(piece[0]) // 4) if len(piece[0]) > 1 else 0
            case "sign":
                halves += 2
            case _:
                halves += _halves(ord(piece[0]))
    return -(-halves // 2)


def _halves(code: int) -> int:
    if code < 0x0800:  # Latin with accents, Greek, Cyrillic, Arabic
        return 2
    if (
        0x2E80 <= code <= 0x9FFF or 0xFF00 <= code <= 0xFFEF or 0x2010 <= code <= 0x205E
    ):  # Chinese and Japanese
        return 3
    return 4 if code < 0x10000 else 6


def shortened(text: str, room: int) -> str:
    """The text if it costs at most `room` tokens, else its beginning and its end around an ellipsis."""
    if tokens(text) <= room:
        return text
    low, high = 0, len(text)
    while high - low > 1:
        kept = (low + high) // 2
        if tokens(_ends(text, kept)) <= room:
            low = kept
        else:
            high = kept
    return _ends(text, low)


def _ends(text: str, kept: int) -> str:
    tail = kept // 3
    return f"{text[: kept - tail]}…{text[len(text) - tail :]}"
