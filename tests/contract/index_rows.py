"""Rows for the tests of the memory index: by hand where a test says what matters, by hypothesis elsewhere."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from hindsight_common.ids import Owner
from hindsight_common.ports.memory_index import IndexFilter, IndexRow

DIMENSION = 16
ANNA = Owner("default", "a1" * 16)
BEN = Owner("default", "b2" * 16)
ANNA_ELSEWHERE = Owner("shop-2", "a1" * 16)
ANYTHING = IndexFilter()


def memory_id(number: int, owner: Owner = ANNA) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{owner}:{number}"))


def axis(number: int) -> NDArray[np.float32]:
    unit = np.zeros(DIMENSION, dtype=np.float32)
    unit[number] = 1
    return unit


def row(number: int = 0, owner: Owner = ANNA, **changes: Any) -> IndexRow:
    plain = IndexRow(
        memory_id=memory_id(number, owner),
        owner=owner,
        sequence=10,
        type="fact",
        status="active",
        predicate="likes",
        role_scope=("shared",),
        session_keys=("s1",),
        importance=0.7,
        confidence=0.9,
        occurred_at=1_700_000_000.25,
        recorded_at=1_700_000_060.5,
        last_confirmed_at=1_700_000_001.0,
        intervals=((1_700_000_000.25, None),),
        sealed=b"\x00\xff sealed \xe8\x8a\xb1",
        key_id="k1",
        vector=axis(0),
        words={7: 1.0},
    )
    return replace(plain, **changes)


def ids(found: Any) -> list[str]:
    """Of hits or rows."""
    return [getattr(each, "row", each).memory_id for each in found]


def same(one: IndexRow, other: IndexRow) -> bool:
    """Equal in all but rounding of weights to 32 bit."""
    vectors = (
        one.vector is other.vector
        if one.vector is None or other.vector is None
        else np.allclose(one.vector, other.vector, atol=1e-6)
    )
    words = one.words.keys() == other.words.keys() and all(
        abs(one.words[each] - other.words[each]) <= 1e-5 * max(1.0, abs(one.words[each]))
        for each in one.words
    )
    plain_one, plain_other = (replace(each, vector=None, words={}) for each in (one, other))
    fields = all(getattr(plain_one, name) == getattr(plain_other, name) for name in IndexRow.__slots__)
    return bool(vectors and words and fields)


# Few values, so that rows and filters often meet and edges are often hit exactly.
_moments = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0, 1e9, 1e9 + 0.25])
_spans = st.tuples(_moments, st.none() | _moments)
_names = st.sampled_from(["active", "superseded", "冷", "a b"])
_weights = st.floats(0.015625, 8.0, width=32)

rows = st.builds(
    row,
    number=st.integers(0, 30),
    owner=st.sampled_from([ANNA, BEN, ANNA_ELSEWHERE]),
    sequence=st.integers(1, 5),
    type=st.sampled_from(["fact", "event"]),
    status=_names,
    predicate=st.none() | st.sampled_from(["likes", "lives_in"]),
    role_scope=st.lists(st.sampled_from(["shared", "presales", "售后"]), unique=True).map(tuple),
    session_keys=st.lists(st.sampled_from(["s1", "s2", "s3"]), unique=True).map(tuple),
    importance=st.floats(0, 1),
    occurred_at=_moments,
    intervals=st.lists(_spans, max_size=3).map(tuple),
    sealed=st.binary(max_size=20),
    vector=st.none() | st.integers(0, DIMENSION - 1).map(axis),
    words=st.dictionaries(st.sampled_from([0, 1, 7, 2**31, 2**32 - 1]), _weights, max_size=4),
)

filters = st.builds(
    IndexFilter,
    statuses=st.none() | st.lists(_names, max_size=3).map(tuple),
    type=st.none() | st.sampled_from(["fact", "event"]),
    roles=st.none() | st.lists(st.sampled_from(["shared", "presales", "售后"]), max_size=2).map(tuple),
    session_key=st.none() | st.sampled_from(["s1", "s2", "s9"]),
    predicate=st.none() | st.sampled_from(["likes", "lives_in"]),
    occurred_from=st.none() | _moments,
    occurred_until=st.none() | _moments,
    held_at=st.none() | _moments,
)
