"""The words in which people ask for a kind of fact without naming it; data in `data/questions.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


def asked_in(predicate: str | None) -> str:
    """Words of both languages in which one asks for facts of a predicate; empty for any that is not listed."""
    return _table().get(predicate or "", "")


@cache
def _table() -> dict[str, str]:
    source = resources.files("hindsight_recall.domain").joinpath("data/questions.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    return {predicate: f"{words['en']} {words['zh']}" for predicate, words in table.items()}
