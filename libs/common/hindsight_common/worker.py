"""What every service is to the process that runs it."""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

# the services behind the bus, by the names under which they are discovered; the gateway is in front of it
BEHIND_THE_BUS: Final = ("extractor", "recall", "consolidator", "pruner")


class Worker(Protocol):
    """`start` returns once requests are answered and deliveries flow; `stop` finishes what is in hand."""

    @property
    def name(self) -> str: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


@runtime_checkable
class Reporting(Protocol):
    """A worker that knows more of its health than that it has started."""

    def missing(self) -> tuple[str, ...]:
        """Names of what does not work now, such as a consumer of which nothing is heard; empty when all does."""
        ...


@runtime_checkable
class Listening(Protocol):
    """A worker that people reach by HTTP; `url` is known once it has started."""

    @property
    def url(self) -> str: ...
