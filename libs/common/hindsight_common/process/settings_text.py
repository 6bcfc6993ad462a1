"""The settings that one worker reads, for its `--help`, from their declaration."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from hindsight_common.process.worker_process import WorkerProcess
from hindsight_common.settings.keys import Key, all_keys

COMMON: Final = ("memory_store", "nats_*", "health_*")
_SECRET: Final = ("master_key", "master_key_file")


def settings_read(process: WorkerProcess) -> list[Key]:
    """In the order of declaration; without those that nothing reads yet."""
    patterns = (*COMMON, *(_SECRET if process.has_secret else ()), *process.reads)
    return [
        key
        for key in all_keys().values()
        if not key.planned and any(fnmatchcase(key.name, pattern) for pattern in patterns)
    ]


def settings_text(process: WorkerProcess) -> str:
    """Key, variable and default of each, with its sentence in both languages."""
    lines = [
        "settings, in config.yaml or by the environment, which wins · 配置项（环境变量优先于 config.yaml）:"
    ]
    for key in settings_read(process):
        where = "environment only · 仅限环境变量" if key.secret else f"default · 默认值: {_shown(key)}"
        needed = " (needed · 必填)" if key.name in process.needs else ""
        lines += [
            "",
            f"  {key.name}{needed}",
            f"    {key.variable}  ({where})",
            f"    {key.english}",
            f"    {key.chinese}",
        ]
    return "\n".join(lines)


def _shown(key: Key) -> str:
    return "–" if key.default is None else str(key.default)
