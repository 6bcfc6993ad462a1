"""Chinese answers and forms: 青浦 after 您住哪里, 过敏：花生. What is asked or headed completes what is said."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from hindsight_extractor.domain.rules.word_lists import read_data

_QUESTIONS = re.compile(r"[^。!！\n]*[?？]")
# An answer is short, and no sentence of its own
_LONGEST = 12
_NO_ANSWER = re.compile(r"\W*(?:不|没|好|对|是|行|可以|都|随便|无所谓|算了|谢|你|您|嗯|哦|帮|请|我|先|再|等)")


@dataclass(frozen=True, slots=True)
class _Asked:
    says: str
    question: re.Pattern[str]
    label: re.Pattern[str]


class Answers:
    """What the next clause would begin with if its speaker had not left it to the question or the heading."""

    def __init__(self) -> None:
        self._says: str | None = None

    def begin_message(self, question: str | None) -> None:
        """`question` is what the assistant said right before; its last question is the one that is answered."""
        asked = _QUESTIONS.findall(question or "")
        self._says = None
        if asked:
            self._says = next((each.says for each in _asked() if each.question.search(asked[-1])), None)

    def lead_of(self, read: str) -> str | None:
        """The words that complete a clause; None for one that is complete or answers nothing."""
        bare = read.strip()
        if self._says is None or not bare or len(bare) > _LONGEST or _NO_ANSWER.match(bare):
            return None
        return self._says

    def pass_clause(self, read: str, *, is_heading: bool) -> None:
        """An answer is the first clause of a message; a heading is followed by a colon."""
        bare = read.strip()
        self._says = next((e.says for e in _asked() if is_heading and e.label.fullmatch(bare)), None)


@cache
def _asked() -> tuple[_Asked, ...]:
    rows = read_data("answers_zh.toml")["asked"]
    return tuple(
        _Asked(row["says"], re.compile(row["question"]), re.compile(row["label"], re.IGNORECASE))
        for row in rows
    )
