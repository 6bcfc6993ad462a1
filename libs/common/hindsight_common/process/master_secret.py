"""The master secret as the configuration gives it."""

from __future__ import annotations

from pathlib import Path

from hindsight_common.errors import StopAndFix
from hindsight_common.sealing import read_master_secret
from hindsight_common.settings import Settings


def configured_secret(settings: Settings) -> bytes | None:
    """At least 32 bytes; None if none is configured. Raises StopAndFix for one that is malformed or unreadable."""
    if settings.master_key is not None:
        return read_master_secret(settings.master_key.get_secret_value())
    if settings.master_key_file is not None:
        return read_secret_file(settings.master_key_file)
    return None


def read_secret_file(path: Path) -> bytes:
    """Raises StopAndFix that names the file."""
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise StopAndFix(f"the master key in {path} cannot be read: {type(error).__name__}") from error
    try:
        return read_master_secret(text)
    except StopAndFix as error:
        raise StopAndFix(f"the master key in {path} is malformed: {error}") from error


def shared_secret(settings: Settings) -> bytes:
    """For a process that shares a deployment with others: it never makes one of its own.

    Raises StopAndFix that says how to make one.
    """
    secret = configured_secret(settings)
    if secret is None:
        raise StopAndFix(
            "the server form needs one master secret, the same for all workers, as HINDSIGHT_MASTER_KEY or in a file "
            "that HINDSIGHT_MASTER_KEY_FILE names; make one with `openssl rand -hex 32` and keep it safe: without it "
            "nothing that was remembered can be read"
        )
    return secret
