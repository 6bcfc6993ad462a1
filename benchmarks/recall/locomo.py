"""Reads LoCoMo files: conversations of two people over months, with questions and the turns that answer them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

ADVERSARIAL: Final = 5  # the conversation does not hold the answer, so there is nothing to recall
CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}

_TURN_ID = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Utterance:
    turn_id: str
    speaker: str
    text: str

    @property
    def document(self) -> str:
        """What the baselines index: the words with who said them."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence` holds ids of existing turns, each once; at least one."""

    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """`ended_at` is a day after the last session began: later than anything said in it."""

    sample_id: str
    utterances: tuple[Utterance, ...]
    questions: tuple[Question, ...]
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Counted:
    """How many questions a file asks, and why some are not scored."""

    asked: int
    adversarial: int
    without_evidence: int

    @property
    def scored(self) -> int:
        return self.asked - self.adversarial - self.without_evidence


def evidence_of(given: list[str], existing: frozenset[str]) -> tuple[str, ...]:
    """Ids of existing turns in the order given, each once.

    One string may hold several ids with any separator; zeros in front are dropped; what names no turn of the
    conversation is left out.
    """
    found = (f"D{int(session)}:{int(turn)}" for text in given for session, turn in _TURN_ID.findall(text))
    return tuple(dict.fromkeys(turn_id for turn_id in found if turn_id in existing))


def read_conversations(path: Path) -> tuple[list[Conversation], Counted]:
    """Every conversation of the file with the questions that can be scored. Raises ValueError on another shape."""
    samples = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(samples, list) or not all("conversation" in sample for sample in samples):
        raise ValueError(
            f"{path} is no LoCoMo file: a list of samples with `conversation` and `qa` is expected"
        )
    read = [_conversation(sample) for sample in samples]
    asked = sum(len(sample["qa"]) for sample in samples)
    adversarial = sum(qa["category"] == ADVERSARIAL for sample in samples for qa in sample["qa"])
    scored = sum(len(conversation.questions) for conversation in read)
    return read, Counted(asked, adversarial, asked - adversarial - scored)


def _conversation(sample: dict[str, Any]) -> Conversation:
    parts = sample["conversation"]
    sessions = sorted(int(match[1]) for name in parts if (match := _SESSION.fullmatch(name)) and parts[name])
    utterances = tuple(
        Utterance(turn["dia_id"], turn["speaker"], turn["text"])
        for number in sessions
        for turn in parts[f"session_{number}"]
    )
    existing = frozenset(utterance.turn_id for utterance in utterances)
    questions = (
        Question(qa["question"], qa["category"], evidence_of(qa.get("evidence", []), existing))
        for qa in sample["qa"]
        if qa["category"] != ADVERSARIAL
    )
    return Conversation(
        sample["sample_id"],
        utterances,
        tuple(question for question in questions if question.evidence),
        max(said_at(parts[f"session_{number}_date_time"]) for number in sessions) + timedelta(days=1),
    )


def said_at(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023` as a time; the file names no zone, so UTC stands."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
