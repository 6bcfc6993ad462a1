"""The async client: what an application imports to write turns and to ask for memories."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, TypeVar

import nats.errors
from nats.aio.client import Client
from pydantic import BaseModel, ValidationError

from hindsight_client.deployment import find_nats_url
from hindsight_client.turn_publishing import PublishedTurn, complete_turn, publish_turn
from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.events import subjects
from hindsight_common.events.answers import (
    ForgetAnswer,
    ListAnswer,
    MemoryOut,
    Progress,
    RecallAnswer,
    TurnAnswer,
    WriteAnswer,
)
from hindsight_common.events.requests import (
    ConsolidateRequest,
    ForgetRequest,
    ListRequest,
    RecallRequest,
    TurnRequest,
)
from hindsight_common.events.strict_json import build
from hindsight_common.messaging.requester import request, request_progress
from hindsight_common.messaging.roll_call import RunningService, running_services

DEFAULT_TIMEOUT_S: Final = 5.0
FORGET_TIMEOUT_S: Final = 60.0
# Between two signs of life of a long job
JOB_TIMEOUT_S: Final = 120.0
_TEMPORARY: Final = frozenset({"no_responders", "timeout", "unavailable", "no_stream", "not_published"})
_FIRST_PAUSE_S: Final = 0.1

Result = TypeVar("Result")
Answer = TypeVar("Answer", bound=BaseModel)


class NoServer(StopAndFix):
    """Nobody let us in at `places` within `patience_s` seconds; `fault` names what refused us, if something did."""

    def __init__(self, places: str, patience_s: float, fault: str = "") -> None:
        super().__init__(
            f"no NATS server let us in at {places} within {patience_s:g} s; start Hindsight, "
            "or name another address with --nats-url or HINDSIGHT_NATS_URL" + (f" ({fault})" if fault else "")
        )
        self.places = places
        self.patience_s = patience_s


class HindsightClient:
    """One connection for one tenant; safe to share between the tasks of one event loop.

    Every method raises `RequestError`: what the service refused (with the field at fault), 503 while nobody
    answers, 504 when the time ran out. What may be repeated without harm is, `retries` times.
    """

    def __init__(self, nc: Client, tenant: str, *, timeout_s: float, retries: int) -> None:
        self.nc = nc
        self.tenant = tenant
        self._js = nc.jetstream()
        self._timeout_s = timeout_s
        self._retries = retries

    @classmethod
    async def connect(
        cls,
        url: str | None = None,
        tenant: str = subjects.DEFAULT_TENANT,
        *,
        config: Path | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        retries: int = 3,
    ) -> HindsightClient:
        """Connected to the deployment that `find_nats_url` finds; it reconnects by itself from then on.

        Raises `StopAndFix` when nobody answers there within `timeout_s`, or for a name that is no tenant's.
        """
        if not subjects.TENANT_PATTERN.fullmatch(tenant):
            raise StopAndFix("a tenant is named by 1 to 32 of a-z, 0-9 and -")
        where = find_nats_url(url, config)
        return cls(await _connected(where, timeout_s), tenant, timeout_s=timeout_s, retries=retries)

    async def close(self) -> None:
        if not self.nc.is_closed:
            await self.nc.close()

    async def __aenter__(self) -> HindsightClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def recall(self, user_id: str, query: str, **options: Any) -> RecallAnswer:
        """The memories that matter for `query`, best first. `options` are the other fields of `RecallRequest`."""
        asked = _request(RecallRequest, {"user_id": user_id, "query": query, **options})
        return await self._ask(subjects.MEMORY_RECALL, asked, RecallAnswer)

    async def write(self, turn: Mapping[str, Any]) -> WriteAnswer:
        """Hands a turn to intake and returns once it is kept. Without a `turn_id` it gets one, which all retries
        share, so that none of them stores it again.
        """
        return await self._ask(subjects.MEMORY_WRITE, complete_turn(turn), WriteAnswer)

    async def publish_turn(self, turn: Mapping[str, Any]) -> PublishedTurn:
        """Puts a turn into the stream of raw turns, as a chat backend does; what becomes of it says `turn`."""
        complete = complete_turn(turn)
        return await self._retried(lambda: publish_turn(self._js, self.tenant, complete, self._timeout_s))

    async def turn(self, user_id: str, turn_id: str) -> TurnAnswer:
        """What became of a turn; an unknown one is `RequestError("not_found")`."""
        asked = _request(TurnRequest, {"user_id": user_id, "turn_id": turn_id})
        return await self._ask(subjects.MEMORY_TURN, asked, TurnAnswer)

    async def list(self, user_id: str, **options: Any) -> ListAnswer:
        """One page of a user's memories. `options` are `status`, `cursor` and `limit`."""
        return await self._ask(
            subjects.MEMORY_LIST, _request(ListRequest, {"user_id": user_id, **options}), ListAnswer
        )

    async def list_all(self, user_id: str, **options: Any) -> AsyncIterator[MemoryOut]:
        """Every memory of a user, page by page."""
        cursor = None
        while True:
            page = await self.list(user_id, **options, **({"cursor": cursor} if cursor else {}))
            for memory in page.memories:
                yield memory
            if (cursor := page.cursor) is None:
                return

    async def forget(
        self,
        user_id: str,
        *,
        memory_ids: Sequence[str] | None = None,
        session_id: str | None = None,
        everything: bool = False,
        confirm: bool = False,
    ) -> ForgetAnswer:
        """Exactly one of the three filters. Without `confirm` what would be forgotten, with it the receipt."""
        filters: dict[str, Any] = {"user_id": user_id, "confirm": confirm}
        if memory_ids is not None:
            filters["memory_ids"] = list(memory_ids)
        if session_id is not None:
            filters["session_id"] = session_id
        if everything:
            filters["everything"] = True
        asked = _request(ForgetRequest, filters)
        return await self._ask(subjects.MEMORY_FORGET, asked, ForgetAnswer, timeout_s=FORGET_TIMEOUT_S)

    def rebuild(self, store: Literal["vectors", "graph"]) -> AsyncIterator[Progress]:
        """Makes a projection again from the log, for all tenants; the last step is `done`."""
        subject = {"vectors": subjects.ADMIN_REBUILD_VECTORS, "graph": subjects.ADMIN_REBUILD_GRAPH}[store]
        return self._job(subject, {})

    def consolidate(self, user_id: str) -> AsyncIterator[Progress]:
        """Promotes what a user's memories establish into the graph; a second run changes nothing."""
        asked = _request(ConsolidateRequest, {"user_id": user_id})
        return self._job(subjects.for_tenant(subjects.ADMIN_CONSOLIDATE, self.tenant), asked)

    async def services(self) -> tuple[RunningService, ...]:
        """The workers that answer now."""
        return await running_services(self.nc)

    async def _job(self, subject: str, body: Mapping[str, Any]) -> AsyncIterator[Progress]:
        async for step in request_progress(self.nc, subject, body, timeout_s=JOB_TIMEOUT_S):
            yield _answer(Progress, step)

    async def _ask(
        self,
        base: str,
        body: Mapping[str, Any],
        answer: type[Answer],
        *,
        timeout_s: float | None = None,
    ) -> Answer:
        subject = subjects.for_tenant(base, self.tenant)
        said = await self._retried(
            lambda: request(self.nc, subject, body, timeout_s=timeout_s or self._timeout_s)
        )
        return _answer(answer, said)

    async def _retried(self, attempt: Callable[[], Awaitable[Result]]) -> Result:
        pause_s = _FIRST_PAUSE_S
        for _ in range(self._retries):
            try:
                return await attempt()
            except RequestError as error:
                if error.code not in _TEMPORARY:
                    raise
            await asyncio.sleep(pause_s)
            pause_s *= 2
        return await attempt()


