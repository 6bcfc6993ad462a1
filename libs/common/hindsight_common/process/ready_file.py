"""A file that tells a program that a process is at work, and where."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path


class ReadyFile:
    """JSON with `pid` and what is given, there for as long as the process is at work; whole or absent."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def write(self, content: Mapping[str, object]) -> None:
        if self._path is None:
            return
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}.tmp")
        temporary.write_text(json.dumps({**content, "pid": os.getpid()}) + "\n", encoding="utf-8")
        temporary.replace(self._path)

    def remove(self) -> None:
        """Also at the start: one left by a process that was killed speaks of ports that are gone."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
