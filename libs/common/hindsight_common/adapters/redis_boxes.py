"""One turn as Redis holds it: what orders it in clear, whose it is, and the rest sealed with its user's key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from hindsight_common.errors import GiveUp
from hindsight_common.ids import Owner
from hindsight_common.ports.working_memory import SpokenTurn
from hindsight_common.sealing import SealingKey

# microseconds since 1970, of `occurred_at` and then of `accepted_at`; fixed widths, so that text compares as numbers
_TIME_DIGITS: Final = 17
ORDER_DIGITS: Final = 2 * _TIME_DIGITS
CHARACTERS_DIGITS: Final = 8
_HEAD: Final = ORDER_DIGITS + CHARACTERS_DIGITS


@dataclass(frozen=True, slots=True)
class Box:
    """`owner` as it is written in the value: it is compared with who asks, before anything is opened."""

    owner: str
    key_id: str
    sealed: bytes


def boxed(owner: Owner, session_key: str, turn: SpokenTurn, key: SealingKey) -> bytes:
    order = "".join(f"{_microseconds(at):0{_TIME_DIGITS}d}" for at in (turn.occurred_at, turn.accepted_at))
    said = json.dumps(
        {
            "turn_id": turn.turn_id,
            "occurred_at": turn.occurred_at.isoformat(),
            "accepted_at": turn.accepted_at.isoformat(),
            "said": turn.said,
        }
    )
    sealed = key.seal(said.encode(), _context(owner, session_key, turn.turn_key))
    head = f"{order}{turn.characters:0{CHARACTERS_DIGITS}d}{owner}\n{key.key_id}\n"
    return head.encode() + sealed


def read_box(value: bytes) -> Box:
    """Raises `GiveUp` (`not_authentic`) for a value that is none of ours."""
    try:
        owner, key_id, sealed = value[_HEAD:].split(b"\n", 2)
        return Box(owner.decode("ascii"), key_id.decode("ascii"), sealed)
    except ValueError as fault:
        raise GiveUp("not_authentic", "a value of working memory does not have our form") from fault


def opened(box: Box, owner: Owner, session_key: str, turn_key: str, key: SealingKey) -> SpokenTurn:
    """Raises `GiveUp` (`not_authentic`) for a box that was changed, or moved here from another place."""
    fields = json.loads(key.unseal(box.sealed, _context(owner, session_key, turn_key)))
    return SpokenTurn(
        turn_key=turn_key,
        turn_id=fields["turn_id"],
        occurred_at=datetime.fromisoformat(fields["occurred_at"]),
        accepted_at=datetime.fromisoformat(fields["accepted_at"]),
        said=tuple((who, text) for who, text in fields["said"]),
    )


def _context(owner: Owner, session_key: str, turn_key: str) -> bytes:
    return f"working/{owner}/{session_key}/{turn_key}".encode()


def _microseconds(at: datetime) -> int:
    since = at.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
