"""The NATS server: reachable, able, in time, and with everything on it that was declared."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Final

import nats.errors
import nats.js.errors

from hindsight_client.cli.examination.finding import Finding
from hindsight_client.cli.examination.subject import Subject
from hindsight_client.cli.language import say
from hindsight_common.errors import RetryLater, StopAndFix
from hindsight_common.events.streams import CONSUMERS, STREAMS

_NO_JETSTREAM: Final = frozenset({10039, 10076})


async def server(subject: Subject) -> AsyncIterator[Finding]:
    # loads the broker, which few commands need
    from hindsight_common.messaging.connection import OLDEST_SERVER  # noqa: PLC0415

    began = time.perf_counter()
    await subject.nc.flush(timeout=5)
    took_ms = (time.perf_counter() - began) * 1000
    version = subject.nc.connected_server_version
    oldest = ".".join(map(str, OLDEST_SERVER))
    if (version.major, version.minor) < OLDEST_SERVER:
        found = f"{version.major}.{version.minor}.{version.patch}"
        yield Finding(
            "fault",
            "NATS",
            say(f"is version {found}, too old", f"版本为 {found}，过旧"),
            say(f"upgrade it to {oldest} or later", f"请升级到 {oldest} 或更高版本"),
        )
    elif not await _has_jetstream(subject):
        way_out = say("start it with -js or a jetstream block", "启动时加 -js，或在配置中加入 jetstream 段")
        yield Finding("fault", "NATS", say("has no JetStream", "未启用 JetStream"), way_out)
    else:
        yield Finding("ok", "NATS", say(f"answers in {took_ms:.1f} ms", f"应答耗时 {took_ms:.1f} 毫秒"))


async def _has_jetstream(subject: Subject) -> bool:
    try:
        await subject.js.account_info()
    except (nats.errors.NoRespondersError, nats.js.errors.ServiceUnavailableError):
        return False
    except nats.js.errors.APIError as error:
        if error.err_code in _NO_JETSTREAM:
            return False
        raise
    return True


async def clock(subject: Subject) -> AsyncIterator[Finding]:
    from hindsight_common.messaging.connection import check_clock  # noqa: PLC0415 - as above

    what = say("clock", "时钟")
    try:
        ahead_s = await check_clock(subject.js, subject.clock)
    except StopAndFix as error:
        way_out = say(
            "synchronise this machine and the server with NTP; workers refuse to start until then",
            "请用 NTP 同步本机与服务器的时钟；在此之前工作进程拒绝启动",
        )
        yield Finding("fault", what, str(error), way_out)
        return
    if ahead_s is None:
        yield Finding("warning", what, say("no stream to ask for the time", "没有可供查询时间的流"))
    else:
        off = say(f"{ahead_s:+.2f} s off the server's", f"与服务器相差 {ahead_s:+.2f} 秒")
        yield Finding("ok", what, off)


async def streams(subject: Subject) -> AsyncIterator[Finding]:
    """What is missing, and what differs from its declaration."""
    from hindsight_common.messaging.provisioning import require_provisioned  # noqa: PLC0415 - as above

    missing, drift = [], []
    for spec in STREAMS:
        try:
            drift += await require_provisioned(subject.js, (spec,), ())
        except RetryLater:
            missing.append(spec.name)
    for consumer in CONSUMERS:
        try:
            drift += await require_provisioned(subject.js, (), (consumer,))
        except RetryLater:
            continue  # the look at the consumers names it
    what = say("streams", "流")
    if missing:
        way_out = say(
            "hindsight-cli provision creates them, and so does a start of hindsight-standalone",
            "hindsight-cli provision 会创建；启动 hindsight-standalone 亦可",
        )
        yield Finding("fault", what, say("missing: ", "缺少：") + ", ".join(missing), way_out)
    else:
        yield Finding("ok", what, say(f"all {len(STREAMS)} there", f"{len(STREAMS)} 个均存在"))
    for sentence in drift:
        way_out = say(
            "somebody changed it: set it back with the nats tool, or delete the consumer and run "
            "hindsight-cli provision",
            "有人改动过：请用 nats 工具改回，或删除该消费者后运行 hindsight-cli provision",
        )
        yield Finding("warning", say("drift", "差异"), sentence, way_out)
