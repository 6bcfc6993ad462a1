"""What every service is to the process that runs it."""

from __future__ import annotations

from typing import Final, Protocol

# the services behind the bus, by the names under which they are discovered; the gateway is in front of it
BEHIND_THE_BUS: Final = ("extractor", "recall", "consolidator", "pruner")


class Worker(Protocol):
    """`start` returns once requests are answered and deliveries flow; `stop` finishes what is in hand."""

    @property
    def name(self) -> str: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...
