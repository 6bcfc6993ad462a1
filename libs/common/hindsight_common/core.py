"""What every worker stands on: the bus, the ids, the keyring, the log, the accepted turns, the dead letters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hindsight_common.clock import Clock, SystemClock
from hindsight_common.errors import StopAndFix
from hindsight_common.ids import IdFactory
from hindsight_common.messaging.connection import Bus
from hindsight_common.messaging.dead_letters import NatsDeadLetters
from hindsight_common.messaging.keys import NatsKeyring
from hindsight_common.messaging.log import NatsMemoryLog
from hindsight_common.messaging.settlement import Pace
from hindsight_common.messaging.turns import NatsTurnStore
from hindsight_common.sealing import MasterKeys
from hindsight_common.settings import Settings


@dataclass(frozen=True, slots=True)
class Core:
    """Made once a process by `Core.over`; `start` before the first worker, `stop` after the last.

    `on_fatal` is told what made a worker's consumption stop for good, so that the process can end and say it.
    """

    bus: Bus
    settings: Settings
    clock: Clock
    ids: IdFactory
    master: MasterKeys
    keyring: NatsKeyring
    log: NatsMemoryLog
    turns: NatsTurnStore
    dead_letters: NatsDeadLetters
    pace: Pace = field(default_factory=Pace)
    on_fatal: Callable[[StopAndFix], None] | None = None

    @staticmethod
    def over(
        bus: Bus,
        settings: Settings,
        master_secret: bytes,
        *,
        clock: Clock | None = None,
        redact: Callable[[bytes], bytes] | None = None,
        pace: Pace | None = None,
        on_fatal: Callable[[StopAndFix], None] | None = None,
    ) -> Core:
        """`redact` is needed by the worker that reads raw turns: their dead letters pass through it."""
        master = MasterKeys.derive(master_secret)
        ids = IdFactory(master.pepper)
        keyring = NatsKeyring(bus, master)
        return Core(
            bus=bus,
            settings=settings,
            clock=clock or SystemClock(),
            ids=ids,
            master=master,
            keyring=keyring,
            log=NatsMemoryLog(bus, keyring, ids, master),
            turns=NatsTurnStore(bus, keyring),
            dead_letters=NatsDeadLetters(bus, keyring, master, redact),
            pace=pace or Pace(),
            on_fatal=on_fatal,
        )

    async def start(self) -> None:
        """Raises `StopAndFix` for another master secret than the deployment's."""
        await self.keyring.start()

    async def stop(self) -> None:
        await self.keyring.stop()
