"""What an error means, in the user's language; the service's own sentence, which is English, stays beside it."""

from __future__ import annotations

from typing import Final

from hindsight_client.cli.language import speaks_chinese
from hindsight_client.errors import AccessDenied, NoServer
from hindsight_common.errors import RequestError

_CHINESE: Final = {
    "answer_too_large": "应答过大，请缩小查询范围",
    "bad_answer": "服务的应答无法读取",
    "invalid_cursor": "翻页游标无效，请从头开始列出",
    "invalid_request": "请求有误",
    "invalid_tenant": "租户名无效",
    "invalid_turn": "轮次内容有误",
    "internal": "服务内部出错，详见其日志",
    "message_too_large": "消息过长，请分成多轮发送",
    "no_responders": "没有服务应答，请用 hindsight-cli doctor 查看哪个工作进程未运行",
    "no_plans": "总线上没有进程应答 admin.prune：本版本的剪枝进程尚不生成计划",
    "not_found": "没有找到",
    "not_json": "不是有效的 JSON",
    "not_supported": "本版本尚不支持，请去掉该字段",
    "no_stream": "该服务器上没有接收轮次的流",
    "not_permitted": "该 NATS 用户无权这样做",
    "not_published": "服务器拒绝了该轮次",
    "owner_mismatch": "结果的归属与提问者不符，已拒绝返回",
    "rebuild_running": "重建正在进行，请稍后再试",
    "timeout": "等待应答超时，请稍后再试",
    "too_large": "内容过大",
    "turn_id_reused": "该轮次编号已用于其他内容，请为每一轮使用各自的编号",
    "unavailable": "服务暂不可用，请稍后再试",
}


def described(error: BaseException) -> str:
    """One line for a person: a refusal with its code first, anything else as it says itself."""
    if isinstance(error, AccessDenied) and speaks_chinese():
        return (
            f"{error.places} 的 NATS 服务器拒绝了该凭证；"
            "请检查 HINDSIGHT_NATS_USER 与 HINDSIGHT_NATS_PASSWORD，或 --nats-credentials"
        )
    if isinstance(error, NoServer) and speaks_chinese():
        return (
            f"{error.places} 在 {error.patience_s:g} 秒内没有 NATS 服务器应答；"
            "请先启动 Hindsight，或用 --nats-url、HINDSIGHT_NATS_URL 指定其他地址"
        )
    if not isinstance(error, RequestError):
        return str(error)
    chinese = _CHINESE.get(error.code) if speaks_chinese() else None
    if chinese is None:
        return f"{error.code}: {error.message}"
    return f"{error.code}：{chinese}（{error.message}）"
