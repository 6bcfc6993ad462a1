"""Keyed identifiers: the same master secret and the same input give the same id anywhere.

Nobody who holds the log but not the secret can confirm a guess, since every id is an HMAC. Parts are
length-prefixed before they are hashed, so ("ab", "c") and ("a", "bc") never meet.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from dataclasses import dataclass


def _encode(parts: tuple[str, ...]) -> bytes:
    encoded = bytearray()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        encoded += len(raw).to_bytes(4, "big") + raw
    return bytes(encoded)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memories: a tenant's name and the keyed hash of one of its users. Safe in subjects and metrics."""

    tenant: str
    user_key: str

    @property
    def partition(self) -> str:
        """First byte of the user key, `00`–`ff`: the log's partition token, fixed for good."""
        return self.user_key[:2]

    def __str__(self) -> str:
        return f"{self.tenant}/{self.user_key}"


class IdFactory:
    """Makes every id from one pepper (32 bytes, derived from the master secret)."""

    def __init__(self, pepper: bytes) -> None:
        if len(pepper) != 32:
            raise ValueError("the pepper has 32 bytes")
        self._pepper = pepper

    def _digest(self, purpose: str, *parts: str, size: int = 16) -> bytes:
        return hmac.new(self._pepper, _encode((purpose, *parts)), hashlib.sha256).digest()[:size]

    def owner(self, tenant: str, user_id: str) -> Owner:
        return Owner(tenant, self._digest("user", tenant, user_id).hex())

    def turn_key(self, tenant: str, user_id: str, turn_id: str) -> str:
        return self._digest("turn", tenant, user_id, turn_id).hex()

    def session_key(self, tenant: str, user_id: str, session_id: str) -> str:
        return self._digest("session", tenant, user_id, session_id).hex()

    def memory_id(self, owner: Owner, kind: str, *normalised: str) -> str:
        """A UUID-shaped id (Qdrant takes no other) of what a memory says, for one owner."""
        return str(uuid.UUID(bytes=self._digest("memory", owner.tenant, owner.user_key, kind, *normalised)))

    def event_id(self, owner: Owner, kind: str, said: str) -> str:
        return self._digest("event", owner.tenant, owner.user_key, kind, said).hex()

    def digest(self, purpose: str, *parts: str) -> str:
        """Keyed hash for any other purpose, 32 hex digits."""
        return self._digest(f"other:{purpose}", *parts).hex()

    def word_index(self, owner: Owner, word: str) -> int:
        """A 32-bit keyed hash of a word, salted by its owner: equal words of two users do not compare."""
        salt = bytes.fromhex(owner.user_key)[:16]
        keyed = hashlib.blake2b(
            word.encode("utf-8", "surrogatepass"), key=self._pepper, salt=salt, digest_size=4
        )
        return int.from_bytes(keyed.digest(), "big")
