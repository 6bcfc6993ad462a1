"""A calibration is a line that rises, whatever it is asked."""

from __future__ import annotations

import json
import logging
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.adapters.calibration_tables import GENERIC_TABLES, LANGUAGES, load_tables, parse_tables
from hindsight_common.domain.calibration import Calibration

rising = st.lists(st.integers(0, 1000), min_size=2, max_size=12, unique=True).map(sorted)


@st.composite
def calibrations(draw: st.DrawFn) -> tuple[Calibration, list[tuple[float, float]]]:
    cosines, similarities = draw(rising), draw(rising)
    points = [(c / 500 - 1, s / 1000) for c, s in zip(cosines, similarities, strict=False)]
    return Calibration(points), points


@given(calibrations(), st.floats(-2, 2), st.floats(-2, 2))
def test_more_cosine_is_never_less_similarity(
    made: tuple[Calibration, list[tuple[float, float]]], one: float, other: float
) -> None:
    line, points = made
    assert line(min(one, other)) <= line(max(one, other))
    assert points[0][1] <= line(one) <= points[-1][1]


@given(calibrations())
def test_the_line_goes_through_its_points_and_tells_neighbours_apart(
    made: tuple[Calibration, list[tuple[float, float]]],
) -> None:
    line, points = made
    for cosine, similarity in points:
        assert line(cosine) == pytest.approx(similarity)
    middles = [(left[0] + right[0]) / 2 for left, right in pairwise(points)]
    inside = [line(cosine) for cosine in sorted([*middles, *(cosine for cosine, _ in points)])]
    assert all(left < right for left, right in pairwise(inside))


@pytest.mark.parametrize(
    "points",
    [
        [(0.0, 0.0)],
        [(0.0, 0.0), (0.0, 1.0)],
        [(0.0, 0.5), (1.0, 0.5)],
        [(0.0, -0.1), (1.0, 1.0)],
        [(0.0, 0.0), (1.0, 1.1)],
    ],
)
def test_points_that_do_not_rise_within_0_and_1_are_refused(points: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match=r"calibration|similarity"):
        Calibration(points)


def test_an_unmeasured_model_gets_a_careful_line_and_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert load_tables("some-model/1234") is GENERIC_TABLES
    assert "some-model" in caplog.text
    for language in LANGUAGES:
        assert GENERIC_TABLES.lines[language](0.3) <= 0.05


def test_every_variant_of_a_model_shares_its_table() -> None:
    one, other = load_tables("multilingual-e5-small/q4"), load_tables("multilingual-e5-small/q4-wheel")
    assert one.centre == other.centre is not None
    assert one.sound == other.sound == {"zh", "en"}
    assert one.lines["zh"](0.3) == other.lines["zh"](0.3)


def test_a_table_without_one_of_the_languages_is_refused() -> None:
    table = {"languages": {"en": {"points": [[0, 0], [1, 1]], "sound": True}}}
    with pytest.raises(KeyError):
        parse_tables(json.dumps(table))
