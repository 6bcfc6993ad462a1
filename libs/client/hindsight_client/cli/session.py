"""One run of the command line: where it connects, how it prints, and what its exit status says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

from hindsight_client.cli.error_words import described
from hindsight_client.cli.output import FAILED, note
from hindsight_client.client import HindsightClient
from hindsight_common.errors import HindsightError


@dataclass(frozen=True, slots=True)
class Session:
    nats_url: str | None
    tenant: str
    config: Path | None
    output: Literal["pretty", "json"]
    shows_times: bool = False
    nats_user: str | None = None
    nats_credentials: Path | None = None
    # whom --user or the environment names
    user: str | None = None

    @property
    def prints_json(self) -> bool:
        return self.output == "json"

    def run(self, work: Callable[[HindsightClient], Awaitable[None]]) -> None:
        """Connects, works and closes; any error is told on stderr and ends the program with status 1."""
        try:
            asyncio.run(self._run(work))
        except* HindsightError as errors:
            told = dict.fromkeys(described(error) for error in _leaves(errors))
            note("\n".join(told))
            raise typer.Exit(FAILED) from None

    async def connect(self) -> HindsightClient:
        return await HindsightClient.connect(
            self.nats_url,
            self.tenant,
            config=self.config,
            user=self.nats_user,
            credentials=self.nats_credentials,
        )

    async def _run(self, work: Callable[[HindsightClient], Awaitable[None]]) -> None:
        began = time.perf_counter()
        async with self._client() as client:
            connected = time.perf_counter()
            await work(client)
            self.tell_times({"connect": connected - began, "work": time.perf_counter() - connected}, unit_s=1)

    def tell_times(self, took: Mapping[str, float], *, unit_s: float) -> None:
        """Each step's time on stderr, if it was asked for; `unit_s` is the length of their unit in seconds."""
        if self.shows_times:
            note(", ".join(f"{step} {length * unit_s * 1000:.1f} ms" for step, length in took.items()))

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[HindsightClient]:
        client = await self.connect()
        try:
            yield client
        finally:
            await client.close()


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
