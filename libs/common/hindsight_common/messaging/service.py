"""Request-reply: every request gets an answer or an error, in a task of its own, and the service can be discovered.

Endpoints listen on their subject and on the subject with a tenant's token behind it, as members of one queue group.
FastStream's and nats.micro's own subscriptions handle one request after the other, so only the discovery protocol is
nats.micro's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import nats.errors
import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from hindsight_common.errors import GiveUp, RequestError, RetryLater
from hindsight_common.events.subjects import TENANT_PATTERN, tenant_of
from hindsight_common.messaging.answers import (
    Answer,
    encoded,
    error_body,
    error_headers,
    plain,
    refusal,
)
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.discovery import Discovery, EndpointFigures
from hindsight_common.messaging.reading import plain_headers
from hindsight_common.messaging.request_telemetry import RequestTelemetry
from hindsight_common.observability.logs import places

DEFAULT_CONCURRENCY: Final = 64
STOP_GRACE_S: Final = 10.0
# inboxes, and what the server puts in their place for askers of another account
REPLY_PREFIXES: Final = ("_INBOX.", "_R_.")

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came in: `data` is unread, `tenant` is well-formed and taken from the subject."""

    tenant: str
    data: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Result:
    """The last thing an iterating handler yields; all before it is progress."""

    answer: Answer


Progress = AsyncIterator[Answer | Result]
Handler = Callable[[Request], Awaitable[Answer | Progress] | Progress]


class Endpoint:
    """One subject with its handler."""

    def __init__(self, bus: Bus, name: str, subject: str, handler: Handler, concurrency: int) -> None:
        self._nc = bus.nc
        self.figures = EndpointFigures(name, subject)
        self.subject = subject
        self._handler = handler
        self._places = asyncio.Semaphore(concurrency)
        self._running: set[asyncio.Task[None]] = set()
        self._subscriptions: list[Subscription] = []
        self._telemetry = RequestTelemetry(subject)

    async def subscribe(self) -> None:
        for subject in (self.subject, f"{self.subject}.*"):
            self._subscriptions.append(
                await self._nc.subscribe(subject, queue=self.figures.queue_group, cb=self._on_message)
            )

    async def close(self, grace_s: float) -> None:
        """Takes no more requests, finishes those it has, and answers the ones it has no time for."""
        for subscription in self._subscriptions:
            with suppress(nats.errors.Error, TimeoutError):
                async with asyncio.timeout(grace_s):
                    await subscription.drain()  # type: ignore[no-untyped-call]
        self._subscriptions.clear()
        if self._running:
            _, late = await asyncio.wait(tuple(self._running), timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _on_message(self, message: Msg) -> None:
        await self._places.acquire()
        task = asyncio.create_task(self._serve(message), name=self.figures.name)
        self._running.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._places.release()

    async def _serve(self, message: Msg) -> None:
        headers = plain_headers(message)
        with self._telemetry.serving(headers) as served:
            error: RequestError | None = None
            try:
                await self._answer(message, headers)
            except asyncio.CancelledError:
                error = RequestError("unavailable", "the service is stopping; ask again", status=503)
            except Exception as raised:  # noqa: BLE001 - a request is never left in silence
                error = refusal(raised)
                if not isinstance(raised, RequestError | RetryLater | GiveUp):
                    _report(self.subject, raised)
            if error is not None:
                await self._reply(message, error_body(error), error_headers(error))
            self.figures.count(served(error), error)

    async def _answer(self, message: Msg, headers: Mapping[str, str]) -> None:
        tenant = tenant_of(message.subject, self.subject)
        if not TENANT_PATTERN.fullmatch(tenant):
            raise RequestError("invalid_tenant", "a tenant is named by 1 to 32 of a-z, 0-9 and -", status=400)
        outcome = self._handler(Request(tenant, message.data, headers))
        answer = await outcome if isinstance(outcome, Awaitable) else outcome
        if isinstance(answer, AsyncIterator):
            await self._follow(message, answer)
        else:
            await self._reply(message, answer)

    async def _follow(self, message: Msg, progress: Progress) -> None:
        """Sends each step as it comes; the end is marked even when the handler has nothing to say at it."""
        result: Mapping[str, Any] = {}
        async for step in progress:
            if isinstance(step, Result):
                result = plain(step.answer)
            else:
                await self._reply(message, {"done": False, "progress": plain(step)})
        await self._reply(message, {"done": True, "result": result})

    async def _reply(self, message: Msg, answer: Answer, headers: dict[str, str] | None = None) -> None:
        if not message.reply.startswith(REPLY_PREFIXES):
            # the asker chose it, and it may name what only we may write to
            return
        try:
            await self._nc.publish(
                message.reply,
                encoded(answer),
                headers={"content-type": "application/json", **(headers or {})},
            )
        except nats.errors.MaxPayloadError:
            raise RequestError(
                "answer_too_large", "the answer exceeds what the bus carries; ask for less", status=413
            ) from None
        except nats.errors.Error as error:
            # the asker sees its connection fail or its time run out
            _log.warning("answer_not_sent", endpoint=self.subject, error_type=type(error).__name__)


def _report(subject: str, error: Exception) -> None:
    _log.error("request_failed", endpoint=subject, error_type=type(error).__name__, error_at=places(error))


class Service:
    """Name it, add endpoints, `start` it. `name` takes letters, digits, - and _; `version` is semantic."""

    def __init__(self, bus: Bus, name: str, version: str, description: str) -> None:
        self._bus = bus
        self._endpoints: list[Endpoint] = []
        self._discovery = Discovery(bus.nc, name, version, description)

    def endpoint(
        self, name: str, subject: str, handler: Handler, *, concurrency: int = DEFAULT_CONCURRENCY
    ) -> None:
        """Answers `subject` and `subject.{tenant}`, at most `concurrency` requests at a time; call before `start`.

        The handler returns a model or a mapping, or it is (or returns) an async iterator that yields progress and
        at last a Result. RequestError is answered as it is, RetryLater as 503, anything unexpected as 500 without
        details.
        """
        endpoint = Endpoint(self._bus, name, subject, handler, concurrency)
        self._endpoints.append(endpoint)
        self._discovery.figures.append(endpoint.figures)

    async def start(self) -> None:
        """Returns once the server routes requests here."""
        for endpoint in self._endpoints:
            await endpoint.subscribe()
        await self._discovery.start()
        # behind the subscriptions: only then no client is told that nobody answers
        await self._bus.nc.flush()

    async def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Answers what is in hand and takes nothing more. Idempotent."""
        with suppress(nats.errors.Error, TimeoutError):
            await self._discovery.stop()
        await asyncio.gather(*(endpoint.close(grace_s) for endpoint in self._endpoints))
        with suppress(nats.errors.Error, TimeoutError):
            await self._bus.nc.flush(timeout=2)
