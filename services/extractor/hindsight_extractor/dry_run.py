"""`hindsight-extractor --dry-run FILE`: what the rules would keep of each sentence, or why not. Nothing is stored."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from hindsight_common.errors import RequestError, StopAndFix
from hindsight_common.events.conversation import parse_write
from hindsight_common.ports.extraction import ExtractedItem, Turn
from hindsight_extractor.application.intake import redacted, turn_said
from hindsight_extractor.domain.redaction import redact
from hindsight_extractor.domain.rules.extractor import Explained, RuleExtractor
from hindsight_extractor.domain.rules.hearing import Line
from hindsight_extractor.domain.testimony.wording import reason_told

Language = Literal["zh", "en"]

_WORDS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "fact": "fact",
        "event": "event",
        "told": "told in the event",
        "not_kept": "not kept",
        "quarantined": "quarantined",
        "empty": "nothing to keep",
        "since": "from",
        "confidence": "confidence",
        "importance": "importance",
    },
    "zh": {
        "fact": "事实",
        "event": "事件",
        "told": "写入事件",
        "not_kept": "不保留",
        "quarantined": "已隔离",
        "empty": "没有要保留的内容",
        "since": "起于",
        "confidence": "置信度",
        "importance": "重要度",
    },
}


def main(arguments: Sequence[str]) -> int:
    """Exit status 0, 1 for a file that cannot be read, 2 for a wrong command line."""
    options = _parser().parse_args(arguments)
    try:
        for turn in turns_of(options.dry_run):
            explained = asyncio.run(RuleExtractor().explained(turn))
            if options.json:
                sys.stdout.write(json.dumps(as_json(turn, explained), ensure_ascii=False) + "\n")
            else:
                sys.stdout.write("\n".join(as_text(turn, explained, options.lang)) + "\n\n")
    except StopAndFix as fault:
        sys.stderr.write(f"hindsight-extractor: {fault}\n")
        return 1
    except BrokenPipeError:
        # whoever reads has seen enough, and Python would complain of it again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def turns_of(path: Path) -> Iterator[Turn]:
    """The turns of a file, one a line as they are published, validated and redacted as intake does. Raises `StopAndFix`
    that names the line.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as fault:
        raise StopAndFix(f"{path} cannot be read: {fault.strerror}") from fault
    now = datetime.now(UTC)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                said = parse_write(line, now=now)
            except RequestError as fault:
                named = f" ({fault.field})" if fault.field else ""
                raise StopAndFix(f"{path}, line {number}{named}: {fault.message}") from fault
            yield redacted(turn_said("default", said, now), lambda text: redact(text).text)


def as_text(turn: Turn, explained: Explained, language: Language) -> Iterator[str]:
    """Lines for a person: each sentence with what becomes of it, then the events."""
    words = _WORDS[language]
    yield f"{turn.turn_id}  {turn.occurred_at.isoformat()}"
    for speaker, line in explained.lines:
        yield f"  [{line.message_id}] {speaker}: {' '.join(line.text.split())}"
        yield from (f"      {made}" for made in _made_of(line, words, language))
    for item in explained.items:
        if item.type == "event":
            yield f"  {words['event']}: {item.content} ({_judged(item, words)})"
    if not explained.items:
        yield f"  {words['empty']}"


def _made_of(line: Line, words: dict[str, str], language: Language) -> Iterator[str]:
    for fact in line.facts:
        said = f"{fact.subject} · {fact.predicate} · {fact.object}"
        yield f"{words['fact']}: {fact.content} ({said}, {words['confidence']} {fact.confidence:.2f})"
    if line.reason is not None:
        yield f"{words['not_kept']}: {reason_told(line.reason, language)}"
    elif not line.facts:
        yield words["told"]


def _judged(item: ExtractedItem, words: dict[str, str]) -> str:
    judged = f"{words['importance']} {item.importance:.2f}, {words['confidence']} {item.confidence:.2f}"
    if item.valid_from is not None:
        judged += f", {words['since']} {item.valid_from.date().isoformat()} ({item.granularity})"
    return f"{judged}, {words['quarantined']}: {item.quarantined}" if item.quarantined else judged


def as_json(turn: Turn, explained: Explained) -> dict[str, Any]:
    """One object a turn, for programs."""
    return {
        "turn_id": turn.turn_id,
        "sentences": [
            {
                "message": line.message_id,
                "speaker": speaker,
                "text": line.text,
                "kept": line.reason is None,
                "reason": line.reason.value if line.reason else None,
                "facts": [fact.content for fact in line.facts],
            }
            for speaker, line in explained.lines
        ],
        "memories": [
            {
                "type": item.type,
                "content": item.content,
                "subject": item.subject,
                "predicate": item.predicate,
                "object": item.object,
                "negated": item.negated,
                "importance": item.importance,
                "confidence": item.confidence,
                "valid_from": item.valid_from.isoformat() if item.valid_from else None,
                "granularity": item.granularity,
                "quarantined": item.quarantined,
            }
            for item in explained.items
        ],
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hindsight-extractor",
        description="Shows what would be kept of the turns of a file, and stores nothing.\n"
        "显示一个文件中的轮次会留下什么，不保存任何内容。",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--dry-run",
        type=Path,
        metavar="FILE",
        required=True,
        help="one turn of JSON a line, as published · 每行一个 JSON 轮次",
    )
    parser.add_argument("--lang", choices=("zh", "en"), default=_spoken(), help="of the report · 报告的语言")
    parser.add_argument("--json", action="store_true", help="one object a turn · 每轮一个 JSON 对象")
    return parser


def _spoken() -> Language:
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(variable):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
