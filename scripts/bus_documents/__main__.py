"""Writes docs/asyncapi.json and the events pages: `python -m scripts.bus_documents`."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.bus_documents.asyncapi import document
from scripts.bus_documents.pages import page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def written() -> dict[Path, str]:
    """Each file with what should stand in it."""
    return {
        DOCS / "asyncapi.json": json.dumps(document(), ensure_ascii=False, indent=2) + "\n",
        DOCS / "events.md": page("en"),
        DOCS / "events.zh-CN.md": page("zh"),
    }


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
