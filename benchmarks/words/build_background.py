"""Builds the background table and the list of given names of the word search from published lists.

    pip install --no-deps --target DIR symspellpy==6.10.1 jieba==0.42.1 names==0.3.0
    python -m benchmarks.words.build_background DIR

The packages are read, not imported, and are needed for nothing else.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import rjieba

from hindsight_common.adapters.word_splitting import is_han, split_terms
from hindsight_common.domain.text import fold_text

DATA = Path(str(resources.files("hindsight_common"))) / "data"
WORDS_PER_MEMORY = 20
"""Running words of a memory, function words included: what turns a word's frequency into a share of memories."""
RAREST = 3e-7
"""Frequency below which a word is left out and counts as one of this frequency: both lists grow unsure there."""
STEP = 0.05
"""Resolution of the table."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", type=Path, help="folder that holds the three packages")
    parser.add_argument("--output", type=Path, default=DATA, help="folder the two files are written to")
    arguments = parser.parse_args()
    table = dict(weighed(english_counts(arguments.packages / "symspellpy")))
    table.update(weighed(chinese_counts(arguments.packages / "jieba")))
    output: Path = arguments.output / "background_idf.txt"
    output.write_text(rendered(table), encoding="utf-8")
    names = given_names(arguments.packages / "names")
    (arguments.output / "words/given_names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    print(
        f"{len(table)} terms, {output.stat().st_size} bytes, rarest idf {idf(RAREST):.2f}, {len(names)} names"
    )


def english_counts(package: Path) -> tuple[Counter[str], int]:
    """How often each stem occurs, and the number of running words it was counted in."""
    counts: Counter[str] = Counter()
    running = 0
    for word, count in _pairs(package / "frequency_dictionary_en_82_765.txt", encoding="utf-8-sig"):
        running += count
        for term in set(split_terms(word)):
            counts[term] += count
    return counts, running


def chinese_counts(package: Path) -> tuple[Counter[str], int]:
    """How often segmentation yields each word, as itself and inside longer ones."""
    counts: Counter[str] = Counter()
    running = 0
    for word, count in _pairs(package / "dict.txt", encoding="utf-8"):
        folded = fold_text(word)
        if not is_han(folded):
            continue
        running += count
        for term in {folded, *rjieba.cut_for_search(folded)}:
            counts[term] += count
    return counts, running


def given_names(package: Path) -> list[str]:
    """Given names in lower case, one a line in the source with figures behind it."""
    files = [package / "dist.female.first", package / "dist.male.first"]
    lines = [line for file in files for line in file.read_text(encoding="ascii").splitlines()]
    return sorted({line.split()[0].lower() for line in lines if line.strip()})


def _pairs(file: Path, encoding: str) -> Iterator[tuple[str, int]]:
    for line in file.read_text(encoding=encoding).splitlines():
        if fields := line.split():
            yield fields[0], int(fields[1])


def weighed(counted: tuple[Counter[str], int]) -> Iterator[tuple[str, float]]:
    """Terms that are more frequent than the rarest, with their idf."""
    counts, running = counted
    for term, count in counts.items():
        if count / running > RAREST:
            yield term, idf(count / running)


def idf(frequency: float) -> float:
    """-ln of the share of memories that hold the word, if words fell independently."""
    return -math.log(-math.expm1(WORDS_PER_MEMORY * math.log1p(-frequency)))


def rendered(table: dict[str, float]) -> str:
    """One line per step: the idf, then its terms. The first line holds the rarest idf alone."""
    steps: defaultdict[float, list[str]] = defaultdict(list)
    for term, value in table.items():
        steps[round(value / STEP) * STEP].append(term)
    lines = [f"{idf(RAREST):.2f}"]
    lines += [f"{value:.2f} {' '.join(sorted(steps[value]))}" for value in sorted(steps)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
