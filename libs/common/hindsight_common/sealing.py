"""Sealing: AES-256-GCM under keys that can be destroyed, all derived from or wrapped by one master secret.

A box is `nonce (12 bytes) || ciphertext || tag (16 bytes)`. Nonces are random; a key seals far fewer than 2^32
messages. HKDF-SHA256 gives, from the master secret, the pepper of all ids, the key that wraps the users' keys, the
key that signs, and the key for what belongs to no user.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from hindsight_common.errors import GiveUp, HindsightError, StopAndFix

_NONCE_BYTES = 12
KEY_BYTES = 32
DEPLOYMENT_KEY_ID = "deployment"


class KeyDestroyed(HindsightError):
    """What was sealed with this key is erased; its destruction marker says so."""


class KeyMissing(StopAndFix):
    """A key is gone without its destruction marker: the key store was lost or restored from too old a copy."""


@dataclass(frozen=True, slots=True)
class SealingKey:
    """One AES-256 key under its id."""

    key_id: str
    secret: bytes

    def seal(self, plain: bytes, context: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + AESGCM(self.secret).encrypt(nonce, plain, context)

    def unseal(self, box: bytes, context: bytes) -> bytes:
        """Raises `GiveUp` (`not_authentic`) if box, context or key do not belong together."""
        try:
            return AESGCM(self.secret).decrypt(box[:_NONCE_BYTES], box[_NONCE_BYTES:], context)
        except (InvalidTag, ValueError) as fault:
            raise GiveUp(
                "not_authentic", "a sealed box does not open: it was changed, moved or cut"
            ) from fault


@dataclass(frozen=True, slots=True)
class MasterKeys:
    """Everything that is derived from the master secret; the same secret gives the same keys anywhere."""

    pepper: bytes
    wrapping: SealingKey
    signing: bytes
    deployment: SealingKey

    @staticmethod
    def derive(master: bytes) -> MasterKeys:
        if len(master) < KEY_BYTES:
            raise StopAndFix(
                "HINDSIGHT_MASTER_KEY is shorter than 32 bytes; make one with `openssl rand -hex 32`"
            )

        def derived(purpose: str) -> bytes:
            return HKDF(SHA256(), KEY_BYTES, salt=None, info=f"hindsight/1/{purpose}".encode()).derive(master)

        return MasterKeys(
            pepper=derived("pepper"),
            wrapping=SealingKey("wrapping", derived("wrapping")),
            signing=derived("signing"),
            deployment=SealingKey(DEPLOYMENT_KEY_ID, derived("deployment")),
        )

    def proof(self, what: bytes) -> str:
        return hmac.new(self.signing, what, hashlib.sha256).hexdigest()

    def verify_proof(self, what: bytes, proof: str | None) -> None:
        """Raises `GiveUp` (`not_authentic`) if `proof` was not made by this deployment over these bytes."""
        if proof is None or not hmac.compare_digest(self.proof(what), proof):
            raise GiveUp("not_authentic", "a tombstone carries no valid proof of this deployment")


def new_master_secret() -> str:
    """64 hex digits, as `HINDSIGHT_MASTER_KEY` takes them."""
    return secrets.token_hex(KEY_BYTES)


def read_master_secret(text: str) -> bytes:
    """Hex or base64 to bytes; raises `StopAndFix` naming HINDSIGHT_MASTER_KEY for anything else."""
    text = text.strip()
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        try:
            raw = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raw = b""
    if len(raw) < KEY_BYTES:
        raise StopAndFix(
            "HINDSIGHT_MASTER_KEY must be at least 32 bytes in hex or base64; make one with `openssl rand -hex 32`"
        )
    return raw


def new_user_key() -> SealingKey:
    return SealingKey(secrets.token_hex(8), os.urandom(KEY_BYTES))
