"""What waits, and what could not be processed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

import nats.js.errors
from nats.js.api import ConsumerInfo

from hindsight_client.cli.examination.finding import Finding
from hindsight_client.cli.examination.subject import Subject
from hindsight_client.cli.language import say
from hindsight_common.errors import RetryLater
from hindsight_common.events.streams import CONSUMERS, ConsumerSpec

# More than this waiting is no longer a moment's work
MUCH_LAG: Final = 1000
_NO_SUCH_STREAM: Final = 10059
_SHOWN_CAUSES: Final = 5


async def dead_letters(subject: Subject) -> AsyncIterator[Finding]:
    # loads the broker, which few commands need
    from hindsight_common.messaging.buried import buried  # noqa: PLC0415

    what = say("dead letters", "死信")
    try:
        causes = Counter([(one.code, one.stream) async for one in buried(subject.js)])
    except RetryLater:
        return  # the look at the streams has named it
    if not causes:
        yield Finding("ok", what, say("none", "无"))
        return
    told = ", ".join(
        f"{number} × {code} ({stream})" for (code, stream), number in causes.most_common(_SHOWN_CAUSES)
    )
    way_out = say(
        "hindsight-cli dead-letters lists them; hindsight-cli turn USER --outcome-of TURN_ID says why",
        "hindsight-cli dead-letters 列出全部；hindsight-cli turn USER --outcome-of TURN_ID 可查原因",
    )
    yield Finding("warning", what, f"{causes.total()}: {told}", way_out)


async def consumers(subject: Subject) -> AsyncIterator[Finding]:
    for spec in CONSUMERS:
        what = say(f"consumer {spec.durable}", f"消费者 {spec.durable}")
        try:
            info = await subject.js.consumer_info(spec.stream, spec.durable)
            if _is_left(info):
                # between two pulls of a reader it looks the same for a moment
                await asyncio.sleep(subject.wait_s)
                info = await subject.js.consumer_info(spec.stream, spec.durable)
        except nats.js.errors.NotFoundError as error:
            if error.err_code == _NO_SUCH_STREAM:
                continue  # the look at the streams has named it
            way_out = say("hindsight-cli provision creates it", "hindsight-cli provision 会创建")
            yield Finding("fault", what, say("missing", "缺失"), way_out)
            continue
        yield _judged(spec, what, info)


def _is_left(info: ConsumerInfo) -> bool:
    """Something waits, nobody asks for it, and nobody has any of it in hand."""
    return bool(info.num_pending) and not info.num_waiting and not info.num_ack_pending


def _judged(spec: ConsumerSpec, what: str, info: ConsumerInfo) -> Finding:
    waiting, in_hand = info.num_pending or 0, info.num_ack_pending or 0
    found = say(f"{waiting} waiting, {in_hand} in hand", f"等待 {waiting}，处理中 {in_hand}")
    if _is_left(info):
        way_out = say(
            f"start the worker that reads {spec.stream}, or see why it stopped",
            f"请启动读取 {spec.stream} 的工作进程，或查明其停止的原因",
        )
        return Finding("fault", what, found + say(", and nobody reads", "，且无人读取"), way_out)
    if waiting > MUCH_LAG:
        way_out = say("wait, or run more workers of its kind", "稍候，或增加同类工作进程")
        return Finding("warning", what, found, way_out)
    return Finding("ok", what, found)
