"""What the interactive mode remembers of itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

# what is said about the deployment; all other commands carry a user's name, words or both
KEPT_COMMANDS: Final = frozenset({"doctor", "dead-letters", "prune-graph", "rebuild", "provision", "help"})
# an address may carry a password
_NEVER: Final = ("--user", "--nats-url")


def history_file() -> Path:
    """In the user's state directory, as the XDG base directories name it."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "hindsight" / "history"


def is_kept(line: str) -> bool:
    """Whether a line may be written to disk.

    Words about a user stay in memory: a history on disk would outlive the user's erasure, beside every store that
    the receipt names.
    """
    words = line.split()
    return (
        bool(words)
        and words[0].replace("_", "-") in KEPT_COMMANDS
        and not any(word.startswith(_NEVER) for word in words)
    )


class _SparingHistory(FileHistory):
    """The whole conversation in memory, on disk only what `is_kept`."""

    def store_string(self, string: str) -> None:
        if is_kept(string):
            super().store_string(string)

    def load_history_strings(self) -> Iterable[str]:
        return [line for line in super().load_history_strings() if is_kept(line)]


def open_history(path: Path, tell: Callable[[str], None]) -> History:
    """The history in `path`, readable by its owner only; `tell` hears why there is none where that fails."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor):
            os.fchmod(descriptor, 0o600)
    except OSError as error:
        tell(f"{path}: {error.strerror}")
        return InMemoryHistory()
    return _SparingHistory(path)
