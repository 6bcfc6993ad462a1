"""The master secret of a data directory: from the environment, from a file, or made at the first start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from hindsight_common.adapters.durable_file import sync_folder, write_durably
from hindsight_common.errors import StopAndFix
from hindsight_common.process.master_secret import configured_secret, read_secret_file
from hindsight_common.sealing import MasterKeys, new_master_secret
from hindsight_common.settings import Settings

KEY_FILE: Final = "master.key"
_CHECK_FILE: Final = "master.check"
_CHECKED: Final = b"the master secret of this data directory"


def master_secret(settings: Settings, data_dir: Path) -> bytes:
    """At least 32 bytes, the same ones for the life of the directory.

    Raises StopAndFix for a malformed or unreadable secret, for one that is not the one this directory was made
    with, and for a directory with data whose key file is gone: a new key could read none of it.
    """
    secret = configured_secret(settings) or _own(data_dir)
    _check(secret, data_dir)
    return secret


def _own(data_dir: Path) -> bytes:
    path = data_dir / KEY_FILE
    if not path.exists():
        if (data_dir / _CHECK_FILE).exists():
            raise StopAndFix(
                f"{path} is missing, and without it nothing in {data_dir} can be read: put it back, "
                "or give its content as HINDSIGHT_MASTER_KEY"
            )
        _write_private(path, new_master_secret() + "\n")
    return read_secret_file(path)


def _check(secret: bytes, data_dir: Path) -> None:
    path = data_dir / _CHECK_FILE
    proof = MasterKeys.derive(secret).proof(_CHECKED)
    if not path.exists():
        write_durably(path, proof.encode())
    elif path.read_text(encoding="ascii") != proof:
        raise StopAndFix(
            f"this master key is not the one {data_dir} was made with: "
            "give that one as HINDSIGHT_MASTER_KEY or HINDSIGHT_MASTER_KEY_FILE, or use another --data-dir"
        )


def _write_private(path: Path, text: str) -> None:
    """Durably and never readable by others, not even for a moment."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)
