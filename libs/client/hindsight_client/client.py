"""The async client: what an application imports to write turns and to ask for memories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, Unpack

from nats.aio.client import Client

from hindsight_client.asking import Asking, checked, typed
from hindsight_client.connecting import connected
from hindsight_client.deployment import find_credentials, find_nats_url
from hindsight_client.errors import StopAndFix
from hindsight_client.options import (
    DecideOptions,
    InjectOptions,
    ListOptions,
    PageOptions,
    RecallOptions,
    Turn,
)
from hindsight_client.turn_publishing import PublishedTurn, complete_turn, publish_closed, publish_turn
from hindsight_common.events import subjects
from hindsight_common.events.answers import (
    ExtractionAnswer,
    ForgetAnswer,
    InjectAnswer,
    ListAnswer,
    MemoryAnswer,
    MemoryOut,
    Progress,
    PruningPlan,
    RecallAnswer,
    StatusAnswer,
    TurnAnswer,
    WriteAnswer,
)
from hindsight_common.events.requests import (
    ConsolidateRequest,
    DecideRequest,
    ForgetRequest,
    GetRequest,
    InjectRequest,
    ListRequest,
    RecallRequest,
    TurnRequest,
)
from hindsight_common.messaging.roll_call import RunningService, running_services

DEFAULT_TIMEOUT_S: Final = 5.0
FORGET_TIMEOUT_S: Final = 60.0
# Between two signs of life of a long job
JOB_TIMEOUT_S: Final = 120.0
# not among the declared subjects while no worker answers it
ADMIN_PRUNE: Final = "admin.prune"


class HindsightClient:
    """One connection for one tenant; safe to share between the tasks of one event loop.

    Methods raise what `hindsight_client.errors` shows. A call that failed for a temporary reason is repeated
    `retries` times; a turn keeps its `turn_id` then, so that it is stored once.
    """

    def __init__(self, nc: Client, tenant: str, *, timeout_s: float, retries: int) -> None:
        self.nc = nc
        self.tenant = tenant
        self._js = nc.jetstream()
        self._asking = Asking(nc, timeout_s=timeout_s, retries=retries)

    @classmethod
    async def connect(
        cls,
        url: str | None = None,
        tenant: str = subjects.DEFAULT_TENANT,
        *,
        config: Path | None = None,
        user: str | None = None,
        credentials: Path | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        retries: int = 3,
    ) -> Self:
        """Connected to the deployment that `find_nats_url` finds; it reconnects by itself from then on.

        `user` is that of the NATS server, such as `tenant-acme`, with HINDSIGHT_NATS_PASSWORD, or `credentials` is a
        file; without them the environment is asked (`find_credentials`). Raises `StopAndFix` when nobody answers
        within `timeout_s`, or for a name that is no tenant's.
        """
        if not subjects.TENANT_PATTERN.fullmatch(tenant):
            raise StopAndFix("a tenant is named by 1 to 32 of a-z, 0-9 and -")
        where, who = find_nats_url(url, config), find_credentials(user, credentials, config)
        return cls(await connected(where, timeout_s, who), tenant, timeout_s=timeout_s, retries=retries)

    async def close(self) -> None:
        if not self.nc.is_closed:
            await self.nc.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def write(self, turn: Turn | Mapping[str, Any]) -> WriteAnswer:
        """Hands a turn to intake and returns once it is kept. Without a `turn_id` it gets one, which all retries
        share, so that none of them stores it again.
        """
        return await self._asking.ask(self._mine(subjects.MEMORY_WRITE), complete_turn(turn), WriteAnswer)

    async def publish_turn(self, turn: Turn | Mapping[str, Any]) -> PublishedTurn:
        """Puts a turn into the stream of raw turns, as a chat backend does; what becomes of it says `turn`."""
        complete = complete_turn(turn)
        return await self._asking.repeated(
            lambda: publish_turn(self._js, self.tenant, complete, self._asking.timeout_s)
        )

    async def close_session(self, user_id: str, session_id: str) -> None:
        """Says that a conversation is over: its working memory is released, and a late turn does not reopen it.

        Returns once the bus holds the notice; saying it again changes nothing.
        """
        notice = {"user_id": user_id, "session_id": session_id}
        await self._asking.repeated(
            lambda: publish_closed(self._js, self.tenant, notice, self._asking.timeout_s)
        )

    async def turn(self, user_id: str, turn_id: str) -> TurnAnswer:
        """What became of a turn; an unknown one is `RequestError("not_found")`."""
        asked = checked(TurnRequest, {"user_id": user_id, "turn_id": turn_id})
        return await self._asking.ask(self._mine(subjects.MEMORY_TURN), asked, TurnAnswer)

    async def recall(self, user_id: str, query: str, **options: Unpack[RecallOptions]) -> RecallAnswer:
        """The memories that matter for `query`, best first."""
        asked = checked(RecallRequest, {"user_id": user_id, "query": query, **options})
        return await self._asking.ask(self._mine(subjects.MEMORY_RECALL), asked, RecallAnswer)

    async def inject(
        self, user_id: str, session_id: str, query: str, **options: Unpack[InjectOptions]
    ) -> InjectAnswer:
        """The block of memory for one call of an LLM that is to answer `query`; put its `snapshot` into the prompt."""
        said = {"user_id": user_id, "session_id": session_id, "query": query, **options}
        asked = checked(InjectRequest, said)
        return await self._asking.ask(self._mine(subjects.MEMORY_INJECT), asked, InjectAnswer)

    async def get(self, user_id: str, memory_id: str) -> MemoryOut:
        """One memory, whatever its status; an unknown, forgotten or foreign one is `RequestError("not_found")`."""
        asked = checked(GetRequest, {"user_id": user_id, "memory_id": memory_id})
        return (await self._asking.ask(self._mine(subjects.MEMORY_GET), asked, MemoryAnswer)).memory

    async def decide(self, user_id: str, memory_id: str, **decision: Unpack[DecideOptions]) -> MemoryAnswer:
        """Someone's word about a memory: corrects it, or pins it. A corrected memory has an id of its own.

        `position` of the answer is for `wait_for` of a recall that must reflect it.
        """
        asked = checked(DecideRequest, {"user_id": user_id, "memory_id": memory_id, **decision})
        return await self._asking.ask(self._mine(subjects.MEMORY_DECIDE), asked, MemoryAnswer)

    async def list(self, user_id: str, **options: Unpack[PageOptions]) -> ListAnswer:
        """One page of a user's memories."""
        asked = checked(ListRequest, {"user_id": user_id, **options})
        return await self._asking.ask(self._mine(subjects.MEMORY_LIST), asked, ListAnswer)

    async def list_all(self, user_id: str, **options: Unpack[ListOptions]) -> AsyncIterator[MemoryOut]:
        """Every memory of a user, page by page."""
        cursor: str | None = None
        while True:
            page = await self.list(user_id, **options, cursor=cursor)
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
            filters["memory_ids"] = [*memory_ids]
        if session_id is not None:
            filters["session_id"] = session_id
        if everything:
            filters["everything"] = True
        asked = checked(ForgetRequest, filters)
        return await self._asking.ask(
            self._mine(subjects.MEMORY_FORGET), asked, ForgetAnswer, timeout_s=FORGET_TIMEOUT_S
        )

    def rebuild(self, store: Literal["vectors", "graph"]) -> AsyncIterator[Progress]:
        """Makes a projection again from the log, for all tenants; the last step is `done`."""
        subject = {"vectors": subjects.ADMIN_REBUILD_VECTORS, "graph": subjects.ADMIN_REBUILD_GRAPH}[store]
        return self._asking.follow(subject, {}, timeout_s=JOB_TIMEOUT_S)

    def consolidate(self, user_id: str) -> AsyncIterator[Progress]:
        """Promotes what a user's memories establish into the graph; a second run changes nothing."""
        asked = checked(ConsolidateRequest, {"user_id": user_id})
        return self._asking.follow(self._mine(subjects.ADMIN_CONSOLIDATE), asked, timeout_s=JOB_TIMEOUT_S)

    async def status(self) -> StatusAnswer:
        """What waits where, and how far the stores are, for the whole deployment."""
        return await self._asking.ask(subjects.ADMIN_STATUS, {}, StatusAnswer)

    async def extraction(self) -> ExtractionAnswer:
        """By whom turns are read, and what keeps the LLM from it."""
        return await self._asking.ask(subjects.ADMIN_EXTRACTION, {}, ExtractionAnswer)

    async def pruning_plan(self) -> PruningPlan:
        """What the pruner would take out of the graph and why; nothing is taken out."""
        plan = PruningPlan()
        async for step in self._asking.follow(ADMIN_PRUNE, {"dry_run": True}, timeout_s=JOB_TIMEOUT_S):
            if step.done:
                plan = typed(PruningPlan, step.result or {})
        return plan

    async def services(self) -> tuple[RunningService, ...]:
        """The workers that answer now."""
        return await running_services(self.nc)

    def _mine(self, subject: str) -> str:
        return subjects.for_tenant(subject, self.tenant)