def _request(model: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they travel, checked first: a mistake is told before anything is sent."""
    asked = build(model, fields, code="invalid_request")
    return asked.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _answer(model: type[Answer], said: Mapping[str, Any]) -> Answer:
    try:
        return model.model_validate(said)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        message = f"the answer is not as agreed at {where}; do client and server have the same version?"
        raise RequestError("bad_answer", message, status=502) from error


async def _connected(url: str, patience_s: float) -> Client:
    async def ignore(error: Exception) -> None:
        """Every call says by itself what failed."""
        del error

    nc = Client()
    try:
        async with asyncio.timeout(patience_s):
            # -1: with a finite budget the connection would be given up for good during an outage
            await nc.connect(
                url.split(","),
                name="hindsight-client",
                max_reconnect_attempts=-1,
                reconnect_time_wait=0.5,  # type: ignore[arg-type]  # seconds, fractions work
                ping_interval=15,
                error_cb=ignore,
            )
    except TimeoutError:
        raise NoServer(_places(url), patience_s) from None
    except (nats.errors.Error, OSError, ValueError) as error:
        raise NoServer(_places(url), patience_s, type(error).__name__) from error
    return nc


def _places(url: str) -> str:
    """Hosts and ports only: an address may carry a password."""
    return ", ".join(one.rpartition("@")[2].rpartition("/")[2] for one in url.split(","))
