"""The places that a table knows, Chinese and English."""

from __future__ import annotations

import re

from hindsight_common.domain.predicates import object_kind
from hindsight_extractor.domain.rules.kinds import kind
from hindsight_extractor.domain.rules.word_lists import words_of


def is_known_place(text: str) -> bool:
    """True if a table knows a text as a place."""
    bare = re.sub(r"^the\s+", "", text.lower()) if text.isascii() else text
    bare = bare.removesuffix("市").removesuffix("省").removesuffix("县")
    provinces = words_of("zh").kinds["province"]
    if object_kind(bare) in {"city", "country"} or bare in provinces:
        return True
    within = next((bare[len(name) :] for name in provinces if bare.startswith(name)), bare)
    return any(kind(name).holds(within.removeprefix("省")) for name in ("place", "country"))
