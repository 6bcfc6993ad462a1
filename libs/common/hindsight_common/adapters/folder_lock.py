"""One process per data folder."""

from __future__ import annotations

import fcntl
import os
from datetime import UTC, datetime
from pathlib import Path

from hindsight_common.errors import StopAndFix


class FolderLock:
    """Held from construction until `release` or the end of the process, kill -9 included.

    A second holder, in this process or another, gets `StopAndFix` that names the first. The lock file stays
    behind and says nothing when nobody holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._descriptor: int | None = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._descriptor, 200, 0).decode("utf-8", "replace") or "another process"
            os.close(self._descriptor)
            raise StopAndFix(
                f"{folder} is in use by {holder}: stop that process or choose another folder"
            ) from error
        os.ftruncate(self._descriptor, 0)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        os.pwrite(self._descriptor, f"process {os.getpid()} (since {since})".encode(), 0)

    def release(self) -> None:
        """Lets the next one in; idempotent."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None
