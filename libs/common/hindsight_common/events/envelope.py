"""How an event is carried: a clear header, and a body sealed with the user's key.

The bytes are the header as one line of JSON, a newline, and the sealed box. The header's bytes exactly as they
stand, together with the subject, are authenticated with the body: neither can be changed or moved elsewhere
without the box refusing to open.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from hindsight_common.errors import GiveUp
from hindsight_common.sealing import SealingKey


@dataclass(frozen=True, slots=True)
class Header:
    """The part at rest in clear. Every identifier is a keyed hash. `evidence` is the pieces that a tombstone covers or
    a decision is about, readable after the user's key is gone; `proof` an HMAC over a tombstone's by the deployment's
    key.
    """

    version: int
    kind: str
    event_id: str
    key_id: str
    accepted_at: datetime
    occurred_at: datetime | None = None
    turn_key: str | None = None
    outcome: str | None = None
    digest: str | None = None
    scope: str | None = None
    evidence: tuple[tuple[str, str | None], ...] = ()
    proof: str | None = None

    def to_bytes(self) -> bytes:
        fields: dict[str, object] = {
            "v": self.version,
            "kind": self.kind,
            "id": self.event_id,
            "key": self.key_id,
            "accepted_at": self.accepted_at.isoformat(),
        }
        if self.occurred_at is not None:
            fields["occurred_at"] = self.occurred_at.isoformat()
        optional = {
            "turn": self.turn_key,
            "outcome": self.outcome,
            "digest": self.digest,
            "scope": self.scope,
            "evidence": [list(piece) for piece in self.evidence] or None,
            "proof": self.proof,
        }
        fields |= {name: value for name, value in optional.items() if value is not None}
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=True).encode()

    @staticmethod
    def from_bytes(raw: bytes) -> Header:
        fields = json.loads(raw)
        if not isinstance(fields, dict):
            raise TypeError("a header is an object")
        occurred_at = fields.get("occurred_at")
        return Header(
            version=int(fields["v"]),
            kind=str(fields["kind"]),
            event_id=str(fields["id"]),
            key_id=str(fields["key"]),
            accepted_at=datetime.fromisoformat(fields["accepted_at"]),
            occurred_at=datetime.fromisoformat(occurred_at) if occurred_at else None,
            turn_key=fields.get("turn"),
            outcome=fields.get("outcome"),
            digest=fields.get("digest"),
            scope=fields.get("scope"),
            evidence=tuple((str(turn), memory) for turn, memory in fields.get("evidence", ())),
            proof=fields.get("proof"),
        )


@dataclass(frozen=True, slots=True)
class Envelope:
    header: Header
    header_bytes: bytes
    box: bytes

    @staticmethod
    def sealed(header: Header, body: bytes, key: SealingKey, subject: str) -> Envelope:
        """`key` is the one that the header names."""
        header_bytes = header.to_bytes()
        return Envelope(header, header_bytes, key.seal(body, _context(header_bytes, subject)))

    def unsealed(self, key: SealingKey, subject: str) -> bytes:
        """The body. Raises `GiveUp` (`not_authentic`) if header, subject, box and key do not belong together."""
        return key.unseal(self.box, _context(self.header_bytes, subject))

    def to_bytes(self) -> bytes:
        return self.header_bytes + b"\n" + self.box

    @staticmethod
    def from_bytes(data: bytes) -> Envelope:
        """Raises `GiveUp` (`unreadable_envelope`) for bytes that no version of Hindsight wrote."""
        header_bytes, separator, box = data.partition(b"\n")
        try:
            if not separator:
                raise ValueError("no header line")
            return Envelope(Header.from_bytes(header_bytes), header_bytes, box)
        except (ValueError, KeyError, TypeError, UnicodeDecodeError) as fault:
            raise GiveUp(
                "unreadable_envelope", f"not an event of Hindsight: {type(fault).__name__}"
            ) from fault


def _context(header_bytes: bytes, subject: str) -> bytes:
    """What is authenticated beside the body."""
    return header_bytes + b"\n" + subject.encode()
