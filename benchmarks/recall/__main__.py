"""`python -m benchmarks.recall FILE… --language en|zh`."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.recall.asking import DEFAULT_WEIGHTS, SIMILARITY_ALONE, Answer, Asker
from benchmarks.recall.baselines import rankings_of
from benchmarks.recall.deployment import fresh_deployment
from benchmarks.recall.locomo import Conversation, Counted, read_conversations
from benchmarks.recall.metrics import DEPTHS, score
from benchmarks.recall.report import Latency, Run, as_json, as_text
from hindsight_common.adapters.embedding_factory import load_embedder
from hindsight_common.ports.embedding import Embedder

WARM_UP: Final = 10  # requests before latency counts
SYSTEMS: Final[Mapping[str, Mapping[str, float] | None]] = {
    "Hindsight, default weights": DEFAULT_WEIGHTS,
    "Hindsight, similarity alone": SIMILARITY_ALONE,
}


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recall",
        description="Evidence recall, MRR and latency of a Hindsight that has taken in long conversations, beside "
        "BM25, dense retrieval and their fusion over the raw turns.",
        epilog="The data is not part of this repository. LoCoMo (ten conversations, CC BY-NC 4.0) is published by its "
        "authors in the GitHub repository snap-research/locomo as data/locomo10.json.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--format", choices=["locomo"], default="locomo")
    parser.add_argument(
        "--language", choices=["en", "zh"], default="en", help="how the BM25 baseline cuts words"
    )
    parser.add_argument(
        "--nats-url",
        help="a running Hindsight that `hindsight-cli import` has filled with the same files; without it a fresh one "
        "is started in a temporary folder and filled",
    )
    parser.add_argument("--model", default="multilingual-e5-small", help="embedder of the dense baseline")
    parser.add_argument("--threads", type=int, default=None, help="embedding calls side by side")
    parser.add_argument(
        "--patience", type=float, default=1800, help="seconds to wait for the import (default 1800)"
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the result here too")
    return parser.parse_args(given)


async def ask_all(asker: Asker, conversations: Sequence[Conversation]) -> dict[str, list[Answer]]:
    """For each system the answers to all questions, in order. Nobody else asks meanwhile."""
    warm = conversations[0]
    for question in warm.questions[:WARM_UP]:
        await asker.ask(warm, question, DEFAULT_WEIGHTS)
    answers: dict[str, list[Answer]] = {}
    for name, weights in SYSTEMS.items():
        answers[name] = []
        for conversation in conversations:
            answers[name] += [
                await asker.ask(conversation, question, weights) for question in conversation.questions
            ]
        print(f"asked {len(answers[name])} questions: {name}", file=sys.stderr)
    return answers


async def baseline_rankings(
    conversations: Sequence[Conversation], embedder: Embedder, language: str
) -> dict[str, list[list[str]]]:
    """For each baseline the turns in rank order for all questions, in order."""
    ranked: dict[str, list[list[str]]] = {}
    for conversation in conversations:
        turn_ids = [utterance.turn_id for utterance in conversation.utterances]
        rankings = await rankings_of(
            [utterance.document for utterance in conversation.utterances],
            [question.text for question in conversation.questions],
            embedder,
            "zh" if language == "zh" else "en",
        )
        for name, orders in rankings.items():
            ranked.setdefault(name, []).extend([turn_ids[number] for number in order] for order in orders)
    return ranked


async def measure(
    asker: Asker, conversations: Sequence[Conversation], counted: Counted, options: argparse.Namespace
) -> Run:
    outcomes: Counter[str] = Counter()
    for conversation in conversations:
        outcomes += (await asker.imported(conversation, patience_s=options.patience)).outcomes
        print(f"{conversation.sample_id}: {len(conversation.utterances)} turns are in", file=sys.stderr)
    answers = await ask_all(asker, conversations)
    embedder = load_embedder(options.model, threads=options.threads)
    ranked = {name: [answer.turn_ids for answer in given] for name, given in answers.items()}
    ranked |= await baseline_rankings(conversations, embedder, options.language)
    questions = [question for conversation in conversations for question in conversation.questions]
    given = [answer for answers_of_one in answers.values() for answer in answers_of_one]
    return Run(
        language=options.language,
        model_id=embedder.model_id,
        conversations=len(conversations),
        turns=sum(len(conversation.utterances) for conversation in conversations),
        counted=counted,
        clusters=[conversation.sample_id for conversation in conversations for _ in conversation.questions],
        categories=[question.category for question in questions],
        outcomes=outcomes,
        systems={
            name: [score(order, question.evidence) for order, question in zip(orders, questions, strict=True)]
            for name, orders in ranked.items()
        },
        latency={name: Latency.of([answer.took_s for answer in given]) for name, given in answers.items()},
        degraded=sum(bool(answer.degraded) for answer in given),
        fewer_than_ten=sum(len(answer.turn_ids) < max(DEPTHS) for answer in given),
    )


async def run(options: argparse.Namespace) -> None:
    files = [read_conversations(path) for path in options.files]
    conversations = [conversation for read, _ in files for conversation in read]
    counted = Counted(
        sum(counts.asked for _, counts in files),
        sum(counts.adversarial for _, counts in files),
        sum(counts.without_evidence for _, counts in files),
    )
    if options.nats_url:
        async with Asker(options.nats_url) as asker:
            result = await measure(asker, conversations, counted, options)
    else:
        async with fresh_deployment(options.files) as url, Asker(url) as asker:
            result = await measure(asker, conversations, counted, options)
    print(as_text(result))
    if options.json:
        options.json.write_text(
            json.dumps(as_json(result), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )


async def until_told_to_stop(options: argparse.Namespace) -> None:
    """`run`, cancelled by SIGTERM as by Ctrl-C, so that a deployment it started is stopped and removed."""
    task = asyncio.ensure_future(run(options))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    asyncio.run(until_told_to_stop(arguments()))
