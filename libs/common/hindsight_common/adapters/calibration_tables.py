"""The shipped calibration of each model: `data/calibration/<model>.json`, made by `benchmarks/calibration/fit.py`."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from hindsight_common.domain.calibration import Calibration
from hindsight_common.ports.embedding import Language

LANGUAGES: tuple[Language, ...] = ("zh", "en")

# For a model nobody measured: above 0.3 most models mean something, and only near-identical text scores high.
_GENERIC = Calibration([(-1.0, 0.0), (0.3, 0.05), (0.6, 0.35), (0.8, 0.7), (1.0, 1.0)])

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CalibrationTables:
    """One line per language, and what was done to the vectors it was measured on.

    `sound` names the languages in which the model tells related from unrelated text. `centre` is subtracted from
    every vector before its length is made 1; None leaves the model's vectors as they are.
    """

    lines: Mapping[Language, Calibration]
    sound: frozenset[Language]
    centre: tuple[float, ...] | None = None


GENERIC_TABLES = CalibrationTables(dict.fromkeys(LANGUAGES, _GENERIC), frozenset())


def load_tables(model_id: str) -> CalibrationTables:
    """The tables of a model, or conservative ones with a warning when none ship.

    The variant behind the slash (`…/q4`) shares the tables of its model: their cosines differ by less than .001.
    """
    name = model_id.partition("/")[0]
    file = resources.files("hindsight_common").joinpath("data", "calibration", f"{name}.json")
    if not file.is_file():
        _log.warning(
            "no calibration ships for the embedding model %s: its similarities are rough estimates", name
        )
        return GENERIC_TABLES
    return parse_tables(file.read_text(encoding="utf-8"))


def parse_tables(text: str) -> CalibrationTables:
    """Reads a table file. Raises `ValueError` or `KeyError` when a language is missing or a line does not rise."""
    content = json.loads(text)
    languages = content["languages"]
    lines = {
        language: Calibration([(c, s) for c, s in languages[language]["points"]]) for language in LANGUAGES
    }
    sound = frozenset(language for language in LANGUAGES if languages[language]["sound"])
    return CalibrationTables(lines, sound, tuple(content["centre"]) if "centre" in content else None)
