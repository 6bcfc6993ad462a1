"""What the command line says."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Options:
    """None means: as the configuration has it. A port of 0 takes a free one."""

    data_dir: Path | None = None
    http_port: int | None = None
    nats_port: int | None = None
    ready_file: Path | None = None
    config: Path | None = None

    def overrides(self) -> dict[str, Any]:
        """What these options override in the settings."""
        given = {"data_dir": self.data_dir, "api_port": self.http_port}
        return {name: value for name, value in given.items() if value is not None}


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Ends the process with status 2 and the usage for what it does not understand."""
    parser = argparse.ArgumentParser(
        prog="hindsight-standalone",
        description="All of Hindsight in one process: long-term memory for LLM agents, over NATS and HTTP.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="D",
        help="keeps everything it knows (default: data_dir, else ./data)",
    )
    parser.add_argument("--http-port", type=_port, metavar="P", help="0 takes a free one (default: 8787)")
    parser.add_argument("--nats-port", type=_port, metavar="P", help="0 takes a free one (default: 4222)")
    parser.add_argument(
        "--ready-file",
        type=Path,
        metavar="F",
        help="written once requests are answered, as JSON: nats_url, http_url, pid; removed at the end",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration (default: config.yaml)")
    return Options(**vars(parser.parse_args(arguments)))


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; expected 0 to 65535")
    return port
