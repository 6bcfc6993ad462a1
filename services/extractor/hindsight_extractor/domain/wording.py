"""A fact in one sentence without a full stop, where the model gave none: "The user lives in Lyon", 用户住在里昂."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Literal

from hindsight_common.domain.predicates import subject_key

_THE_USER = {"zh": "用户", "en": "The user"}


def fact_sentence(
    subject: str, predicate: str, thing: str, language: Literal["zh", "en"], *, negated: bool
) -> str:
    """In the language of the speaker; a predicate without a wording of its own is named as it is."""
    who = _THE_USER[language] if subject_key(subject) == "user" else subject
    templates = _wordings()[language]
    template = templates.get(f"not {predicate}" if negated else predicate)
    if template is None and negated:
        template = "是否{p}{o}：否" if language == "zh" else "does not: {p} {o}"
    if template is None:
        template = "的{p}是{o}" if language == "zh" else "{p} {o}"
    said = template.replace("{p}", predicate.replace("_", " ")).replace("{o}", thing)
    if language == "en":
        return who + said if said.startswith("'") else f"{who} {said}"
    return f"{who} {said}" if who[-1].isascii() else who + said


@cache
def _wordings() -> dict[str, dict[str, str]]:
    source = resources.files("hindsight_extractor.domain").joinpath("data/fact_wordings.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))
