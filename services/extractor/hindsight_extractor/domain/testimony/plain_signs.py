"""Text in one width and one script, sign for sign."""

from __future__ import annotations

from hindsight_common.domain.text import simplify

_ONE_TO_ONE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    ord(mark): plain
    for mark, plain in {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "`": "'",
        "\u3000": " ",
        "\u00a0": " ",
        "，": ",",
        "｡": "。",
    }.items()
}


def in_plain_signs(text: str) -> str:
    """The text in half-width signs and simplified characters; its length stays the same, so that places in it are
    places in the text.
    """
    return text if text.isascii() else simplify(text).translate(_ONE_TO_ONE)
