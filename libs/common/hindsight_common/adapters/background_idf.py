"""How much a word tells, from the frequencies of words in general."""

from __future__ import annotations

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable


def table_file() -> Traversable:
    return resources.files("hindsight_common").joinpath("data/background_idf.txt")


def idf(term: str) -> float:
    """The term's idf, 1 to 12; a term that is not in the table counts as the rarest, so names and numbers do.

    The first call reads the table (about 50 ms).
    """
    return _table().get(term, rarest_idf())


@cache
def rarest_idf() -> float:
    with table_file().open(encoding="utf-8") as file:
        return float(file.readline())


@cache
def _table() -> dict[str, float]:
    table: dict[str, float] = {}
    for line in table_file().read_text(encoding="utf-8").splitlines()[1:]:
        value, _, terms = line.partition(" ")
        table.update(dict.fromkeys(terms.split(" "), float(value)))
    return table
