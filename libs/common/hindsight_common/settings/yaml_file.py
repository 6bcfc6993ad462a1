"""Reads a YAML mapping strictly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from hindsight_common.errors import StopAndFix


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that appears twice: YAML would let the last one win in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value} appears twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path, must_exist: bool) -> dict[str, Any]:
    """The file as nested dicts, empty entries left out (an empty section means its defaults).

    Raises `StopAndFix` when the file is missing though it must exist, cannot be read, or is no mapping.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if must_exist:
            raise StopAndFix(
                f"{path} does not exist; copy config.example.yaml there or leave --config out"
            ) from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise StopAndFix(f"{path} cannot be read: {error}") from error
    try:
        values = yaml.load(text, _StrictLoader)  # noqa: S506 - a SafeLoader underneath
    except yaml.YAMLError as error:
        raise StopAndFix(f"{path} is not valid YAML: {error}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise StopAndFix(f"{path} holds no mapping; see config.example.yaml")
    return _without_empty(values)


def _without_empty(values: dict[Any, Any]) -> dict[str, Any]:
    return {
        str(name): _without_empty(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if value is not None
    }
