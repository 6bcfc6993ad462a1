"""The block of memory for a prompt: layers by priority, under a budget of tokens, with nothing in them that escapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from hindsight_common.domain.snapshot import EPISODIC, SEMANTIC, SNAPSHOT, WORKING, harmless
from hindsight_recall.domain.tokens import shortened, tokens

Language = Literal["zh", "en"]

_SPEAKERS: Final = {
    "zh": {"user": ("U", "用户："), "assistant": ("A", "助手：")},
    "en": {"user": ("U", "User: "), "assistant": ("A", "Assistant: ")},
}
_IMPORTANCE: Final = {"zh": "重要度", "en": "importance"}
_BETWEEN: Final = "; "
_NEWLINE: Final = 1
# of an utterance that is cut: its label, and an ellipsis
_LEAST: Final = 13


@dataclass(frozen=True, slots=True)
class Said:
    """`must` = it belongs to the latest exchange and stands whatever it costs, shortened if need be."""

    speaker: Literal["user", "assistant"]
    text: str
    must: bool


@dataclass(frozen=True, slots=True)
class Remembered:
    type: str
    content: str
    importance: float


@dataclass(frozen=True, slots=True)
class Related:
    source: str
    relation: str
    target: str

    @property
    def line(self) -> str:
        """As it stands in a snapshot."""
        return f"({harmless(self.source)})-[{self.relation}]->({harmless(self.target)})"


@dataclass(slots=True)
class Snapshot:
    """`text` is the block. The places, in the order given, of what stands in it; `cut` are those of utterances that
    stand shortened.
    """

    text: str = ""
    working: list[int] = field(default_factory=list)
    episodic: list[int] = field(default_factory=list)
    semantic: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)


def compose(
    working: Sequence[Said],
    episodic: Sequence[Remembered],
    semantic: Sequence[Related],
    *,
    language: Language,
    budget: int,
) -> Snapshot:
    """A snapshot of at most `budget` (64 or more) tokens: first the latest exchange, then the other utterances, the
    newest first, then memories and relations in their order. What does not fit is left out, and what is behind it is
    tried. The latest exchange is shortened if it alone would take more than half.
    """
    made = Snapshot()
    purse = _Purse(budget - _frame(SNAPSHOT))
    lines = [_opening(SNAPSHOT)]
    if spoken := _working(working, language, purse, budget // 2, made):
        lines += _section(WORKING, spoken)
    if remembered := _episodic(episodic, language, purse, made):
        lines += _section(EPISODIC, remembered)
    if related := _semantic(semantic, purse, made):
        lines += _section(SEMANTIC, [_BETWEEN.join(related)])
    made.text = "\n".join([*lines, _closing(SNAPSHOT)])
    return made


class _Purse:
    def __init__(self, left: int) -> None:
        self.left = left

    def pays(self, cost: int) -> bool:
        if cost > self.left:
            return False
        self.left -= cost
        return True


def _working(said: Sequence[Said], language: Language, purse: _Purse, half: int, made: Snapshot) -> list[str]:
    texts = {place: harmless(one.text) for place, one in enumerate(said)}
    latest = [place for place, one in enumerate(said) if one.must and texts[place]]
    others = [place for place, one in enumerate(said) if not one.must and texts[place]]
    if not latest and not others:
        return []
    purse.left -= _frame(WORKING)
    labels = {place: tokens(_label(one, language, 1)) + _NEWLINE for place, one in enumerate(said)}
    for place, text in _fitting(latest, texts, labels, min(half, purse.left)).items():
        purse.left -= labels[place] + tokens(text)
        if text != texts[place]:
            made.cut.append(place)
            texts[place] = text
        made.working.append(place)
    for place in reversed(others):
        if purse.pays(labels[place] + tokens(texts[place])):
            made.working.append(place)
    made.working.sort()
    numbers = {"user": 0, "assistant": 0}
    lines = []
    for place in made.working:
        numbers[said[place].speaker] += 1
        lines.append(_label(said[place], language, numbers[said[place].speaker]) + texts[place])
    if not lines:
        purse.left += _frame(WORKING)
    return lines


def _fitting(latest: list[int], texts: dict[int, str], labels: dict[int, int], room: int) -> dict[int, str]:
    """The texts of the latest exchange, the longest shortened until all fit; the oldest go if even that fails."""
    while len(latest) * _LEAST > room:
        latest = latest[1:]
    wanted = {place: labels[place] + tokens(texts[place]) for place in latest}
    fitting: dict[int, str] = {}
    # what a short one leaves of its share is for the longer ones
    for number, place in enumerate(sorted(latest, key=wanted.__getitem__)):
        share = room // (len(latest) - number)
        fitting[place] = shortened(texts[place], share - labels[place])
        room -= labels[place] + tokens(fitting[place])
    return fitting


def _episodic(memories: Sequence[Remembered], language: Language, purse: _Purse, made: Snapshot) -> list[str]:
    lines: list[str] = []
    for place, memory in enumerate(memories):
        weight = f"({_IMPORTANCE[language]}: {round(memory.importance, 2)})"
        line = f"{len(lines) + 1}. [{memory.type}] {harmless(memory.content)} {weight}"
        if purse.pays(tokens(line) + _NEWLINE + (0 if lines else _frame(EPISODIC))):
            lines.append(line)
            made.episodic.append(place)
    return lines


def _semantic(relations: Sequence[Related], purse: _Purse, made: Snapshot) -> list[str]:
    shown: list[str] = []
    for place, one in enumerate(relations):
        apart = tokens(_BETWEEN) if shown else _NEWLINE + _frame(SEMANTIC)
        if purse.pays(tokens(one.line) + apart):
            shown.append(one.line)
            made.semantic.append(place)
    return shown


def _label(said: Said, language: Language, number: int) -> str:
    letter, name = _SPEAKERS[language][said.speaker]
    return f"[{letter}{number}] {name}"


def _section(tag: str, lines: list[str]) -> list[str]:
    return [_opening(tag), *lines, _closing(tag)]


def _opening(tag: str) -> str:
    return f"<{tag}>"


def _closing(tag: str) -> str:
    return f"</{tag}>"


def _frame(tag: str) -> int:
    return tokens(_opening(tag)) + tokens(_closing(tag)) + 2 * _NEWLINE
