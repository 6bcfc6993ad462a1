"""The stores as those see them who need them: what a question of nobody's had to do without."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from hindsight_client.cli.examination.finding import Finding
from hindsight_client.cli.examination.subject import Subject
from hindsight_client.cli.language import say
from hindsight_common.errors import RequestError
from hindsight_common.events import subjects
from hindsight_common.messaging.requester import request

# a user of whom nothing is known: the question costs nothing and leaves nothing
_NOBODY: Final = {"user_id": "hindsight-doctor", "query": "Is everything well? 一切正常吗？"}
_ATTEMPT_S: Final = 5.0
# what each part of an answer comes from, in English and Chinese, and where that is configured
_BEHIND: Final[Mapping[str, tuple[str, str, str]]] = {
    "vectors": ("the vector store", "向量库", "qdrant_url, data_dir"),
    "words": ("the vector store", "向量库", "qdrant_url, data_dir"),
    "graph": ("the graph store", "图存储", "neo4j_url, data_dir"),
    "working": ("Redis", "Redis", "redis_url"),
    "embedding": ("the embedding model", "嵌入模型", "embedding.model_name"),
}


async def as_recall_sees_them(subject: Subject) -> AsyncIterator[Finding]:
    missing: list[str] = []
    try:
        missing += await _degraded(subject, subjects.MEMORY_RECALL, _NOBODY)
    except RequestError as error:
        if error.code != "no_responders":  # else its worker is away, which is a finding of its own
            yield Finding("fault", say("stores", "存储"), f"{error.code}: {error.message}", _log("recall"))
        return
    try:
        missing += await _degraded(subject, subjects.MEMORY_INJECT, {**_NOBODY, "session_id": "doctor"})
    except RequestError as error:
        if error.code != "no_responders":
            yield Finding("fault", say("stores", "存储"), f"{error.code}: {error.message}", _log("recall"))
    for name in dict.fromkeys(missing):
        yield _finding(name)
    if not missing:
        yield Finding("ok", say("stores", "存储"), say("all answer", "均有应答"))


async def _degraded(subject: Subject, asked: str, body: Mapping[str, Any]) -> list[str]:
    answer = await request(subject.nc, asked, body, timeout_s=_ATTEMPT_S)
    return [str(name) for name in answer.get("degraded") or ()]


def _finding(missing: str) -> Finding:
    if missing == "rebuilding":
        found = say(
            "a store is being rebuilt; answers lack what it does not have yet", "存储正在重建，结果可能不全"
        )
        return Finding("warning", say("stores", "存储"), found, say("wait for its end", "请等待重建完成"))
    if missing not in _BEHIND:
        found = say(f"an answer had to do without {missing}", f"应答缺少 {missing}")
        return Finding("warning", say("stores", "存储"), found, _log("recall"))
    english, chinese, settings = _BEHIND[missing]
    way_out = say(
        f"start it, or check {settings} of hindsight-recall; answers do without it until then",
        f"请启动它，或检查 hindsight-recall 的 {settings}；在此期间应答不含这一部分",
    )
    found = say(f"does not answer ({missing})", f"无应答（{missing}）")
    return Finding("fault", say(english, chinese), found, way_out)


def _log(worker: str) -> str:
    return say(f"see the log of hindsight-{worker}", f"查看 hindsight-{worker} 的日志")
