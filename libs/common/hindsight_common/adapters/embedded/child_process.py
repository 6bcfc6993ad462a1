"""A child that never outlives its parent, even one that is killed with -9."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def die_with_parent() -> Callable[[], None] | None:
    """A function to run in the child between fork and exec; None where the system cannot do it.

    Linux kills the child when the *thread* that forked it ends, so start children from the main thread.
    """
    if sys.platform != "linux":
        return None
    # resolved before the fork: after it only a few calls are safe
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def in_child() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return in_child


def reap_orphan(pid_file: Path, marker: str) -> bool:
    """Kills the process named in the file if its command line contains `marker`; True if it did.

    `marker` must be something only our own child has, such as the path of its configuration: the pid may have
    passed to another program since.
    """
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return False
    if marker not in command_line(pid):
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return True


def command_line(pid: int) -> str:
    """The command line of a process, arguments separated by spaces; empty when there is no such process."""
    path = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self/cmdline").exists():
        try:
            return path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return ""
    return _ps(["-o", "command=", "-p", str(pid)])


def _ps(arguments: Sequence[str]) -> str:
    try:
        shown = subprocess.run(  # noqa: S603 - fixed arguments and a number
            ["/bin/ps", *arguments], capture_output=True, text=True, check=False, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return shown.stdout.strip()
