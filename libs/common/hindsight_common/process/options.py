"""The command line of a worker."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hindsight_common.process.settings_text import settings_text
from hindsight_common.process.worker_process import WorkerProcess


@dataclass(frozen=True, slots=True)
class Options:
    """`overrides` are settings that the command line gives, by name."""

    config: Path | None = None
    ready_file: Path | None = None
    check: bool = False
    overrides: dict[str, Any] = field(default_factory=dict)


def parse(process: WorkerProcess, arguments: Sequence[str] | None = None) -> Options:
    """Ends the process with status 2 and the usage for what it does not understand."""
    given = vars(_parser(process).parse_args(arguments))
    config, ready_file, check = given.pop("config"), given.pop("ready_file"), given.pop("check")
    overrides = {name: value for name, value in given.items() if value is not None}
    return Options(config, ready_file, check, overrides)


def _parser(process: WorkerProcess) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=process.command,
        description=f"{process.english}\n{process.chinese}",
        epilog=settings_text(process),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="configuration (default: config.yaml, if there is one) · 配置文件",
    )
    parser.add_argument("--nats-url", metavar="URL", help="address of the bus · 消息总线的地址")
    parser.add_argument(
        "--health-port",
        type=_port,
        metavar="P",
        help="where /live and /ready answer; 0 takes a free one · /live 与 /ready 的端口，0 表示任取",
    )
    for flag in process.flags:
        parser.add_argument(
            flag.option, dest=flag.setting, type=_port, metavar="P", help=f"{flag.english} · {flag.chinese}"
        )
    parser.add_argument(
        "--ready-file",
        type=Path,
        metavar="F",
        help="JSON with pid and addresses, there while it is at work · 就绪期间存在的 JSON 文件",
    )
    parser.add_argument(
        "--check", action="store_true", help="check the configuration and end · 只检查配置，然后退出"
    )
    return parser


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; expected 0 to 65535")
    return port
