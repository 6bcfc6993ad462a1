from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)


def commands(page: Path) -> list[str]:
    """Fenced shell blocks, without the comments that are in the page's language."""
    blocks = re.findall(r"```bash\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [re.sub(r"\s+# .*", "", block).strip() for block in blocks]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_repository_leads_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_both_readmes_show_the_same_commands_in_the_same_order() -> None:
    english, chinese = map(commands, READMES)
    assert english == chinese
    assert english[0].split() == ["make", "run", "make", "test"]


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    for page in PAGES:
        named = re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))
        assert set(named) <= targets, page.name


def test_decisions_have_numbers_of_their_own_and_tell_context_decision_and_consequences() -> None:
    records = sorted((ROOT / "docs/adr").glob("*.md"))
    numbers = [int(record.name[:4]) for record in records]
    assert len(set(numbers)) == len(numbers)
    for record in records:
        text = record.read_text(encoding="utf-8")
        for part in ("Context", "Decision", "Consequences"):
            assert part in text, f"{record.name} lacks its {part}"
