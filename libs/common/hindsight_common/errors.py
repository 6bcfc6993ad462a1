"""Every error of Hindsight, branched by what the one who meets it should do.

HindsightError
├── RetryLater            temporary: the delivery is naked and comes again, with a growing delay
├── GiveUp                this message can never succeed: it becomes a dead letter with the cause
├── StopAndFix            configuration or deployment is wrong: the process stops and says what to change
└── RequestError          an answer to a client: code, HTTP-like status, message, and the field at fault
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_common.ids import Owner


class HindsightError(Exception):
    """Root of the tree."""


class RetryLater(HindsightError):
    """A temporary fault. `delay_s` overrides the growing delay of the delivery boundary when it is known."""

    def __init__(self, reason: str, *, delay_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.delay_s = delay_s


class GiveUp(HindsightError):
    """A permanent fault of one message. `code` is stable and lands in the dead letter beside the reason.

    `owner` and `turn_key` address the dead letter where they are known, so that the user's erasure finds it and
    `memory.turn` can answer with it.
    """

    def __init__(
        self,
        code: str,
        reason: str,
        *,
        field: str | None = None,
        owner: Owner | None = None,
        turn_key: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.field = field
        self.owner = owner
        self.turn_key = turn_key


class StopAndFix(HindsightError):
    """The process cannot go on; the message says what to change."""


class RequestError(HindsightError):
    """A refused request.

    `status` follows HTTP (400 bad request, 403, 404, 409, 503, 504); `field` names the offending field as a
    JSON path such as `messages.0.content`; the message says what is wrong and the way out.
    """

    def __init__(self, code: str, message: str, *, status: int = 400, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.field = field
