"""Receipts on their way from the eraser to whoever asked for the erasure."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from hindsight_common.events.requests import Receipt, StoreReceipt

# where an erasure has to be carried out, in the order in which it is
STORES: Final = ("vectors", "graph", "turns", "working", "intake", "dead_letters", "keys", "log")


class Receipts:
    """A request waits here for a while; what takes longer is pending, and is finished all the same."""

    def __init__(self, *, patience_s: float = 5.0) -> None:
        self._patience_s = patience_s
        self._waiting: dict[str, asyncio.Future[Receipt]] = {}

    @contextmanager
    def expected(self, receipt_id: str) -> Iterator[asyncio.Future[Receipt]]:
        """Listens for one receipt; entered before the tombstone is written, so that none is missed."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting[receipt_id] = waiter
        try:
            yield waiter
        finally:
            self._waiting.pop(receipt_id, None)

    async def wait(self, receipt_id: str, waiter: asyncio.Future[Receipt]) -> Receipt:
        try:
            async with asyncio.timeout(self._patience_s):
                return await waiter
        except TimeoutError:
            return Receipt(
                id=receipt_id, status="pending", stores={s: StoreReceipt(status="pending") for s in STORES}
            )

    def issue(self, receipt: Receipt) -> None:
        if (waiter := self._waiting.get(receipt.id)) is not None and not waiter.done():
            waiter.set_result(receipt)
