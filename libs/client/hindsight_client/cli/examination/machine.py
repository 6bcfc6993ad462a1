"""This machine: the configuration it has, and the data directory of the embedded form."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from hindsight_client.cli.examination.finding import Finding
from hindsight_client.cli.language import say
from hindsight_common.errors import StopAndFix
from hindsight_common.settings import Settings, examine_settings

DEFAULT_LEAST_FREE_GIB: Final = 1.0
_GIB: Final = 1024**3
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def configuration(config: Path | None) -> tuple[Settings | None, list[Finding]]:
    """The settings that a worker would have here, None where it would refuse to start."""
    what = say("configuration", "配置")
    try:
        settings, notices = examine_settings(config)
    except StopAndFix as error:
        way_out = say(
            "correct the file or the environment; config.example.yaml and .env.example list every key",
            "请修正配置文件或环境变量；全部键见 config.example.yaml 与 .env.example",
        )
        return None, [Finding("fault", what, str(error), way_out)]
    if not notices:
        return settings, [Finding("ok", what, say("is understood", "可以理解"))]
    way_out = say("remove or correct it", "请删除或修正")
    return settings, [Finding("warning", what, notice, way_out) for notice in notices]


def http_url(settings: Settings, nats_url: str) -> str | None:
    """Where the gateway listens, if the deployment is on this machine."""
    hosts = {urlsplit(one if "://" in one else f"nats://{one}").hostname for one in nats_url.split(",")}
    if not hosts <= _LOOPBACK or settings.api_port == 0:
        return None
    return f"http://{settings.api_host}:{settings.api_port}"


def data_directory(folder: Path, least_free_gib: float) -> Iterator[Finding]:
    """Nothing for a directory that is not there: another machine may have it, or nobody."""
    what = say("data directory", "数据目录")
    if not folder.exists():
        return
    if not folder.is_dir():
        way_out = say("name another with --data-dir", "请用 --data-dir 指定其他目录")
        yield Finding("fault", what, say(f"{folder} is no directory", f"{folder} 不是目录"), way_out)
        return
    findings = [*_permissions(what, folder), *_space(what, folder, least_free_gib)]
    yield from findings
    if not findings:
        yield Finding("ok", what, str(folder))


def _permissions(what: str, folder: Path) -> Iterator[Finding]:
    """The master key lies in it, so nobody else may look into it."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        found = say(f"{folder} is open to other accounts ({mode:o})", f"{folder} 对其他账户开放（{mode:o}）")
        yield Finding("warning", what, found, f"chmod 700 {folder}")
    elif not mode & stat.S_IWUSR:
        found = say(f"{folder} cannot be written ({mode:o})", f"{folder} 不可写（{mode:o}）")
        yield Finding("fault", what, found, f"chmod 700 {folder}")


def _space(what: str, folder: Path, least_free_gib: float) -> Iterator[Finding]:
    free_gib = shutil.disk_usage(folder).free / _GIB
    if free_gib < least_free_gib:
        found = say(
            f"{free_gib:.1f} GiB are free where {folder} lies, fewer than {least_free_gib:g}",
            f"{folder} 所在磁盘仅余 {free_gib:.1f} GiB，少于 {least_free_gib:g}",
        )
        way_out = say(
            "make room before the bus can store no more turns", "请尽快腾出空间，以免总线无法再存储轮次"
        )
        yield Finding("fault", what, found, way_out)
