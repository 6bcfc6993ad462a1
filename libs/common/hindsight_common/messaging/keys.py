"""The keyring in the `KEYS` stream: each user's wrapped key, and markers of the destroyed ones.

`….destroyed` holds the ids of a user's keys that are gone for good, and their number is the place of the key in use:
`….0` is the first one, `….1` the one after the first was destroyed. A marker is written before the key's bytes are
removed, so a crash in between leaves a key that nobody uses, never a key that is missing without a word; and since
the next key has a place of its own, the old one stays until the eraser has sealed anew what is not forgotten.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from hindsight_common.errors import GiveUp, RetryLater, StopAndFix
from hindsight_common.events import subjects
from hindsight_common.events.streams import KEYS
from hindsight_common.ids import Owner
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.master_proof import confirm_master_secret
from hindsight_common.messaging.publishing import AlreadyThere, publish
from hindsight_common.messaging.reading import delete_message, last_message, read_subject
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
        """Raises `StopAndFix` if the store was made with another master secret: nothing in it could be read."""
        await self._check_master()
        # after the keys: of a deployment that is older than its proof they alone can tell
        await confirm_master_secret(self._bus, self._master)
        self._subscription = await self._bus.nc.subscribe("key.*.*.*.destroyed", cb=self._on_marker)

    async def _check_master(self) -> None:
        message = await last_message(self._bus.js, KEYS.name, "key.*.*.*.*")
        if message is None:
            return
        owner = subjects.owner_of(message.subject)
        try:
            if message.subject == subjects.destroyed_keys(owner):
                await self._marker(owner)
            else:
                self._unwrapped(owner, message.data)
        except GiveUp as fault:
            raise StopAndFix(
                "this master key does not open the newest key in the KEYS stream: give the one that the deployment was "
                "made with as HINDSIGHT_MASTER_KEY or HINDSIGHT_MASTER_KEY_FILE"
            ) from fault

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
            destroyed = await self.destroyed(owner)
            found = await self._stored(owner, len(destroyed)) or await self._create(owner, len(destroyed))
            if found is None:
                continue
            # the place is right as long as no marker came meanwhile; a key made for one that was given up stays
            # there, unknown to all: nobody has sealed with it, and only the eraser may delete
            if await self.destroyed(owner) == destroyed:
                return self._remember(owner, found)
        raise RetryLater("the key of a user changed faster than it could be read")

    async def _create(self, owner: Owner, place: int) -> SealingKey | None:
        """The new key, or None if somebody else was first."""
        key, subject = new_user_key(), subjects.key(owner, place)
        wrapped = self._master.wrapping.seal(key.secret, _wrapping_context(owner, key.key_id))
        body = key.key_id.encode() + b"\n" + wrapped
        try:
            await publish(self._bus, subject, body, expected_last_subject_sequence=0)
        except AlreadyThere:
            return None
        return key

    async def _stored(self, owner: Owner, place: int) -> SealingKey | None:
        message = await last_message(self._bus.js, KEYS.name, subjects.key(owner, place))
        return self._unwrapped(owner, message.data) if message else None

    def _unwrapped(self, owner: Owner, data: bytes) -> SealingKey:
        key_id, _, wrapped = data.partition(b"\n")
        secret = self._master.wrapping.unseal(wrapped, _wrapping_context(owner, key_id.decode()))
        return SealingKey(key_id.decode(), secret)

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
        for _ in range(_ATTEMPTS):
            destroyed = await self.destroyed(owner)
            if key_id in destroyed:
                raise KeyDestroyed(key_id)
            stored = await self._stored(owner, len(destroyed))
            if stored is not None and stored.key_id == key_id:
                return self._remember(owner, stored)
            # a marker may have come between the two reads
            if await self.destroyed(owner) == destroyed:
                break
        raise KeyMissing(
            "a user's key is missing without its destruction marker: restore the KEYS stream together with LOG"
        )

    async def is_destroyed(self, owner: Owner, key_id: str) -> bool:
        return key_id in await self.destroyed(owner)

    async def mark_destroyed(self, owner: Owner) -> frozenset[str]:
        subject = subjects.destroyed_keys(owner)
        for _ in range(_ATTEMPTS):
            sequence, key_ids = await self._marker(owner)
            stored = await self._stored(owner, len(key_ids))
            if stored is None:
                return key_ids
            key_ids |= {stored.key_id}
            proof = self._master.proof(_marker_text(subject, key_ids))
            body = json.dumps({"key_ids": sorted(key_ids), "proof": proof}).encode()
            try:
                await publish(self._bus, subject, body, expected_last_subject_sequence=sequence)
            except AlreadyThere:
                continue
            self._cache.pop(owner, None)
            return key_ids
        raise RetryLater("the marker of a user's destroyed keys changed faster than it could be written")

    async def doomed(self, owner: Owner) -> list[SealingKey]:
        return [key for _, key in await self._left(owner)]

    async def wipe(self, owner: Owner, key: SealingKey) -> None:
        for sequence, left in await self._left(owner):
            if left.key_id == key.key_id:
                await delete_message(self._bus.js, KEYS.name, sequence)

    async def _left(self, owner: Owner) -> list[tuple[int, SealingKey]]:
        """Keys that are marked as destroyed and whose bytes are still there, oldest first."""
        destroyed = await self.destroyed(owner)
        if not destroyed:
            return []
        marker = subjects.destroyed_keys(owner)
        found = [
            (message.sequence, self._unwrapped(owner, message.data))
            async for message in read_subject(self._bus.js, KEYS.name, subjects.keys_of(owner))
            if message.subject != marker
        ]
        return [(sequence, key) for sequence, key in found if key.key_id in destroyed]


def _wrapping_context(owner: Owner, key_id: str) -> bytes:
    return f"key/{owner}/{key_id}".encode()


def _marker_text(subject: str, key_ids: frozenset[str]) -> bytes:
    return "\n".join([subject, *sorted(key_ids)]).encode()
