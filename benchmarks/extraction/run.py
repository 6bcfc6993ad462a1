"""Measures the rule extractor on labelled turns and prints precision and recall per language.

Each line of the file is one turn of one user message:
  text    what the user said, on 2026-06-04 09:15 in Berlin (Chinese: in Shanghai)
  facts   those it states: subject, predicate, object, `negated` where it is denied
  event   true: something must be kept beside the facts; false: nothing may be; null: either is right
  when    the day to which the memory that carries a time must resolve
  may     facts that are true as well but not demanded (an own reading, a detail): neither a hit nor a mistake

A fact is right if subject, predicate, object (by their keys) and negation are. A fact that is right but for its
subject is of the wrong speaker; any other that nobody stated, and an event where nothing is worth keeping, is junk.

The files beside this one belong to the tuning; README.md says how the rules did on each at the first look.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from hindsight_common.domain.predicates import object_key, subject_key
from hindsight_common.ports.extraction import ExtractedItem, Message, Turn
from hindsight_extractor.domain.rules import RuleExtractor

Row = dict[str, Any]


def turn_of(row: Row) -> Turn:
    """The turn that a line describes."""
    zone = "Asia/Shanghai" if row["id"].startswith("zh") else "Europe/Berlin"
    at = datetime(2026, 6, 4, 9, 15, tzinfo=ZoneInfo(zone))
    message = Message("m1", "user", row["text"])
    return Turn("default", "u-1", "s-1", row["id"], None, at, False, at, zone, (message,))


def key(subject: str, predicate: str, thing: str, negated: bool) -> tuple[str, str, str, bool]:
    return subject_key(subject), predicate, object_key(predicate, thing), negated


def labels(facts: list[Row]) -> dict[tuple[str, str, str, bool], Row]:
    return {key(f["subject"], f["predicate"], f["object"], f.get("negated", False)): f for f in facts}


def mistakes(row: Row, items: tuple[ExtractedItem, ...], counts: Counter[str]) -> Iterator[str]:
    """What is wrong with the items of one turn; adds to the counts."""
    wanted, allowed = labels(row["facts"]), labels(row.get("may", []))
    found = {
        key(i.subject or "", i.predicate or "", i.object or "", i.negated): i
        for i in items
        if i.type == "fact"
    }
    found = {k: i for k, i in found.items() if k in wanted or k not in allowed}
    counts["facts right"] += len(wanted.keys() & found.keys())
    counts["facts wanted"] += len(wanted)
    counts["facts found"] += len(found)
    yield from (f"missed {f}" for k, f in wanted.items() if k not in found)
    said = {k[1:] for k in (*wanted, *allowed)}
    for k, fact in found.items():
        if k not in wanted:
            kind = "wrong speaker" if k[1:] in said else "junk"
            counts[kind] += 1
            yield f"{kind}: {fact.content!r} ({fact.predicate}: {fact.object})"
    yield from mistakes_of_events(row, items, counts)


def mistakes_of_events(row: Row, items: tuple[ExtractedItem, ...], counts: Counter[str]) -> Iterator[str]:
    """What is wrong with what was kept beside the facts, and with its day."""
    has_event = any(i.type == "event" for i in items)
    if row["event"] is not None:
        kind = "telling" if row["event"] else "silent"
        counts[f"{kind} turns"] += 1
        counts[f"{kind} kept"] += has_event
        if has_event != row["event"]:
            counts["junk"] += has_event
            yield "no event" if row["event"] else "an event of nothing"
    if row.get("when"):
        counts["dates wanted"] += 1
        days = {str(i.valid_from.date()) for i in items if i.valid_from}
        counts["dates right"] += row["when"] in days
        if row["when"] not in days:
            yield f"date {row['when']} not in {sorted(days)}"


def share(part: int, whole: int) -> str:
    return f"{part / whole:6.1%} ({part}/{whole})" if whole else "     – (0)"


async def measure(rows: list[Row], shows_mistakes: bool) -> dict[str, Counter[str]]:
    extractor = RuleExtractor()
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        items = (await extractor.extract(turn_of(row))).items
        for mistake in mistakes(row, items, totals[row["id"][:2]]):
            if shows_mistakes:
                print(f"{row['id']} {row['text']}\n       {mistake}")
    return totals


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).with_name("tuning.jsonl"))
    parser.add_argument("--mistakes", action="store_true", help="print every mistake")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines() if line]
    totals = asyncio.run(measure(rows, options.mistakes))
    for language, counts in sorted(totals.items()):
        print(f"{language}: facts precision {share(counts['facts right'], counts['facts found'])}")
        print(f"    facts recall    {share(counts['facts right'], counts['facts wanted'])}")
        print(f"    telling kept    {share(counts['telling kept'], counts['telling turns'])}")
        print(f"    silent kept     {share(counts['silent kept'], counts['silent turns'])}")
        print(f"    dates right     {share(counts['dates right'], counts['dates wanted'])}")
        print(f"    wrong speaker   {counts['wrong speaker']:6}    junk {counts['junk']}")


if __name__ == "__main__":
    main()
