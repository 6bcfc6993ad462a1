"""Small files that are either the old version or the new one, whatever happens in between."""

from __future__ import annotations

import os
from pathlib import Path


def write_durably(path: Path, content: bytes) -> None:
    """Replaces `path` by `content` so that a crash or a power cut leaves one or the other whole.

    On return the content is on the disk. The folder must exist and belong to one writer.
    """
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Makes names created, renamed or removed in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
