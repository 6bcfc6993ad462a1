from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hindsight_common.events import subjects
from hindsight_common.events.conversation import ConversationTurn
from hindsight_common.events.requests import (
    DecideRequest,
    ForgetRequest,
    GetRequest,
    InjectRequest,
    ListRequest,
    RecallRequest,
    TimeRange,
    TurnRequest,
    Weights,
)

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
REFERENCES = [ROOT / "docs/requests.md", ROOT / "docs/requests.zh-CN.md"]
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


@pytest.mark.parametrize("page", REFERENCES, ids=lambda page: page.name)
def test_the_reference_names_every_field_subject_path_and_error(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    fields = {
        info.alias or name
        for model in (
            ConversationTurn,
            RecallRequest,
            TimeRange,
            Weights,
            ForgetRequest,
            ListRequest,
            TurnRequest,
            GetRequest,
            DecideRequest,
            InjectRequest,
        )
        for name, info in model.model_fields.items()
    } - {"query", "time_range"}
    spoken = {
        value
        for name, value in vars(subjects).items()
        if name.startswith(("MEMORY_", "CONVERSATION_", "ADMIN_"))
    }
    sources = "\n".join(
        file.read_text(encoding="utf-8")
        for folder in ("libs/common", "services")
        for file in (ROOT / folder).rglob("*.py")
    )
    codes = set(re.findall(r'RequestError\(\s*"([a-z_]+)"', sources))
    paths = {
        f"{method.upper()} {path}"
        for path, methods in json.loads((ROOT / "docs/openapi.json").read_text("utf-8"))["paths"].items()
        for method in methods
    }
    assert min(map(len, (fields, spoken, codes, paths))) >= 4
    for name in fields:
        assert re.search(rf'[`"]{name}["`]', text), name
    for name in spoken | codes:
        assert f"`{name}`" in text, name
    for path in paths:
        assert f"`{path}" in text, path


def test_both_references_have_the_same_examples_and_tables() -> None:
    english, chinese = (
        re.findall(r"`[^`\n]+`|```json.*?```", page.read_text(encoding="utf-8"), re.DOTALL)
        for page in REFERENCES
    )
    assert set(english) == set(chinese)


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
