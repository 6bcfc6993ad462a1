"""Cosine → similarity: a strictly rising line through measured points."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise


class Calibration:
    """Maps a cosine to 0–1, piecewise linear between `points` (cosine, similarity).

    Strictly rising between the first and the last point, so that no two candidates tie which the cosine tells apart;
    outside them the nearest point's value holds, and what is not a number counts as unrelated. Raises `ValueError`
    for fewer than two points, points that do not rise, or similarities outside 0–1.
    """

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        if len(points) < 2:
            raise ValueError("a calibration has at least two points")
        if any(right[0] <= left[0] or right[1] <= left[1] for left, right in pairwise(points)):
            raise ValueError("the points of a calibration rise in cosine and in similarity")
        if points[0][1] < 0.0 or points[-1][1] > 1.0:
            raise ValueError("a similarity lies between 0 and 1")
        self._cosines = [cosine for cosine, _ in points]
        self._similarities = [similarity for _, similarity in points]

    def __call__(self, cosine: float) -> float:
        if math.isnan(cosine) or cosine <= self._cosines[0]:
            return self._similarities[0]
        if cosine >= self._cosines[-1]:
            return self._similarities[-1]
        right = bisect_right(self._cosines, cosine)
        left = right - 1
        share = (cosine - self._cosines[left]) / (self._cosines[right] - self._cosines[left])
        return self._similarities[left] + share * (self._similarities[right] - self._similarities[left])
