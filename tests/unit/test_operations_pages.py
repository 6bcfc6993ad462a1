"""The operations pages name every metric there is, and none that there is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "docs/operations.md", ROOT / "docs/operations.zh-CN.md")
_INSTRUMENT = re.compile(r'create_(?:counter|histogram|gauge|up_down_counter)\(\s*"([a-z_.]+)"')


def _instruments() -> set[str]:
    sources = [
        file for folder in ("libs", "services") for file in (ROOT / folder).rglob("hindsight_*/**/*.py")
    ]
    found = {name for file in sources for name in _INSTRUMENT.findall(file.read_text(encoding="utf-8"))}
    assert len(found) > 10
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_metric_is_explained_and_every_explained_metric_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    named = {name for row in rows for name in re.findall(r"`([a-z_.]+)`", row)}
    instruments = _instruments()
    assert instruments <= named
    dotted = {name for name in named if name.startswith(("memory.", "hindsight."))}
    assert dotted <= instruments


def test_both_pages_have_the_same_commands_names_and_rows() -> None:
    english, chinese = (page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"`[^`\n]+`", english)) == set(re.findall(r"`[^`\n]+`", chinese))
    assert english.count("\n|") == chinese.count("\n|")
    assert english.count("\n## ") == chinese.count("\n## ")
