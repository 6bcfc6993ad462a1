"""A real Neo4j Community server on a free port of the loopback interface, without installing anything but Java.

    scripts/neo4j-server --home DIRECTORY [--port 7687] [--password SECRET]
    scripts/neo4j-server --fetch

Its libraries come once, through Maven, into the user's cache (`HINDSIGHT_NEO4J_CACHE` names another place), with an
archive of loaded classes that makes every later start several seconds shorter.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hindsight_common.adapters.embedded.child_process import die_with_parent

VERSION = "5.26.30"  # the last long-term version that runs on Java 17
HOST = "127.0.0.1"
READY_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>hindsight</groupId><artifactId>neo4j-server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version></dependency>
  </dependencies>
</project>
"""
_CONFIGURATION = """\
server.directories.data={home}/data
server.directories.logs={home}/logs
server.directories.run={home}/run
server.directories.import={home}/import
server.directories.plugins={home}/plugins
server.directories.lib={home}/lib
server.default_listen_address={host}
server.default_advertised_address={host}
server.bolt.enabled=true
server.bolt.listen_address={host}:{port}
server.bolt.advertised_address={host}:{port}
server.bolt.tls_level=DISABLED
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled={auth}
server.memory.heap.initial_size=256m
server.memory.heap.max_size=512m
server.memory.pagecache.size=128m
db.tx_log.rotation.retention_policy=1 files
dbms.usage_report.enabled=false
server.config.strict_validation.enabled=true
"""
_JAVA = (
    "-Xms128m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",  # a server of a few minutes never earns back the second compiler
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
)


class Neo4jServer:
    """`start` returns once it answers Bolt at `url`; `stop` ends it. `home` keeps its data between two starts.

    `port` 0 takes a free one and keeps it. With a password the user is `neo4j`. RuntimeError says why it cannot run.
    """

    def __init__(self, home: Path, port: int = 0, *, password: str | None = None) -> None:
        self._home = home.resolve()
        self._port = port
        self._password = password
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"bolt://{HOST}:{self._port}"

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    @property
    def _log(self) -> Path:
        return self._home / "server.log"

    def start(self) -> None:
        jars = libraries()
        self._port = self._port or _free_port()
        self._configure(jars)
        archive = jars.parent / "classes.jsa"
        self._launch(jars, [f"-XX:SharedArchiveFile={archive}"] if archive.is_file() else [])

    def make_archive(self, jars: Path, archive: Path) -> None:
        """Starts it once and has it write down the classes that it loaded as it ends."""
        self._port = self._port or _free_port()
        self._configure(jars)
        self._launch(jars, [f"-XX:ArchiveClassesAtExit={archive}"])
        self.stop()

    def stop(self) -> None:
        """SIGTERM, and SIGKILL for one that does not end. Idempotent."""
        child, self._child = self._child, None
        if child is None:
            return
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def kill(self) -> None:
        """SIGKILL: what a crash leaves."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None

    def _configure(self, jars: Path) -> None:
        for folder in ("conf", "data", "logs", "run", "import", "plugins", "lib"):
            (self._home / folder).mkdir(parents=True, exist_ok=True)
        auth = "true" if self._password is not None else "false"
        text = _CONFIGURATION.format(home=self._home, host=HOST, port=self._port, auth=auth)
        (self._home / "conf" / "neo4j.conf").write_text(text, encoding="utf-8")
        if self._password is not None and not (self._home / "data" / "dbms" / "auth.ini").exists():
            _run(
                [
                    *_java(jars),
                    "org.neo4j.server.startup.Neo4jAdminCommand",
                    "dbms",
                    "set-initial-password",
                    self._password,
                ],
                {**os.environ, "NEO4J_HOME": str(self._home), "NEO4J_CONF": str(self._home / "conf")},
            )

    def _launch(self, jars: Path, options: list[str]) -> None:
        command = [
            *_java(jars),
            *options,
            *_JAVA,
            "org.neo4j.server.CommunityEntryPoint",
            f"--home-dir={self._home}",
            f"--config-dir={self._home / 'conf'}",
            "--console-mode",
        ]
        with self._log.open("wb") as log:
            self._child = subprocess.Popen(  # noqa: S603 - our own command line
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - two system calls, between fork and exec
            )
        try:
            self._await_ready(self._child)
        except BaseException:
            self.kill()
            raise

    def _await_ready(self, child: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            if child.poll() is not None:
                raise RuntimeError(f"Neo4j ended with status {child.returncode}: {self._last_words()}")
            # its own log says so: whoever answers on the port may be another program
            if b"Started." in self._log.read_bytes() and _answers_bolt(self._port):
                return
            time.sleep(0.1)
        raise RuntimeError(f"Neo4j was not ready within {READY_TIMEOUT_S:g} s: {self._last_words()}")

    def _last_words(self) -> str:
        return self._log.read_text("utf-8", "replace")[-2000:]


def missing() -> str | None:
    """Why no server can run here; None when one can."""
    lacking = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if not lacking or (shutil.which("java") and (_cache() / "lib").is_dir()):
        return None
    return f"{' and '.join(lacking)} not found; on Debian: apt-get install openjdk-17-jdk-headless maven"


def libraries() -> Path:
    """The folder of the server's jars; fetched, and its classes archived, where that was not done before."""
    reason = missing()
    if reason:
        raise RuntimeError(reason)
    cache = _cache()
    jars = cache / "lib"
    cache.mkdir(parents=True, exist_ok=True)
    with _alone(cache / "lock"):
        if not jars.is_dir():
            _fetch(jars)
        if not (cache / "classes.jsa").is_file():
            _archive(jars, cache / "classes.jsa")
    return jars


