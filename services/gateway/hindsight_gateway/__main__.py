"""`hindsight-gateway`: HTTP in front of a bus, as a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from hindsight_common.errors import HindsightError
from hindsight_common.messaging.application import Application
from hindsight_common.messaging.connection import connect
from hindsight_common.observability import setup, shutdown
from hindsight_common.settings import Settings, load_settings
from hindsight_gateway.bootstrap import build

NAME = "hindsight-gateway"


def _settings(arguments: Sequence[str] | None) -> Settings:
    parser = argparse.ArgumentParser(prog=NAME, description="HTTP in front of the bus.")
    parser.add_argument(
        "--config", type=Path, help="configuration file (default: config.yaml, if there is one)"
    )
    parser.add_argument("--nats-url", help="address of the bus")
    parser.add_argument("--http-port", type=int, dest="api_port", help="where to listen; 0 takes a free port")
    given = vars(parser.parse_args(arguments))
    config = given.pop("config")
    return load_settings(
        config, overrides={name: value for name, value in given.items() if value is not None}
    )


async def _run(settings: Settings) -> None:
    bus = await connect(settings.nats_url, name=NAME)
    gateway = build(bus, settings.api_host, settings.api_port)
    await Application(bus).run([gateway], lambda: _announce(gateway.url))


def _announce(url: str) -> None:
    sys.stdout.write(f"HTTP {url}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 after a clean stop, 1 when something must be changed first; it is said on stderr."""
    try:
        # first, so that what the configuration warns of comes out in the form of all logs
        setup(NAME)
        asyncio.run(_run(_settings(arguments)))
    except HindsightError as error:
        sys.stderr.write(f"{NAME}: {error}\n")
        return 1
    finally:
        shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
