"""The state of a deployment, looked at from outside."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Final, Literal

import nats.errors
import nats.js.errors
from nats.aio.client import Client

from hindsight_client.cli.language import say
from hindsight_common.clock import SystemClock
from hindsight_common.errors import HindsightError, RequestError
from hindsight_common.events import subjects
from hindsight_common.events.answers import ExtractionAnswer
from hindsight_common.events.streams import CONSUMERS, DEAD, STREAMS
from hindsight_common.messaging.requester import request
from hindsight_common.messaging.roll_call import running_services
from hindsight_common.worker import BEHIND_THE_BUS

# More than this waiting is no longer a moment's work
MUCH_LAG: Final = 1000
_NO_SUCH_STREAM: Final = 10059


@dataclass(frozen=True, slots=True)
class Finding:
    """`way_out` is what to do; empty when there is nothing to do."""

    level: Literal["ok", "warning", "fault"]
    what: str
    found: str
    way_out: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


async def examine(nc: Client, *, wait_s: float) -> list[Finding]:
    """Every finding, good ones too; each look stands for itself, so that one fault hides no other."""
    found: list[Finding] = []
    for look in (
        _reach(nc),
        _clock(nc),
        _streams(nc),
        _workers(nc, wait_s),
        _llm(nc),
        _dead_letters(nc),
        _lag(nc),
    ):
        try:
            found += [finding async for finding in look]
        except (nats.errors.Error, TimeoutError, HindsightError) as error:
            found.append(
                Finding("fault", say("a look that failed", "检查失败"), f"{type(error).__name__}: {error}")
            )
    return found


async def _reach(nc: Client) -> AsyncIterator[Finding]:
    began = time.perf_counter()
    await nc.flush(timeout=5)
    took_ms = (time.perf_counter() - began) * 1000
    yield Finding("ok", "NATS", say(f"answers in {took_ms:.1f} ms", f"应答耗时 {took_ms:.1f} 毫秒"))


async def _clock(nc: Client) -> AsyncIterator[Finding]:
    # loads the broker, which nothing else on the command line needs
    from hindsight_common.messaging.connection import check_clock  # noqa: PLC0415

    ahead_s = await check_clock(nc.jetstream(), SystemClock())
    what = say("clock", "时钟")
    if ahead_s is None:
        yield Finding("warning", what, say("no stream to ask for the time", "没有可供查询时间的流"))
    else:
        yield Finding(
            "ok", what, say(f"{ahead_s:+.2f} s off the server's", f"与服务器相差 {ahead_s:+.2f} 秒")
        )


async def _streams(nc: Client) -> AsyncIterator[Finding]:
    missing = []
    for spec in STREAMS:
        try:
            await nc.jetstream().stream_info(spec.name)
        except nats.js.errors.NotFoundError:
            missing.append(spec.name)
    what = say("streams", "流")
    if missing:
        way_out = say("start a worker: it creates them", "启动任一工作进程即会创建")
        yield Finding("fault", what, say("missing: ", "缺少：") + ", ".join(missing), way_out)
    else:
        yield Finding("ok", what, say(f"all {len(STREAMS)} there", f"{len(STREAMS)} 个均存在"))


async def _workers(nc: Client, wait_s: float) -> AsyncIterator[Finding]:
    running = [service.name for service in await running_services(nc, wait_s=wait_s)]
    for name in BEHIND_THE_BUS:
        number = running.count(name)
        if number:
            yield Finding("ok", name, say(f"{number} running", f"{number} 个在运行"))
        else:
            way_out = say(
                "see the log of hindsight-standalone, which runs it",
                "查看运行它的 hindsight-standalone 的日志",
            )
            yield Finding("fault", name, say("does not answer", "无应答"), way_out)


async def _llm(nc: Client) -> AsyncIterator[Finding]:
    """Nothing where turns are read by rules."""
    try:
        said = await request(nc, subjects.ADMIN_EXTRACTION, {}, timeout_s=2)
    except RequestError:
        return  # its worker is away, which is a finding of its own
    told = ExtractionAnswer.model_validate(said)
    what = f"LLM {told.model}"
    if told.state == "paused":
        way_out = say(
            "check MEMORY_LLM_API_KEY, MEMORY_LLM_BASE_URL and MEMORY_LLM_MODEL of the extractor; turns are kept",
            "检查抽取进程的 MEMORY_LLM_API_KEY、MEMORY_LLM_BASE_URL 与 MEMORY_LLM_MODEL；轮次不会丢失",
        )
        yield Finding("fault", what, say(f"paused: {told.cause}", f"已暂停：{told.cause}"), way_out)
    elif told.state == "away":
        way_out = say(
            "see why it does not answer; the rules read turns until it does",
            "查明其无应答的原因；在此期间由规则抽取",
        )
        yield Finding("warning", what, say(f"away: {told.cause}", f"不可用：{told.cause}"), way_out)
    elif told.model is not None:
        yield Finding("ok", what, say("reads turns", "正在读取轮次"))


async def _dead_letters(nc: Client) -> AsyncIterator[Finding]:
    what = say("dead letters", "死信")
    try:
        number = (await nc.jetstream().stream_info(DEAD.name)).state.messages
    except nats.js.errors.NotFoundError:
        return  # the look at the streams has named it
    if number:
        way_out = say(
            "hindsight-cli turn USER --outcome-of TURN_ID says why; the workers' logs have each "
            "as delivery_buried, with its code",
            "hindsight-cli turn USER --outcome-of TURN_ID 可查原因；工作进程日志中的 delivery_buried 记有每条的代码",
        )
        yield Finding("warning", what, str(number), way_out)
    else:
        yield Finding("ok", what, say("none", "无"))


async def _lag(nc: Client) -> AsyncIterator[Finding]:
    for spec in CONSUMERS:
        what = say(f"consumer {spec.durable}", f"消费者 {spec.durable}")
        try:
            info = await nc.jetstream().consumer_info(spec.stream, spec.durable)
        except nats.js.errors.NotFoundError as error:
            if error.err_code == _NO_SUCH_STREAM:
                continue  # the look at the streams has named it
            way_out = say("start its worker: that creates it", "启动相应的工作进程即会创建")
            yield Finding("fault", what, say("missing", "缺失"), way_out)
            continue
        waiting, in_hand = info.num_pending or 0, info.num_ack_pending or 0
        found = say(f"{waiting} waiting, {in_hand} in hand", f"等待 {waiting}，处理中 {in_hand}")
        if waiting > MUCH_LAG:
            way_out = say("wait, or run more workers of its kind", "稍候，或增加同类工作进程")
            yield Finding("warning", what, found, way_out)
        else:
            yield Finding("ok", what, found)
