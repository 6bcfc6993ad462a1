"""How far the projections are, seen from outside of them."""

from __future__ import annotations

from typing import Protocol


class Projections(Protocol):
    async def await_position(self, projection: str, position: int) -> None:
        """Returns once a projection (`vectors`, `graph`) has applied the log up to a position.

        Raises `RetryLater` if that takes long: the projection's worker or its store is away.
        """
        ...

    async def waiting(self) -> dict[str, int]:
        """Consumer → messages that it has not finished; what goes up and stays up is a backlog."""
        ...
