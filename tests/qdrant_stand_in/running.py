"""Starts and ends the stand-in from a test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

from hindsight_common.adapters.embedded.child_process import die_with_parent

READY_S = 60.0


class QdrantStandIn:
    """`start` returns once it answers at `url`; the folder and the port survive `stop` and `kill`."""

    def __init__(self, folder: Path, port: int = 0, *, api_key: str | None = None) -> None:
        self._folder = folder
        self._port = port
        self._api_key = api_key
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    @property
    def log(self) -> Path:
        return self._folder / "server.log"

    def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._port = self._port or free_port()
        command = [sys.executable, "-m", "qdrant_stand_in", "--port", str(self._port)]
        command += ["--folder", str(self._folder / "storage")]
        command += ["--api-key", self._api_key] if self._api_key else []
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=Path(__file__).parents[1],
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - two system calls, between fork and exec
            )
        deadline = time.monotonic() + READY_S
        while not self._answers():
            assert self._child.poll() is None, self.log.read_text(errors="replace")
            assert time.monotonic() < deadline, self.log.read_text(errors="replace")
            time.sleep(0.02)

    def _answers(self) -> bool:
        with suppress(OSError), urlopen(self.url, timeout=1):
            return True
        return False

    def stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.terminate()
            child.wait(30)

    def kill(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
