"""Makes `.env` for compose.yaml: a random value for every variable that it demands and that has none yet.

Run as `python scripts/compose_env.py [FOLDER]`; what is there already stays. The file is readable by its owner alone.
The master key in it opens everything that is remembered: keep a copy of it where the data is not.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from pathlib import Path
from typing import Final

MASTER_KEY: Final = "SERVER_MASTER_KEY"
_DEMANDED: Final = re.compile(r"\$\{([A-Z][A-Z0-9_]*):\?")
_ASSIGNED: Final = re.compile(r"^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.+)$", re.MULTILINE)


def demanded(compose: str) -> list[str]:
    """The variables that the text cannot do without, in its order."""
    return list(dict.fromkeys(_DEMANDED.findall(compose)))


def completed(compose: str, env: str) -> str:
    """`env` with a line for each demanded variable that has no value in it."""
    there = {name for name, _ in _ASSIGNED.findall(env)}
    missing = [name for name in demanded(compose) if name not in there]
    if not missing:
        return env
    if env and not env.endswith("\n"):
        env += "\n"
    head = (
        ""
        if env
        else "# Secrets of this deployment, made at random. Without the master key nothing can be read again.\n"
    )
    return env + head + "".join(f"{name}={_random(name)}\n" for name in missing)


def _random(name: str) -> str:
    # passwords begin with a letter: nats-server would read one that looks like a number as a number
    return secrets.token_hex(32) if name == MASTER_KEY else f"p{secrets.token_hex(24)}"


def write(folder: Path) -> bool:
    """True if anything was added. A file that others may read is closed to them."""
    compose, path = (folder / "compose.yaml").read_text("utf-8"), folder / ".env"
    before = path.read_text("utf-8") if path.exists() else ""
    after = completed(compose, before)
    if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o600)
    if after == before:
        return False
    beside = folder / ".env.new"
    with os.fdopen(
        os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(after)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    return True


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    if write(where):
        sys.stdout.write(
            ".env has new random secrets: keep a copy of its master key · 已在 .env 中生成随机密钥，请另行保存主密钥\n"
        )
