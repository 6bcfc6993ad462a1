"""Says that requests are answered, and where: to a person and to a program."""

from __future__ import annotations

import json
import os
from pathlib import Path


class ReadyFile:
    """`{"nats_url", "http_url", "pid"}`, there for as long as requests are answered; whole or absent."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def write(self, nats_url: str, http_url: str | None) -> None:
        if self._path is None:
            return
        content = {"nats_url": nats_url, "http_url": http_url, "pid": os.getpid()}
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}.tmp")
        temporary.write_text(json.dumps(content) + "\n", encoding="utf-8")
        temporary.replace(self._path)

    def remove(self) -> None:
        """Also at the start: one left by a process that was killed speaks of ports that are gone."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def greeting(nats_url: str, http_url: str | None, data_dir: Path) -> str:
    """Where it listens, and one line to try; in Chinese where the environment's language is."""
    chinese = _language().startswith("zh")
    lines = ["Hindsight 已就绪。" if chinese else "Hindsight is ready."]
    lines += [f"  HTTP  {http_url}"] if http_url else []
    lines += [f"  NATS  {nats_url}", f"  {'数据' if chinese else 'Data'}  {data_dir}"]
    said = "我对花生过敏" if chinese else "I am allergic to peanuts"
    lines.append(
        f"{'试一试' if chinese else 'Try it'}:  hindsight-cli --nats-url {nats_url} turn u-1 '{said}'"
    )
    return "\n".join(lines) + "\n"


def _language() -> str:
    return os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