def _fetch(jars: Path) -> None:
    with tempfile.TemporaryDirectory(dir=jars.parent) as folder:
        (Path(folder) / "pom.xml").write_text(_POM, encoding="utf-8")
        found = Path(folder) / "lib"
        maven = ["mvn", "-q", "-B", "-ntp", _COPY, "-DincludeScope=runtime", f"-DoutputDirectory={found}"]
        _run(maven, dict(os.environ), cwd=folder)
        found.rename(jars)


def _archive(jars: Path, archive: Path) -> None:
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        made = Path(folder) / archive.name
        Neo4jServer(Path(folder) / "home").make_archive(jars, made)
        if made.is_file():
            made.rename(archive)


def _cache() -> Path:
    named = os.environ.get("HINDSIGHT_NEO4J_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (Path(named) if named else base / "hindsight" / "neo4j") / VERSION


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Two test runs that begin together fetch once."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _java(jars: Path) -> list[str]:
    return ["java", "-cp", f"{jars}/*"]


def _run(command: list[str], environment: dict[str, str], cwd: str | None = None) -> None:
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {(done.stdout + done.stderr)[-2000:]}")


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _answers_bolt(port: int) -> bool:
    """A Bolt server answers the handshake with the version it picked, four bytes."""
    try:
        with socket.create_connection((HOST, port), timeout=1) as connection:
            connection.sendall(bytes.fromhex("6060b017") + bytes.fromhex("00080805") + bytes(12))
            return len(connection.recv(4)) == 4
    except OSError:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs a Neo4j server until SIGTERM or SIGINT.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--home", type=Path, help="directory of its data and logs")
    what.add_argument("--fetch", action="store_true", help="only fetch what it needs, and end")
    parser.add_argument(
        "--port", type=int, default=7687, help="of Bolt; 0 takes a free one; default: %(default)s"
    )
    parser.add_argument("--password", help="of the user neo4j; without it nobody is asked for one")
    options = parser.parse_args()
    try:
        if options.fetch:
            print(libraries())
        else:
            _serve(Neo4jServer(options.home, options.port, password=options.password))
    except RuntimeError as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


def _serve(server: Neo4jServer) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        server.start()
        print(server.url, flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main())
