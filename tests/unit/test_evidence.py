"""What an extractor found, as evidence: whose it is to see, and which things said are one memory."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from hindsight_common.ids import IdFactory
from hindsight_common.ports.extraction import ExtractedItem, Message, Turn
from hindsight_extractor.domain.evidence import evidence_of

IDS = IdFactory(b"p" * 32)
OWNER = IDS.owner("default", "u-1")
NOW = datetime(2026, 3, 4, 23, 30, tzinfo=ZoneInfo("Asia/Shanghai"))


def _turn(role: str | None = "aftersales", at: datetime = NOW, name: str | None = None) -> Turn:
    message = Message("m1", "user", "x", name)
    return Turn("default", "u-1", "s", "t", role, at, False, at, "Asia/Shanghai", (message,))


def _event(content: str) -> ExtractedItem:
    return ExtractedItem("event", content, 0.5, 0.9, "en", ("m1",), "user")


def _fact(predicate: str, object_: str, *, negated: bool = False, subject: str = "user") -> ExtractedItem:
    return ExtractedItem(
        *("fact", f"{predicate} {object_}", 0.5, 0.9, "en", ("m1",), "user", subject, predicate, object_),
        negated=negated,
    )


def _scope(content: str, role: str | None = "aftersales") -> tuple[str, ...]:
    return evidence_of(IDS, OWNER, _turn(role), "k", number=0, item=_event(content)).role_scope


@pytest.mark.parametrize(
    "content",
    [
        "My order 12345 arrived broken.",
        "I want a refund for the lamp.",
        "I opened a support ticket yesterday.",
        "I complained about the noise.",
        "Order number 77 never came.",
        "我的订单丢了",
        "要投诉快递员",
    ],
)
def test_tickets_orders_and_complaints_belong_to_the_role_that_dealt_with_them(content: str) -> None:
    assert _scope(content) == ("aftersales",)
    assert _scope(content, role=None) == ("shared",)


@pytest.mark.parametrize(
    "content",
    [
        "We crossed the border at night.",
        "I saved money in order to travel.",
        "I returned to Lisbon in March.",
        "She bought two concert tickets.",
        "I put my life in order.",
        "The recorder is broken.",
        "昨天去了一趟西安",
    ],
)
def test_what_only_sounds_like_it_is_shared(content: str) -> None:
    assert _scope(content) == ("shared",)


def _memory_id(item: ExtractedItem, **turn: datetime) -> str:
    return evidence_of(IDS, OWNER, _turn(**turn), "k", number=0, item=item).memory_id  # type: ignore[arg-type]


def test_the_same_fact_in_other_words_is_one_memory_and_its_negation_another() -> None:
    assert _memory_id(_fact("likes", "Sichuan food")) == _memory_id(_fact("likes", "川菜"))
    assert _memory_id(_fact("allergic_to", "peanuts")) == _memory_id(_fact("allergic_to", "a peanut"))
    assert _memory_id(_fact("likes", "tea")) != _memory_id(_fact("likes", "tea", negated=True))
    assert _memory_id(_fact("likes", "tea")) != _memory_id(_fact("likes", "tea", subject="Ida"))


def test_the_same_event_is_one_memory_on_one_day_of_the_speaker() -> None:
    late, next_day = NOW, NOW.replace(day=5, hour=0, minute=10)
    assert _memory_id(_event("I went hiking!"), at=late) == _memory_id(
        _event("i went hiking"), at=NOW.replace(hour=1)
    )
    assert _memory_id(_event("I went hiking!"), at=late) != _memory_id(_event("I went hiking!"), at=next_day)


def test_the_name_one_writes_under_is_kept_for_the_search() -> None:
    named = evidence_of(IDS, OWNER, _turn(name="李雷"), "k", number=0, item=_event("x"))
    assert (named.speaker, named.speaker_name) == ("user", "李雷")
