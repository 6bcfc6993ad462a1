"""What the document says of every route: names that do not change, since client generators make functions of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from hindsight_common.events.requests import (
    ForgetAnswer,
    InjectAnswer,
    MemoryAnswer,
    RecallAnswer,
    TurnAnswer,
    WriteAnswer,
)


@dataclass(frozen=True, slots=True)
class Operation:
    """`body` names a schema of the document; `parameters` and `statuses` come beside those that all have.

    `links` names what can be asked next, with where its parameters are found.
    """

    method: str
    path: str
    id: str
    summary: str
    summary_zh: str
    answer: type[BaseModel]
    body: str | None = None
    parameters: tuple[str, ...] = ()
    statuses: tuple[int, ...] = ()
    description: str = ""
    links: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()


_REPEATED: Final = (
    "`Idempotency-Key` is taken and changes nothing: asked again, this ends in the same state by its nature."
)

OPERATIONS: Final = (
    Operation(
        "post",
        "/v1/write",
        "write",
        "Write a turn and know that it is kept",
        "写入一轮对话，并确知已保存",
        WriteAnswer,
        "WriteRequest",
        ("IdempotencyKey",),
        (409,),
        "Without a `turn_id` the `Idempotency-Key` is it, and without one an id is made and returned. The same turn "
        "sent again changes nothing (`duplicate`); another one under the same id is refused (`turn_id_reused`).",
        links=(
            (
                "getTurn",
                (("turn_id", "$response.body#/turn_id"), ("user_id", "$request.body#/user_id")),
            ),
        ),
    ),
    Operation(
        "post",
        "/v1/recall",
        "recall",
        "Memories that matter for a query, best first",
        "查询与问题相关的记忆，最相关的在前",
        RecallAnswer,
        "RecallRequest",
        (),
        (),
        "No LLM is called. What a store that is away would have given is named in `degraded`.",
        links=(
            (
                "getMemory",
                (("memory_id", "$response.body#/memories/0/id"), ("user_id", "$request.body#/user_id")),
            ),
            ("changeMemory", (("memory_id", "$response.body#/memories/0/id"),)),
            ("deleteMemory", (("memory_id", "$response.body#/memories/0/id"),)),
        ),
    ),
    Operation(
        "post",
        "/v1/inject",
        "inject",
        "The block of memory for one call of an LLM",
        "获取一次 LLM 调用所用的记忆块",
        InjectAnswer,
        "InjectRequest",
    ),
    Operation(
        "post",
        "/v1/forget",
        "forget",
        "See what would be forgotten, or forget it",
        "查看将被忘记的内容，或予以忘记",
        ForgetAnswer,
        "ForgetRequest",
        ("IdempotencyKey",),
        (404,),
        "Without `confirm` nothing is forgotten and `would_forget` lists what would go; with it there is a `receipt`, "
        "`pending` while a store is away. " + _REPEATED,
    ),
    Operation(
        "get",
        "/v1/memory/{memory_id}",
        "getMemory",
        "One memory of a user, whatever its status",
        "读取用户的一条记忆，不论其状态",
        MemoryAnswer,
        None,
        ("MemoryId", "UserIdQuery"),
        (404,),
    ),
    Operation(
        "patch",
        "/v1/memory/{memory_id}",
        "changeMemory",
        "Correct or pin a memory",
        "更正或固定一条记忆",
        MemoryAnswer,
        "ChangeRequest",
        ("MemoryId", "IdempotencyKey"),
        (404,),
        "A corrected memory has an id of its own; `position` can be waited for with `wait_for`. " + _REPEATED,
    ),
    Operation(
        "post",
        "/v1/memory/{memory_id}/delete",
        "deleteMemory",
        "Forget one memory at once",
        "立即忘记一条记忆",
        ForgetAnswer,
        "DeleteRequest",
        ("MemoryId", "IdempotencyKey"),
        (404,),
        "The receipt says what was removed where; once the memory is gone, the answer is 404. " + _REPEATED,
    ),
    Operation(
        "get",
        "/v1/turns/{turn_id}",
        "getTurn",
        "What became of a turn",
        "查询某一轮的结果",
        TurnAnswer,
        None,
        ("TurnId", "UserIdQuery"),
        (404,),
    ),
    Operation(
        "post",
        "/api/memory/inject",
        "injectMemory",
        "The block of memory, for a backend that names the user in a header",
        "获取记忆块，供以请求头指明用户的后端使用",
        InjectAnswer,
        "InjectMemoryRequest",
        ("UserIdHeader",),
        (),
        "The user comes from the body or from `X-User-Id`; neither, or two different ones, is refused with 400.",
    ),
)
