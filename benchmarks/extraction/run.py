"""How true what is extracted is, on labelled turns: `python -m benchmarks.extraction.run FILE … [--llm]`.

Prints per language, and with `--classes` per class: precision (of memories that a label judges, those it demands),
recall (of labels, those that some memory says; of facts, those kept as facts), junk (of all memories stored, those
that no label supports), memories of the wrong speaker and with a wrong date, days that the text says and a memory
carries, hedged facts stored as firm ones, and what should never have been stored. `--llm` reads by the model of the
configuration (MEMORY_LLM_…) instead of the rules.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from benchmarks.extraction.judging import Verdict, judge
from benchmarks.extraction.labels import Labelled, read
from hindsight_common.clock import SystemClock
from hindsight_common.errors import HindsightError, StopAndFix
from hindsight_common.ports.extraction import Extractor
from hindsight_common.settings import load_settings
from hindsight_extractor.application.extraction_telemetry import ExtractionTelemetry
from hindsight_extractor.domain.rules import RuleExtractor
from hindsight_extractor.llm import configured_llm

_TUNING = tuple(Path(__file__).with_name(f"{name}.jsonl") for name in ("tuning", "fresh", "second", "third"))


async def measure(
    rows: list[Labelled], extractor: Extractor, *, by_class: bool, shows: bool
) -> Mapping[str, Verdict]:
    """The sum of the verdicts, by language or by language and class."""
    totals: dict[str, Verdict] = defaultdict(Verdict)
    for row in rows:
        try:
            items = (await extractor.extract(row.turn)).items
        except HindsightError as fault:
            print(f"{row.id}: not extracted: {fault}")
            items = ()
        verdict = judge(row, items)
        totals[f"{row.language} {row.kind}" if by_class else row.language] += verdict
        if shows and verdict.mistakes:
            print(f"{row.id} {[m.content for m in row.turn.messages if m.role == 'user']}")
            print("\n".join(f"       {mistake}" for mistake in verdict.mistakes))
    return totals


def line(name: str, v: Verdict) -> str:
    """One row of the table; shares in percent with what they are of."""
    return (
        f"{name:<16} precision {_share(v.precision)}  recall {_share(v.recall)} ({v.right}/{v.wanted}, "
        f"facts as facts {v.structured}/{v.facts_wanted})  "
        f"junk {_share(v.junk_rate)} ({v.junk}/{v.stored})  wrong speaker {v.wrong_speaker}  "
        f"wrong date {v.wrong_date}/{v.dated}  days {v.days_right}/{v.days_wanted}  too firm {v.too_firm}  "
        f"leaks {v.leaks}  quarantine recalled {v.recalled_quarantine}"
    )


def _share(value: float | None) -> str:
    return "    –" if value is None else f"{value:5.1%}"


def _extractor(by_llm: bool) -> Extractor:
    if not by_llm:
        return RuleExtractor()
    llm = configured_llm(load_settings().llm, SystemClock(), ExtractionTelemetry())
    if llm is None:
        raise StopAndFix("--llm needs MEMORY_LLM_BASE_URL and MEMORY_LLM_MODEL")
    return llm.extractor


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, default=list(_TUNING), help="default: the tuning part")
    parser.add_argument("--mistakes", action="store_true", help="print every mistake")
    parser.add_argument("--classes", action="store_true", help="a row for each class")
    parser.add_argument("--llm", action="store_true", help="by the configured model")
    options = parser.parse_args()
    rows = [row for file in options.files for row in read(file)]
    extractor = _extractor(options.llm)
    totals = asyncio.run(measure(rows, extractor, by_class=options.classes, shows=options.mistakes))
    whole = Verdict()
    for name, verdict in sorted(totals.items()):
        print(line(name, verdict))
        whole += verdict
    print(line("all", whole))


if __name__ == "__main__":
    # nothing of a configuration file is wanted here unless it is asked for
    os.environ.setdefault("HINDSIGHT_LOG_LEVEL", "WARNING")
    main()
