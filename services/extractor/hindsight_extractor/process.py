"""The extractor as a process of its own."""

from __future__ import annotations

from hindsight_common.process.redis_store import working_memory
from hindsight_common.process.worker_process import Ground, Store, WorkerProcess
from hindsight_extractor.bootstrap import ExtractorWorker, build
from hindsight_extractor.domain.redaction import redact_bytes


class _Parts:
    def __init__(self, ground: Ground) -> None:
        self._core = ground.whole
        self._working = working_memory(self._core)
        # turns are accepted and read while it is away
        self.stores = (Store("redis", self._working.check, self._working.close, awaited=False),)

    async def prepare(self) -> None:
        """Rules and prompts are read when the worker is made."""

    def build(self) -> ExtractorWorker:
        return build(self._core, self._working)


PROCESS = WorkerProcess(
    name="extractor",
    english="Takes turns in and distils them. Any number of processes share the work.",
    chinese="接收轮次并提炼记忆。可运行任意多个进程分担工作。",
    open=_Parts,
    reads=("redis_url", "intake.*", "llm.*", "retention.*", "memory_layers.working.session_ttl_hours"),
    needs=("redis_url",),
    redact=redact_bytes,
)
