"""What each distribution declares about itself is there."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECTS = sorted(
    path for folder in ("libs", "services", "deploy") for path in (ROOT / folder).glob("*/pyproject.toml")
)
COMMANDS = [
    (name, target)
    for path in PROJECTS
    for name, target in tomllib.loads(path.read_text("utf-8"))["project"].get("scripts", {}).items()
]


@pytest.mark.parametrize(("name", "target"), COMMANDS)
def test_every_command_that_is_installed_can_be_started(name: str, target: str) -> None:
    module, _, function = target.partition(":")
    assert callable(getattr(importlib.import_module(module), function)), name


def test_all_distributions_are_released_in_step() -> None:
    projects = [tomllib.loads(path.read_text("utf-8"))["project"] for path in PROJECTS]
    assert len(projects) == 8
    assert len({project["version"] for project in projects}) == 1
