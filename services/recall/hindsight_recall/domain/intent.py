"""What an utterance is for, as far as a list of phrases can tell."""

from __future__ import annotations

import re
from typing import Final, Literal

from hindsight_common.domain.text import fold_text

Intent = Literal["recall", "small_talk"]

_BETWEEN: Final = re.compile(r"[\s,，.。!！?？~～、…]+")
_CHINESE: Final = (
    "你好|您好|嗨|哈喽|早|早上好|上午好|下午好|晚上好|晚安|谢谢|谢谢你|谢谢您|多谢|感谢|好|好的|好吧|嗯|嗯嗯|行|没事|"
    "不客气|再见|拜拜|辛苦了|在吗"
)
_ENGLISH: Final = (
    "hello|hi|hey|thanks|thank|you|good|morning|afternoon|evening|night|ok|okay|bye|goodbye|great|cool|sure"
)
_SMALL_TALK: Final = re.compile(rf"(?:{_CHINESE}|{_ENGLISH})")


def intent_of(query: str) -> Intent:
    """`small_talk` for nothing but greetings, thanks and the like; `recall` for all else."""
    words = [word for word in _BETWEEN.split(fold_text(query)) if word]
    return "small_talk" if words and all(map(_SMALL_TALK.fullmatch, words)) else "recall"
