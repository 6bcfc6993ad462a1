"""Why a recall answered what it did, and why not something else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, get_args

import typer

from hindsight_client.cli import output
from hindsight_client.cli.language import say
from hindsight_client.cli.memory_commands import User
from hindsight_client.cli.program import OfUser, app
from hindsight_client.cli.session import Session
from hindsight_client.client import HindsightClient
from hindsight_common.events.answers import MemoryOut, RecallAnswer, RecalledMemory
from hindsight_common.events.requests import Hidden

_SHOWN: Final = ("active", "provisional")


@app.command(
    cls=OfUser,
    help=say(
        "Show what a recall found, by which channel and with which score; with --memory also why that one is missing.",
        "说明召回的每条结果来自何处、如何计分；给出 --memory 时说明它为何未被召回。",
    ),
)
def why(
    context: typer.Context,
    *,
    user: User,
    query: Annotated[str, typer.Argument(help=say("The question.", "问题。"))],
    memory: Annotated[
        str | None, typer.Option("--memory", "-m", help=say("Id of a memory.", "记忆编号。"))
    ] = None,
    role: Annotated[str | None, typer.Option(help=say("Role that asks.", "提问的角色。"))] = None,
) -> None:
    run: Session = context.obj

    async def explain(client: HindsightClient) -> None:
        answer = await client.recall(user, query, role=role, explain=True)
        reason = None if memory is None else await _Absence(client, user, query, role).reason(memory, answer)
        if run.prints_json:
            told = {"reason": reason} if reason else {}
            output.print_json(answer.model_dump(mode="json", by_alias=True) | told)
        else:
            _show(answer)
            if reason is not None:
                output.print_line(reason)
        run.tell_times(answer.took_ms, unit_s=0.001)

    run.run(explain)


def _show(answer: RecallAnswer) -> None:
    output.print_recall(answer)
    for rank, memory in enumerate(answer.memories, 1):
        output.print_line(f"  {rank}. {memory.id}: {_parts(memory)}")
    if answer.explain is not None:
        output.print_line("  " + ", ".join(f"{name} {value}" for name, value in answer.explain.items()))


def _parts(memory: RecalledMemory) -> str:
    parts = memory.score_parts
    found_by = ", ".join(f"{channel} #{rank}" for channel, rank in memory.channels.items())
    return say(
        f"similarity {parts.similarity:.2f} + importance {parts.importance:.2f} + recency {parts.recency:.2f}"
        f" = {memory.score:.2f}; found by {found_by}",
        f"相似度 {parts.similarity:.2f} + 重要度 {parts.importance:.2f} + 时近度 {parts.recency:.2f}"
        f" = {memory.score:.2f}；来自 {found_by}",
    )


@dataclass(frozen=True, slots=True)
class _Absence:
    """Of a memory from the answer to a question."""

    client: HindsightClient
    user: str
    query: str
    role: str | None

    async def reason(self, memory_id: str, answer: RecallAnswer) -> str:
        """Raises `RequestError("not_found")` for a memory that this user does not have."""
        wanted = await self.client.get(self.user, memory_id)
        if (rank := _rank(answer, wanted)) is not None:
            return say(f"{wanted.id} is in the answer, at rank {rank}", f"{wanted.id} 在结果中，排第 {rank}")
        if wanted.status not in _SHOWN:
            return say(
                f"{wanted.id} is {wanted.status}: recall shows it only with --include {wanted.status}",
                f"{wanted.id} 的状态为{output.status_of(wanted)}：需加 --include {wanted.status} 才会显示",
            )
        if not {"shared", self.role} & {*wanted.role_scope}:
            roles = ", ".join(wanted.role_scope)
            return say(
                f"{wanted.id} belongs to {roles}: ask with --role",
                f"{wanted.id} 属于角色 {roles}：请用 --role 指定",
            )
        widest = await self.client.recall(
            self.user, self.query, role=self.role, min_score=0, top_k=100, include=get_args(Hidden)
        )
        rank = _rank(widest, wanted)
        if rank is None:
            return say(
                f"{wanted.id}: neither meaning, words nor the graph led to it among the first candidates",
                f"{wanted.id}：语义、词语与图均未在候选中找到它",
            )
        return _too_low(widest.memories[rank - 1], answer)


def _too_low(memory: RecalledMemory, answer: RecallAnswer) -> str:
    told = answer.explain or {}
    least, gate = told.get("min_score"), told.get("gate")
    if isinstance(least, float | int) and memory.score >= least and answer.memories:
        lowest = answer.memories[-1].score
        if memory.score <= lowest:
            return say(
                f"{memory.id} has {memory.score:.2f}, and {len(answer.memories)} others have more (top_k)",
                f"{memory.id} 得分 {memory.score:.2f}，另有 {len(answer.memories)} 条更高（top_k）",
            )
    return say(
        f"{memory.id} has {memory.score:.2f} ({_parts(memory)}): the least score is {least}, "
        f"and similarity must pass a gate of {gate}",
        f"{memory.id} 得分 {memory.score:.2f}（{_parts(memory)}）：最低得分为 {least}，相似度须过门槛 {gate}",
    )


def _rank(answer: RecallAnswer, wanted: MemoryOut) -> int | None:
    places = (rank for rank, memory in enumerate(answer.memories, 1) if memory.id == wanted.id)
    return next(places, None)
