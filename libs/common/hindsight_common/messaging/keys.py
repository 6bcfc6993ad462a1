"""The keyring in the `KEYS` stream: one wrapped key a user, and markers of the destroyed ones.

Two subjects a user. `….current` holds the key, wrapped with the deployment's wrapping key; `….destroyed` the ids of
the keys that are gone for good. A marker is written before the key's bytes are removed, so a crash in between
leaves a key that nobody uses, never a key that is missing without a word.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from hindsight_common.errors import RetryLater
from hindsight_common.events import subjects
from hindsight_common.events.streams import KEYS
from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.publishing import AlreadyThere, publish
from hindsight_common.messaging.reading import delete_message, last_message
from hindsight_common.sealing import (
    DEPLOYMENT_KEY_ID,
    KeyDestroyed,
    KeyMissing,
    MasterKeys,
    SealingKey,
    new_user_key,
)

_CACHED_KEYS = 10_000
_CACHE_S = 300.0  # a marker reaches the cache by subscription; this bounds what a lost message can do
_ATTEMPTS = 5


class NatsKeyring:
    """Implements `ports.keys.Keyring`. `start` subscribes to markers, so a destroyed key leaves every cache."""

    def __init__(self, bus: Bus, master: MasterKeys) -> None:
        self._bus = bus
        self._master = master
        self._cache: OrderedDict[Owner, tuple[float, SealingKey]] = OrderedDict()
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        self._subscription = await self._bus.nc.subscribe("key.*.*.*.destroyed", cb=self._on_marker)

    async def stop(self) -> None:
        if self._subscription is not None and self._bus.nc.is_connected:
            await self._subscription.unsubscribe()

    async def _on_marker(self, message: Msg) -> None:
        self._cache.pop(subjects.owner_of(message.subject), None)

    def _remember(self, owner: Owner, key: SealingKey) -> SealingKey:
        self._cache[owner] = (asyncio.get_running_loop().time(), key)
        self._cache.move_to_end(owner)
        if len(self._cache) > _CACHED_KEYS:
            self._cache.popitem(last=False)
        return key

    def _remembered(self, owner: Owner) -> SealingKey | None:
        cached = self._cache.get(owner)
        if cached is None or asyncio.get_running_loop().time() - cached[0] > _CACHE_S:
            return None
        return cached[1]

    async def current(self, owner: Owner) -> SealingKey:
        if (key := self._remembered(owner)) is not None:
            return key
        for _ in range(_ATTEMPTS):
            stored = await self._stored(owner)
            if stored is None:
                if (key := await self._create(owner)) is not None:
                    return self._remember(owner, key)
            elif stored[1].key_id in await self.destroyed(owner):
                # marked by an erasure that has not wiped yet: finish that, then make a new one
                await delete_message(self._bus.js, KEYS.name, stored[0])
            else:
                return self._remember(owner, stored[1])
        raise RetryLater("the key of a user changed faster than it could be read")

    async def _create(self, owner: Owner) -> SealingKey | None:
        """The new key, or None if somebody else was first."""
        key, subject = new_user_key(), subjects.key(owner)
        wrapped = self._master.wrapping.seal(key.secret, _wrapping_context(owner, key.key_id))
        body = key.key_id.encode() + b"\n" + wrapped
        try:
            await publish(self._bus, subject, body, expected_last_subject_sequence=0)
        except AlreadyThere:
            return None
        return key

    async def _stored(self, owner: Owner) -> tuple[int, SealingKey] | None:
        message = await last_message(self._bus.js, KEYS.name, subjects.key(owner))
        if message is None:
            return None
        key_id, _, wrapped = message.data.partition(b"\n")
        secret = self._master.wrapping.unseal(wrapped, _wrapping_context(owner, key_id.decode()))
        return message.sequence, SealingKey(key_id.decode(), secret)

    async def _marker(self, owner: Owner) -> tuple[int, frozenset[str]]:
        subject = subjects.destroyed_keys(owner)
        message = await last_message(self._bus.js, KEYS.name, subject)
        if message is None:
            return 0, frozenset()
        fields = json.loads(message.data)
        key_ids = frozenset(str(key_id) for key_id in fields["key_ids"])
        self._master.verify_proof(_marker_text(subject, key_ids), fields.get("proof"))
        return message.sequence, key_ids

    async def destroyed(self, owner: Owner) -> frozenset[str]:
        return (await self._marker(owner))[1]

    async def find(self, owner: Owner, key_id: str) -> SealingKey:
        if key_id == DEPLOYMENT_KEY_ID:
            return self._master.deployment
        cached = self._remembered(owner)
        if cached is not None and cached.key_id == key_id:
            return cached
        if key_id in await self.destroyed(owner):
            raise KeyDestroyed(key_id)
        stored = await self._stored(owner)
        if stored is None or stored[1].key_id != key_id:
            # the marker may have come between the two reads
            if key_id in await self.destroyed(owner):
                raise KeyDestroyed(key_id)
            raise KeyMissing(
                "a user's key is missing without its destruction marker: restore the KEYS stream together with LOG"
            )
        return self._remember(owner, stored[1])

    async def is_destroyed(self, owner: Owner, key_id: str) -> bool:
        return key_id in await self.destroyed(owner)

    async def mark_destroyed(self, owner: Owner) -> frozenset[str]:
        subject = subjects.destroyed_keys(owner)
        for _ in range(_ATTEMPTS):
            sequence, key_ids = await self._marker(owner)
            stored = await self._stored(owner)
            if stored is None or stored[1].key_id in key_ids:
                return key_ids
            key_ids |= {stored[1].key_id}
            proof = self._master.proof(_marker_text(subject, key_ids))
            body = json.dumps({"key_ids": sorted(key_ids), "proof": proof}).encode()
            try:
                await publish(self._bus, subject, body, expected_last_subject_sequence=sequence)
            except AlreadyThere:
                continue
            self._cache.pop(owner, None)
            return key_ids
        raise RetryLater("the marker of a user's destroyed keys changed faster than it could be written")

    async def doomed(self, owner: Owner) -> SealingKey | None:
        stored = await self._stored(owner)
        if stored is not None and stored[1].key_id in await self.destroyed(owner):
            return stored[1]
        return None

    async def wipe(self, owner: Owner) -> None:
        self._cache.pop(owner, None)
        stored = await self._stored(owner)
        if stored is not None and stored[1].key_id in await self.destroyed(owner):
            await delete_message(self._bus.js, KEYS.name, stored[0])


def _wrapping_context(owner: Owner, key_id: str) -> bytes:
    return f"key/{owner}/{key_id}".encode()


def _marker_text(subject: str, key_ids: frozenset[str]) -> bytes:
    return "\n".join([subject, *sorted(key_ids)]).encode()
