"""One run of the command line: where it connects, how it prints, and what its exit status says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

from hindsight_client.cli.output import FAILED, note
from hindsight_client.client import HindsightClient
from hindsight_common.errors import HindsightError, RequestError


@dataclass(frozen=True, slots=True)
class Session:
    nats_url: str | None
    tenant: str
    config: Path | None
    output: Literal["pretty", "json"]

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

    async def _run(self, work: Callable[[HindsightClient], Awaitable[None]]) -> None:
        async with self._client() as client:
            await work(client)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[HindsightClient]:
        client = await HindsightClient.connect(self.nats_url, self.tenant, config=self.config)
        try:
            yield client
        finally:
            await client.close()


def described(error: BaseException) -> str:
    if isinstance(error, RequestError):
        return f"{error.code}: {error.message}"
    return str(error)


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
