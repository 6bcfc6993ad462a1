"""The gateway as a process of its own."""

from __future__ import annotations

from hindsight_common.process.worker_process import Flag, Ground, Store, WorkerProcess
from hindsight_gateway.bootstrap import GatewayWorker, build


class _Parts:
    """It needs the bus only: no key, no store."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self.stores: tuple[Store, ...] = ()

    async def prepare(self) -> None:
        """Nothing of it takes long to make."""

    def build(self) -> GatewayWorker:
        settings = self._ground.settings
        return build(self._ground.bus, settings.api_host, settings.api_port)


PROCESS = WorkerProcess(
    name="gateway",
    english="HTTP in front of the bus. Any number of processes share the work.",
    chinese="消息总线之前的 HTTP 入口。可运行任意多个进程分担工作。",
    open=_Parts,
    reads=("api_host", "api_port"),
    flags=(
        Flag("--http-port", "api_port", "where HTTP listens; 0 takes a free port", "HTTP 端口，0 表示任取"),
    ),
    has_secret=False,
)
