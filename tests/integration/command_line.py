"""`hindsight-cli` as a process, for tests that have a bus."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

PROGRAM = str(Path(sys.executable).with_name("hindsight-cli"))


@dataclass(frozen=True, slots=True)
class Ran:
    status: int
    out: str
    err: str


Cli = Callable[..., Awaitable[Ran]]


def runner(nats_url: str, folder: Path) -> Cli:
    """A function that runs one command to its end, in `folder` and without a word of ours in the environment."""

    async def run(*arguments: str, language: str = "C.UTF-8") -> Ran:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HINDSIGHT_")}
        own = {"LC_ALL": language, "HINDSIGHT_NATS_URL": nats_url, "COLUMNS": "160"}
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=kept | own,
            cwd=folder,
        )
        out, err = await process.communicate()
        assert process.returncode is not None
        return Ran(process.returncode, out.decode(), err.decode())

    return run
