"""Requests on their way: checked before, repeated where that does no harm, their answers typed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from nats.aio.client import Client
from pydantic import BaseModel, ValidationError

from hindsight_client.errors import ClientClosed, RequestError, is_temporary
from hindsight_common.events.answers import Progress
from hindsight_common.events.strict_json import build
from hindsight_common.messaging.requester import request, request_progress

FIRST_PAUSE_S: Final = 0.1

Result = TypeVar("Result")
Answer = TypeVar("Answer", bound=BaseModel)


class Asking:
    """Over one connection; `timeout_s` is for one attempt, `retries` are made after the first, each pause longer."""

    def __init__(self, nc: Client, *, timeout_s: float, retries: int) -> None:
        self._nc = nc
        self.timeout_s = timeout_s
        self._retries = retries

    async def ask(
        self, subject: str, body: Mapping[str, Any], answer: type[Answer], *, timeout_s: float | None = None
    ) -> Answer:
        said = await self.repeated(
            lambda: request(self._nc, subject, body, timeout_s=timeout_s or self.timeout_s)
        )
        return typed(answer, said)

    async def follow(
        self, subject: str, body: Mapping[str, Any], *, timeout_s: float
    ) -> AsyncIterator[Progress]:
        """A long job's signs of life, at most `timeout_s` apart; never repeated by itself."""
        self._refuse_if_closed()
        async for step in request_progress(self._nc, subject, body, timeout_s=timeout_s):
            yield typed(Progress, step)

    async def repeated(self, attempt: Callable[[], Awaitable[Result]]) -> Result:
        """The result of the first attempt that does not fail for a temporary reason."""
        pause_s = FIRST_PAUSE_S
        for _ in range(self._retries):
            self._refuse_if_closed()
            try:
                return await attempt()
            except RequestError as error:
                if not is_temporary(error):
                    raise
            await asyncio.sleep(pause_s)
            pause_s *= 2
        self._refuse_if_closed()
        return await attempt()

    def _refuse_if_closed(self) -> None:
        if self._nc.is_closed:
            raise ClientClosed


def checked(model: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they travel, checked first: a mistake is told before anything is sent."""
    asked = build(model, fields, code="invalid_request")
    return asked.model_dump(mode="json", by_alias=True, exclude_unset=True)


def typed(model: type[Answer], said: Mapping[str, Any]) -> Answer:
    try:
        return model.model_validate(said)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        message = f"the answer is not as agreed at {where}; do client and server have the same version?"
        raise RequestError("bad_answer", message, status=502) from error
