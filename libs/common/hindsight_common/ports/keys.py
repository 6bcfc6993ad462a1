"""The users' keys: made on first use, kept wrapped, destroyed for good."""

from __future__ import annotations

from typing import Protocol

from hindsight_common.ids import Owner
from hindsight_common.sealing import SealingKey


class Keyring(Protocol):
    """Raises `RetryLater` when the key store cannot answer."""

    async def current(self, owner: Owner) -> SealingKey:
        """The key to seal with; made if the owner has none. Safe under a race: all callers get the same key."""
        ...

    async def find(self, owner: Owner, key_id: str) -> SealingKey:
        """The key that sealed something. Raises `KeyDestroyed`, or `KeyMissing` if there is no marker of that."""
        ...

    async def is_destroyed(self, owner: Owner, key_id: str) -> bool:
        """Asks the key store itself, not a cache."""
        ...

    async def destroyed(self, owner: Owner) -> frozenset[str]:
        """The ids of the owner's destroyed keys, asked of the key store itself."""
        ...

    async def mark_destroyed(self, owner: Owner) -> frozenset[str]:
        """Writes the marker for the owner's current key; from then on nobody seals or opens with it.

        Returns the ids of all destroyed keys of this owner. Idempotent; the key's bytes are still there.
        """
        ...

    async def doomed(self, owner: Owner) -> list[SealingKey]:
        """Keys that are marked as destroyed and not wiped yet, for the eraser alone: what is not forgotten but was
        sealed with one of them has to be sealed anew.
        """
        ...

    async def wipe(self, owner: Owner, key: SealingKey) -> None:
        """Removes the bytes of a key that is marked as destroyed from the store. Idempotent."""
        ...
