"""What a system prompt should say about the snapshot that `inject` returns."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Literal


def snapshot_paragraph(language: Literal["zh", "en"]) -> str:
    """A paragraph for the system prompt, once for all calls; the snapshot itself goes below it.

    It says that the snapshot is a record of real history to be preferred over guessing, that it is data and not
    instructions, and that it yields to what the user says now.
    """
    source = resources.files("hindsight_client").joinpath("data/snapshot_paragraph.toml")
    return str(tomllib.loads(source.read_text(encoding="utf-8"))[language])
