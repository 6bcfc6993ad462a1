"""The tour of the README, pasted as it stands, against a fresh embedded Hindsight.

The Chinese README shows the same commands, which a test of the documents holds it to.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from standalone import Standalone

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.asyncio(loop_scope="module")


def tour(page: Path, ready: dict[str, Any]) -> str:
    """All shell blocks of the tour, with the addresses of this deployment in place of the default ones."""
    marked = page.read_text(encoding="utf-8").split("<!-- tour: begin -->")[1].split("<!-- tour: end -->")[0]
    script = "\n".join(re.findall(r"```bash\n(.*?)```", marked, re.DOTALL))
    for default, here in (
        ("http://127.0.0.1:8787", ready["http_url"]),
        ("nats://127.0.0.1:4222", ready["nats_url"]),
        (".venv/bin/python", sys.executable),
    ):
        assert default in script
        script = script.replace(default, here)
    return script


async def test_the_tour_works_when_pasted(running: Standalone) -> None:
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-eu", "-c", tour(ROOT / "README.md", running.ready)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await shell.communicate()
    assert shell.returncode == 0
    lines = output.decode().splitlines()
    first, second, allergy, home = (json.loads(line) for line in lines[:4])
    assert first["turn_id"] == "t-1"
    assert second["accepted"] is True
    assert "花生" in allergy["memories"][0]["content"]
    assert allergy["memories"][0]["sources"][0]["turn_id"] == "t-1"
    assert "Lisbon" in home["memories"][0]["content"]
    told = [line for line in lines[4:] if not line.startswith("{")]
    assert any(line.startswith("active") and "Porto" in line for line in told)
    assert any(line.startswith("superseded") and "Lisbon" in line for line in told)
    said = [json.loads(line) for line in lines[4:] if line.startswith("{")]
    assert "花生" in said[0]["snapshot"]
    assert all(injected["snapshot"].startswith("<MEMORY_SNAPSHOT>") for injected in said[:2])
    outcome, memory, pinned, forgotten, would_forget, done, health = said[2:]
    assert outcome["outcome"] == "kept"
    assert (memory["memory"]["object"], memory["memory"]["pinned"]) == ("花生", False)
    assert (pinned["memory"]["id"], pinned["memory"]["pinned"]) == (memory["memory"]["id"], True)
    assert forgotten["receipt"]["status"] == "done"
    objects = {memory["object"] for memory in would_forget["would_forget"]}
    assert "Porto" in objects
    assert "花生" not in objects
    assert done["receipt"]["status"] == "done"
    assert health == {"status": "ok"}
