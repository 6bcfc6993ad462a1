"""The five workers, and the LLM that one of them asks."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from typing import Any, Final

from hindsight_client.cli.examination.finding import Finding
from hindsight_client.cli.examination.subject import Subject
from hindsight_client.cli.language import say
from hindsight_common.errors import RequestError
from hindsight_common.events import subjects
from hindsight_common.events.answers import ExtractionAnswer
from hindsight_common.messaging.requester import request
from hindsight_common.messaging.roll_call import running_services
from hindsight_common.worker import BEHIND_THE_BUS

GATEWAY: Final = "gateway"
_HTTP_TIMEOUT_S: Final = 3.0


async def behind_the_bus(subject: Subject) -> AsyncIterator[Finding]:
    running = [service.name for service in await running_services(subject.nc, wait_s=subject.wait_s)]
    for name in BEHIND_THE_BUS:
        number = running.count(name)
        if number:
            yield Finding("ok", name, say(f"{number} running", f"{number} 个在运行"))
        else:
            yield Finding("fault", name, say("does not answer", "无应答"), _start(name))


async def gateway(subject: Subject) -> AsyncIterator[Finding]:
    """It is in front of the bus, so it is asked over HTTP."""
    if subject.http_url is None:
        found = say("not looked at: its address is unknown", "未检查：地址未知")
        yield Finding("ok", GATEWAY, found, say("name it with --http-url", "可用 --http-url 指定"))
        return
    try:
        said = await asyncio.to_thread(_health, subject.http_url)
    except (OSError, ValueError):
        found = say(f"does not answer at {subject.http_url}", f"{subject.http_url} 无应答")
        elsewhere = say("; --http-url names another address", "；可用 --http-url 指定其他地址")
        yield Finding("fault", GATEWAY, found, _start(GATEWAY) + elsewhere)
        return
    if said.get("status") == "ok":
        yield Finding("ok", GATEWAY, say(f"answers at {subject.http_url}", f"{subject.http_url} 有应答"))
    else:
        missing = ", ".join(str(name) for name in said.get("missing") or ())
        found = say("is not well", "状态不佳") + (f": {missing}" if missing else "")
        way_out = say("see the other findings", "参见其他各项")
        yield Finding("warning", GATEWAY, found, way_out)


def _start(name: str) -> str:
    return say(
        f"start hindsight-{name}, or see its log; in the embedded form hindsight-standalone runs it",
        f"启动 hindsight-{name} 或查看其日志；嵌入式部署中由 hindsight-standalone 运行",
    )


def _health(http_url: str) -> dict[str, Any]:
    asked = urllib.request.Request(f"{http_url.rstrip('/')}/health")  # noqa: S310 - the operator's own address
    if asked.type not in ("http", "https"):
        raise ValueError("an http or https address is expected")
    # no proxy: a deployment is asked directly
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(asked, timeout=_HTTP_TIMEOUT_S) as answer:
            said = json.load(answer)
    except urllib.error.HTTPError as refused:
        said = json.load(refused)
    return said if isinstance(said, dict) else {}


async def llm(subject: Subject) -> AsyncIterator[Finding]:
    """Nothing where turns are read by rules."""
    try:
        said = await request(subject.nc, subjects.ADMIN_EXTRACTION, {}, timeout_s=2)
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
