"""A fresh embedded Hindsight in a temporary folder, with the files imported."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

READY_WITHIN_S: Final = 120  # a first start may have to convert the model
STOP_WITHIN_S: Final = 30
BIN: Final = Path(sys.executable).parent


@asynccontextmanager
async def fresh_deployment(files: Sequence[Path]) -> AsyncIterator[str]:
    """Yields the bus address of a new deployment once all files are imported; leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as folder:
        ready = Path(folder) / "ready.json"
        process = await asyncio.create_subprocess_exec(
            BIN / "hindsight-standalone",
            *("--data-dir", str(Path(folder) / "data"), "--http-port", "0", "--nats-port", "0"),
            *("--ready-file", str(ready)),
            stdout=sys.stderr,
            stderr=sys.stderr,
        )
        try:
            url = await _address(process, ready)
            for file in files:
                await _import(url, file)
            yield url
        finally:
            await _stop(process)


async def _address(process: asyncio.subprocess.Process, ready: Path) -> str:
    for _ in range(READY_WITHIN_S * 10):
        if process.returncode is not None:
            raise RuntimeError(f"hindsight-standalone ended with {process.returncode} before it was ready")
        if ready.exists():
            return str(json.loads(ready.read_text(encoding="utf-8"))["nats_url"])
        await asyncio.sleep(0.1)
    raise RuntimeError(f"hindsight-standalone was not ready within {READY_WITHIN_S} s")


async def _import(url: str, file: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        BIN / "hindsight-cli", "--nats-url", url, "import", str(file), "--format", "locomo", stdout=sys.stderr
    )
    try:
        await process.wait()
    finally:
        await _stop(process)
    if process.returncode:
        raise RuntimeError(f"hindsight-cli import {file.name} ended with {process.returncode}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()
