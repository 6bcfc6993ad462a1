"""`hindsight-standalone` that kills itself with -9 at a place and a moment that the environment names.

FAULT_PLACE: `after_append` (an event is in the log, its turn not acknowledged), `before_ack` (a turn is accepted or
extracted, the acknowledgement not sent), `mid_projection` (half of a batch is in the index). FAULT_AFTER: at which
such moment. FAULT_FILE: where it writes, before it dies, what was unacknowledged then.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nats.aio.msg import Msg

from hindsight_common.adapters.qdrant_edge import QdrantEdgeIndex
from hindsight_common.messaging.application import Application
from hindsight_common.messaging.consumption import Consumption
from hindsight_common.messaging.log import NatsMemoryLog
from hindsight_common.ports.memory_index import IndexRow
from hindsight_standalone.__main__ import main

PLACE = os.environ["FAULT_PLACE"]
LEFT = int(os.environ["FAULT_AFTER"])

_buses: list[Any] = []


async def die_if_due(stream: str, durable: str) -> None:
    global LEFT  # noqa: PLW0603 - one countdown for the process is what this is about
    LEFT -= 1
    if LEFT > 0:
        return
    info = await _buses[0].js.consumer_info(stream, durable)
    Path(os.environ["FAULT_FILE"]).write_text(
        json.dumps({"place": PLACE, "unacknowledged": info.num_ack_pending})
    )
    os.kill(os.getpid(), signal.SIGKILL)


def install() -> None:
    whole_run = Application.run

    async def run(self: Application, *arguments: Any) -> None:
        _buses.append(self._bus)
        await whole_run(self, *arguments)

    Application.run = run  # type: ignore[method-assign,assignment]
    if PLACE == "after_append":
        append = NatsMemoryLog.append

        async def append_and_die(self: NatsMemoryLog, *arguments: Any, **more: Any) -> int:
            position = await append(self, *arguments, **more)
            await die_if_due("TURNS", "extractor")
            return position

        NatsMemoryLog.append = append_and_die  # type: ignore[method-assign]
    elif PLACE == "before_ack":
        settle = Consumption._settle

        async def die_and_settle(self: Consumption, message: Msg, *arguments: Any, **more: Any) -> None:
            if self.spec.durable in ("intake", "extractor"):
                await die_if_due(self.spec.stream, self.spec.durable)
            await settle(self, message, *arguments, **more)

        Consumption._settle = die_and_settle  # type: ignore[method-assign]
    elif PLACE == "mid_projection":
        upsert = QdrantEdgeIndex.upsert

        async def half_upsert(self: QdrantEdgeIndex, rows: Sequence[IndexRow]) -> None:
            await upsert(self, rows[: len(rows) // 2])
            await die_if_due("LOG", "vectors")
            await upsert(self, rows[len(rows) // 2 :])

        QdrantEdgeIndex.upsert = half_upsert  # type: ignore[method-assign]
    else:
        raise ValueError(PLACE)


if __name__ == "__main__":
    install()
    sys.exit(main())
