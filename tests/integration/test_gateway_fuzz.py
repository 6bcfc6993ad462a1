"""The gateway, with real workers behind it, against its own document: whatever is sent, no fault of ours, and answers
as the document has them.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from workers import Workers

from hindsight_common.messaging.connection import Bus
from hindsight_gateway.bootstrap import build

# every check but one: what an id or a text may hold is more than a schema can say, so valid data may be refused
LEFT_OUT = "positive_data_acceptance"
CASES_EACH = 6


@pytest.mark.slow
async def test_whatever_is_sent_the_gateway_answers_as_its_document_says(bus: Bus, tmp_path: Path) -> None:
    async with Workers(bus, tmp_path / "workers") as workers:
        # a memory of the user of the document's examples, so that more is met than "not found"
        await workers.say("u-17", "t-0", "我对花生过敏", session_id="s-0")
        memory_id = (await workers.ask("list", user_id="u-17"))["memories"][0]["id"]
        (tmp_path / "schemathesis.toml").write_text(f'[parameters]\nmemory_id = "{memory_id}"\n')
        gateway = build(bus, port=0)
        await gateway.start()
        fuzzing = await asyncio.create_subprocess_exec(
            *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{gateway.url}/openapi.json"),
            *("--checks", "all", "--exclude-checks", LEFT_OUT, "--warnings", "off", "--no-color"),
            *("--generation-deterministic", "--max-examples", str(CASES_EACH), "--continue-on-failure"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=tmp_path,
            env={**os.environ, "NO_PROXY": "*", "OMP_NUM_THREADS": "1"},
        )
        output, _ = await fuzzing.communicate()
        await gateway.stop()
    said = output.decode()
    assert fuzzing.returncode == 0, said
    # it did look at every operation, with hundreds of requests
    assert "Tested: 10" in said, said
    assert int(said.split(" generated")[0].split()[-1]) > 300, said
