"""Says to a person that requests are answered, and where."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Final

# Where the command line looks when nothing tells it otherwise
_DEFAULT_NATS_URL: Final = "nats://127.0.0.1:4222"


def greeting(nats_url: str, http_url: str | None, data_dir: Path) -> str:
    """Where it listens, and one line to try; in Chinese where the environment's language is."""
    chinese = _language().startswith("zh")
    lines = ["Hindsight 已就绪。" if chinese else "Hindsight is ready."]
    lines += [f"  HTTP  {http_url}"] if http_url else []
    lines += [f"  NATS  {nats_url}", f"  {'数据' if chinese else 'Data'}  {data_dir}"]
    lines.append(f"{'试一试' if chinese else 'Try it'}:  {_line_to_try(nats_url, chinese=chinese)}")
    return "\n".join(lines) + "\n"


def _line_to_try(nats_url: str, *, chinese: bool) -> str:
    """Says something and asks for it; works when pasted into another terminal in the same folder."""
    program = _command_line()
    if nats_url != _DEFAULT_NATS_URL:
        program += f" --nats-url {nats_url}"
    if chinese:
        said, asked, turn = "我对花生过敏", "我对什么过敏？", "nihao"
    else:
        said, asked, turn = "I am allergic to peanuts", "What am I allergic to?", "hello"
    write = f"{program} turn u-1 '{said}' --turn-id {turn}"
    return f"{write} && {program} recall u-1 '{asked}' --wait-for-turn {turn}"


def _command_line() -> str:
    """How a shell in the working directory reaches hindsight-cli: a virtual environment is seldom on its path."""
    beside = Path(sys.executable).parent / "hindsight-cli"
    if not beside.exists():
        return "hindsight-cli"
    here = Path.cwd()
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))


def _language() -> str:
    return os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
