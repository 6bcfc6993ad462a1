"""A program as a child of this process, started again whenever it dies."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

import structlog

from hindsight_common.adapters.embedded.child_process import die_with_parent
from hindsight_common.errors import StopAndFix

STOP_TIMEOUT_S: Final = 10.0
FIRST_BACKOFF_S: Final = 0.1
LONGEST_BACKOFF_S: Final = 5.0
# a child that lived this long was healthy: the next restart is immediate again
HEALTHY_AFTER_S: Final = 30.0
FAILURES_TO_REPORT: Final = 5

_log = structlog.get_logger(__name__)


class SupervisedChild:
    """`launch` returns the program once it answers, or ends it and raises `StopAndFix` or OSError.

    `on_failure` is told why, when it could not be started again five times in a row; it goes on trying.
    """

    def __init__(
        self,
        name: str,
        launch: Callable[[], Awaitable[Process]],
        on_failure: Callable[[StopAndFix], None] | None = None,
    ) -> None:
        self._name = name
        self._launch = launch
        self._on_failure = on_failure
        self._child: Process | None = None
        self._supervision: asyncio.Task[None] | None = None
        self.restarts = 0

    @property
    def pid(self) -> int | None:
        """Of the running child; None while there is none."""
        child = self._child
        return child.pid if child is not None and child.returncode is None else None

    async def start(self) -> None:
        """Raises what `launch` does."""
        self._child = await self._launch()
        self._supervision = asyncio.create_task(self._supervise(), name=f"{self._name} supervision")

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL for one that does not end within 10 s. Idempotent."""
        if self._supervision is not None:
            self._supervision.cancel()
            with suppress(asyncio.CancelledError):
                await self._supervision
            self._supervision = None
        child, self._child = self._child, None
        if child is not None:
            await end(child)

    async def _supervise(self) -> None:
        backoff_s = FIRST_BACKOFF_S
        failures = 0
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            if self._child is not None:
                status = await self._child.wait()
                _log.error("child_died", program=self._name, status=status)
                self._child = None
            if loop.time() - started > HEALTHY_AFTER_S:
                backoff_s = FIRST_BACKOFF_S
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, LONGEST_BACKOFF_S)
            try:
                self._child = await self._launch()
            except (StopAndFix, OSError) as error:
                failures += 1
                self._report(error, failures)
            else:
                failures = 0
                self.restarts += 1
                _log.info("child_restarted", program=self._name, restarts=self.restarts)

    def _report(self, error: StopAndFix | OSError, failures: int) -> None:
        _log.error(
            "child_not_restarted", program=self._name, error_type=type(error).__name__, failures=failures
        )
        # the port of one that was killed may be held for a moment more
        if failures >= FAILURES_TO_REPORT and self._on_failure is not None and isinstance(error, StopAndFix):
            self._on_failure(error)


async def spawn(command: Sequence[str]) -> Process:
    """Starts a program that hears nothing, says nothing and dies with this process."""
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        # its own session: Ctrl-C at the terminal reaches us, and we stop it in our order
        start_new_session=True,
        preexec_fn=die_with_parent(),
    )


async def end(child: Process) -> None:
    if child.returncode is not None:
        return
    with suppress(ProcessLookupError):
        child.terminate()
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await child.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()
