"""Every request that is answered on the bus."""

from __future__ import annotations

from typing import Final

from hindsight_common.events import subjects
from hindsight_common.events.answers import (
    ExtractionAnswer,
    ForgetAnswer,
    InjectAnswer,
    ListAnswer,
    MemoryAnswer,
    Progress,
    RecallAnswer,
    TurnAnswer,
    WriteAnswer,
)
from hindsight_common.events.requests import (
    ConsolidateRequest,
    DecideRequest,
    ForgetRequest,
    GetRequest,
    InjectRequest,
    ListRequest,
    RecallRequest,
    TurnRequest,
    WriteRequest,
)
from scripts.bus_documents.model import Exchange, Words

_READS: Final = Words("only reads", "只读")

_MEMORY: Final = (
    Exchange(
        "Write",
        subjects.MEMORY_WRITE,
        "extractor",
        Words("writes a turn; answered once it is sealed", "写入一轮；密封保存后作答"),
        Words(
            "the same turn again answers duplicate; other content under its id is refused (409)",
            "同一轮再次写入时应答 duplicate；同一编号内容不同则拒绝（409）",
        ),
        WriteAnswer,
        body=WriteRequest,
    ),
    Exchange(
        "Turn",
        subjects.MEMORY_TURN,
        "extractor",
        Words("what became of a turn", "某一轮的结果"),
        _READS,
        TurnAnswer,
        body=TurnRequest,
    ),
    Exchange(
        "Recall",
        subjects.MEMORY_RECALL,
        "recall",
        Words("memories that matter for a question", "与问题相关的记忆"),
        _READS,
        RecallAnswer,
        body=RecallRequest,
    ),
    Exchange(
        "Inject",
        subjects.MEMORY_INJECT,
        "recall",
        Words("the block of memory for a prompt", "放入提示词的记忆块"),
        _READS,
        InjectAnswer,
        body=InjectRequest,
    ),
    Exchange(
        "List",
        subjects.MEMORY_LIST,
        "recall",
        Words("a user's memories, page by page", "逐页列出用户的记忆"),
        _READS,
        ListAnswer,
        body=ListRequest,
    ),
    Exchange(
        "Get",
        subjects.MEMORY_GET,
        "recall",
        Words("one memory, whatever its status", "一条记忆，不论其状态"),
        _READS,
        MemoryAnswer,
        body=GetRequest,
    ),
    Exchange(
        "Decide",
        subjects.MEMORY_DECIDE,
        "extractor",
        Words("corrects or pins a memory", "更正或固定一条记忆"),
        Words("the same word again changes nothing", "重复同一决定不产生任何变化"),
        MemoryAnswer,
        body=DecideRequest,
    ),
    Exchange(
        "Forget",
        subjects.MEMORY_FORGET,
        "pruner",
        Words(
            "shows what would go, or, confirmed, forgets it and gives the receipt",
            "列出将被忘记的内容；确认后执行并给出凭据",
        ),
        Words("what is forgotten stays forgotten", "已忘记的内容保持被忘记"),
        ForgetAnswer,
        body=ForgetRequest,
    ),
)

_ADMIN: Final = (
    Exchange(
        "Rebuild",
        subjects.ADMIN_REBUILD_VECTORS,
        "recall",
        Words(
            "makes the vectors again from the log, beside the live ones",
            "根据日志在现有向量旁重建",
        ),
        Words("a second one while it runs is refused (409)", "运行期间再次请求会被拒绝（409）"),
        Progress,
        tenanted=False,
        progress=True,
    ),
    Exchange(
        "RebuildGraph",
        subjects.ADMIN_REBUILD_GRAPH,
        "consolidator",
        Words("makes the graph again from the log", "根据日志重建图"),
        Words("the result is the same", "结果相同"),
        Progress,
        tenanted=False,
        progress=True,
    ),
    Exchange(
        "Consolidate",
        subjects.ADMIN_CONSOLIDATE,
        "consolidator",
        Words("promotes one user's memories into the graph now", "立即将某个用户的记忆提升到图中"),
        Words("a second run changes nothing", "再次运行不产生变化"),
        Progress,
        body=ConsolidateRequest,
        progress=True,
    ),
    Exchange(
        "Status",
        subjects.ADMIN_STATUS,
        "recall",
        Words("what waits where, and how far the projections are", "各处的积压，以及投影的进度"),
        _READS,
        dict[str, object],
        tenanted=False,
    ),
    Exchange(
        "Extraction",
        subjects.ADMIN_EXTRACTION,
        "extractor",
        Words("how the LLM is that reads turns", "抽取所用 LLM 的状态"),
        _READS,
        ExtractionAnswer,
        tenanted=False,
    ),
)

EXCHANGES: Final = (*_MEMORY, *_ADMIN)
