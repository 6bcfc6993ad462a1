"""What every request passes before it is routed: a bound on how many are in hand, and an answer for every end."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindsight_common.errors import RequestError
from hindsight_gateway.consumers.answering import problem
from hindsight_gateway.consumers.reading import check_path

_ALWAYS_ANSWERED: Final = "/health"


class Guard:
    """At most `most_in_hand` requests at a time; one more is refused at once with 503, so that none waits unseen.

    A request that the end of the process cuts short is answered with 503 too.
    """

    def __init__(self, app: ASGIApp, most_in_hand: int) -> None:
        self._app = app
        self._most_in_hand = most_in_hand
        self._in_hand = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._admit(scope)
        except RequestError as error:
            await problem(error)(scope, receive, send)
            return
        self._in_hand += 1
        try:
            await self._serve(scope, receive, send)
        finally:
            self._in_hand -= 1

    def _admit(self, scope: Scope) -> None:
        if self._in_hand >= self._most_in_hand and scope["path"] != _ALWAYS_ANSWERED:
            message = f"{self._most_in_hand} requests are in hand; try again shortly"
            raise RequestError("overloaded", message, status=503)
        check_path(scope["raw_path"])

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_answered = False

        async def answer(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except asyncio.CancelledError:
            if is_answered:
                raise
            # only the server cancels, and it waits for nothing more than this answer
            stopping = RequestError("unavailable", "the gateway is stopping; ask again", status=503)
            with suppress(OSError):
                await problem(stopping)(scope, receive, send)
        except Exception:
            # the framework raises again what it has answered and logged
            if not is_answered:
                raise
