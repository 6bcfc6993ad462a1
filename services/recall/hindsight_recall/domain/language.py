"""Which of the two languages a text is in, as far as calibration has to know."""

from __future__ import annotations

from typing import Literal


def language_of(text: str) -> Literal["zh", "en"]:
    """`zh` if Chinese characters carry at least as much of the text as Latin words do (one word ≈ two characters)."""
    chinese = sum("\u4e00" <= c <= "\u9fff" or "\u3400" <= c <= "\u4dbf" for c in text)
    latin_words = sum(any(c.isascii() and c.isalpha() for c in word) for word in text.split())
    return "zh" if chinese and chinese >= 2 * latin_words else "en"
