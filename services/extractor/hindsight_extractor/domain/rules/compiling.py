"""Everything that the rules compile once for a process."""

from __future__ import annotations

from typing import Final

from hindsight_extractor.domain.rules.fact_rules import fact_rules
from hindsight_extractor.domain.rules.gaps import asked_for
from hindsight_extractor.domain.rules.subjects import subject_of
from hindsight_extractor.domain.rules.word_lists import Language
from hindsight_extractor.domain.testimony.compiling import compile_signs

_LANGUAGES: Final[tuple[Language, ...]] = ("zh", "en")


def compile_rules() -> None:
    """Takes seconds, which the first turn of a process would wait for otherwise; later calls take none."""
    for language in _LANGUAGES:
        fact_rules(language)
        subject_of("", 0, 0, language)
    asked_for("?")
    compile_signs()
