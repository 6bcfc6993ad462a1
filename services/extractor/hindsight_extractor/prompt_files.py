"""Prompts from their YAML files: those of this package, or one's own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any, Final, Literal

import yaml

from hindsight_common.errors import StopAndFix
from hindsight_extractor.domain.prompting import Prompt

Language = Literal["zh", "en"]

_NEEDED: Final = {"system": (), "turn": ("messages", "nonce"), "again": ()}
_KNOWN: Final = {
    "system": {"predicates"},
    "turn": {"time", "weekday", "zone", "nonce", "messages"},
    "again": set[str](),
}


def load_prompts(path: Path | None = None) -> Mapping[Language, Prompt]:
    """By language. `path` is one file for both languages, or a folder with `extract_zh.yaml` and `extract_en.yaml`;
    None = the prompts of this package. Raises `StopAndFix` naming file and key.
    """
    if path is not None and path.is_file():
        prompt = _load(path)
        return {"zh": prompt, "en": prompt}
    folder: Traversable = path or resources.files("hindsight_extractor").joinpath("prompts")
    return {"zh": _load(folder / "extract_zh.yaml"), "en": _load(folder / "extract_en.yaml")}


def _load(file: Traversable) -> Prompt:
    try:
        read = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise StopAndFix(f"the prompt {file} cannot be read: {type(error).__name__}") from error
    if not isinstance(read, dict):
        raise StopAndFix(f"the prompt {file} has to be a mapping")
    texts = {name: _template(file, read, name) for name in _NEEDED}
    weekdays, sentinels = (_strings(file, read, name) for name in ("weekdays", "sentinels"))
    if len(weekdays) != 7:
        raise StopAndFix(f"the prompt {file} names {len(weekdays)} weekdays; it has to be 7, from Monday")
    return Prompt(texts["system"], texts["turn"], texts["again"], weekdays, sentinels)


def _template(file: Traversable, read: Mapping[str, Any], name: str) -> str:
    text = read.get(name)
    if not isinstance(text, str) or not text.strip():
        raise StopAndFix(f"the prompt {file} has no text under {name!r}")
    template = Template(text)
    if not template.is_valid():
        raise StopAndFix(f"the prompt {file} has a lone $ under {name!r}; write $$")
    used = set(template.get_identifiers())
    if unknown := used - _KNOWN[name]:
        raise StopAndFix(f"the prompt {file} uses ${min(unknown)} under {name!r}, which nothing fills in")
    if missing := set(_NEEDED[name]) - used:
        raise StopAndFix(f"the prompt {file} does not use ${min(missing)} under {name!r}")
    return text.strip()


def _strings(file: Traversable, read: Mapping[str, Any], name: str) -> tuple[str, ...]:
    listed = read.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise StopAndFix(f"the prompt {file} has to hold a list of texts under {name!r}")
    return tuple(listed)
