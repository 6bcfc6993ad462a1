"""The doctor at a whole deployment of the embedded form."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from standalone import Plain, Standalone

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def doctor(running: Standalone, language: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit status, and the findings by what was looked at."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HINDSIGHT_")}
    process = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).with_name("hindsight-cli")), "doctor", "-o", "json"),
        *("--nats-url", running.ready["nats_url"], "--http-url", running.ready["http_url"]),
        *("--data-dir", str(running.data), *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**kept, "LC_ALL": language},
        cwd=running.folder,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    assert err == b""
    return process.returncode, {finding["what"]: finding for finding in json.loads(out)["findings"]}


@pytest.mark.parametrize("language", ["C.UTF-8", "zh_CN.UTF-8"])
async def test_a_deployment_that_is_well_gives_status_0(
    running: Standalone, plain: Plain, language: str
) -> None:
    await plain.say(f"well-{language}", "t-1", "I live in Lisbon.")
    status, found = await doctor(running, language)
    assert {what: one for what, one in found.items() if one["level"] != "ok"} == {}
    assert status == 0
    assert {"NATS", "gateway", "extractor", "recall", "consolidator", "pruner"} <= set(found)
    assert found["data directory" if language == "C.UTF-8" else "数据目录"]["found"] == str(running.data)


async def test_anything_to_do_gives_status_1(running: Standalone, plain: Plain) -> None:
    status, found = await doctor(running, "C.UTF-8", "--min-free", "1000000")
    assert (status, found["data directory"]["level"]) == (1, "fault")
    await plain.publish(b"not json")
    async with asyncio.timeout(30):
        while (looked := await doctor(running, "C.UTF-8"))[0] == 0:
            await asyncio.sleep(0.1)
    assert looked[1]["dead letters"]["found"] == "1: 1 × not_json (INTAKE)"
