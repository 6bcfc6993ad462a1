"""What a filter asks of a point, in types of our own.

Spelled here once and translated by each adapter: the classes of the engine in process and those of the client
of a server have the same meaning and different names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexFilter

OWNER = "owner"
OPEN = 1e11
"""Stands for the missing end of an open interval: a time beyond any that is accepted, in seconds."""

ONE_SPAN = "one span"
SEVERAL_SPANS = "several spans"


@dataclass(frozen=True, slots=True)
class Equals:
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """The field, or an element of it where it is an array, is one of these."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HasId:
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Within:
    key: str
    gte: float | None = None
    gt: float | None = None
    lt: float | None = None
    lte: float | None = None


@dataclass(frozen=True, slots=True)
class Element:
    """One and the same element of an array of objects meets all these."""

    key: str
    conditions: tuple[Within, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    conditions: tuple[Condition, ...]


Condition = Equals | OneOf | HasId | Within | Element | AnyOf


def asks_for_nothing(where: IndexFilter) -> bool:
    """Whether the filter names an empty set, which no row is in."""
    return () in {where.ids, where.statuses, where.roles}


def conditions_of(owner: Owner, where: IndexFilter) -> list[Condition]:
    """What a row must meet, all of it; the owner comes first and always."""
    asked: list[Condition] = [Equals(OWNER, str(owner))]
    if where.ids is not None:
        asked.append(HasId(where.ids))
    if where.statuses is not None:
        asked.append(OneOf("status", where.statuses))
    if where.type is not None:
        asked.append(Equals("type", where.type))
    if where.roles is not None:
        asked.append(OneOf("role_scope", where.roles))
    if where.session_key is not None:
        asked.append(Equals("session_keys", where.session_key))
    if where.predicate is not None:
        asked.append(Equals("predicate", where.predicate))
    if where.occurred_from is not None or where.occurred_until is not None:
        asked.append(Within("occurred_at", gte=where.occurred_from, lt=where.occurred_until))
    if where.held_at is not None:
        asked += _held_at(where.held_at)
    return asked


def _held_at(instant: float) -> Iterator[Condition]:
    """Almost every memory holds in one span, whose ends are indexed; of the others the intervals are read."""
    yield Within("held_from", lte=instant)
    yield Within("held_until", gt=instant)
    exact = microseconds(instant)
    inside = Element("intervals", (Within("from", lte=exact), Within("until", gt=exact)))
    yield AnyOf((Equals("held", ONE_SPAN), inside))


def has_gaps(spans: Iterable[tuple[float, float]]) -> bool:
    """Whether something lies between the spans (none of them empty) that is in none of them."""
    ordered = sorted(spans)
    reached = ordered[0][1]
    for start, end in ordered[1:]:
        if start > reached:
            return True
        reached = max(reached, end)
    return False


def microseconds(seconds: float) -> int:
    """Whole microseconds, the resolution of every time here: unlike fractions, stored to the last bit."""
    return round(seconds * 1e6)
