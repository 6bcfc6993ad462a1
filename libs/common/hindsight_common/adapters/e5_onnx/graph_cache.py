"""Keeps the built graph on disk, one file per weights and builder version."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from hindsight_common.errors import StopAndFix


def default_cache_dir() -> Path:
    """`$XDG_CACHE_HOME/hindsight/models`, or the same under `~/.cache`."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(root) if root and Path(root).is_absolute() else Path.home() / ".cache"
    return base / "hindsight" / "models"


def cached_file(cache_dir: Path, name: str, build: Callable[[], bytes]) -> Path:
    """The file `name` in the cache, built if missing.

    Two processes may build at once: each writes a file of its own and renames it, the last one stays, both are
    equal. A reader never sees half a file. Raises `StopAndFix` when the folder cannot be written.
    """
    target = cache_dir / name
    if target.exists():
        return target
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        _write_whole(target, build())
    except OSError as fault:
        raise StopAndFix(
            f"the model cache {cache_dir} cannot be written ({fault}); name another folder"
        ) from fault
    return target


def _write_whole(target: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    half = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        half.chmod(0o644)
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)
