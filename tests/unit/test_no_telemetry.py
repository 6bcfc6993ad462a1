from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_onnx_runtime_begins_no_telemetry_session(tmp_path: Path) -> None:
    # its reporter leaves a file with the session's id in the temporary directory as soon as it is loaded
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run(
        [sys.executable, "-c", "import hindsight_common.adapters.embedding_factory, onnxruntime"],
        env={**environment, "TMPDIR": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        check=True,
    )
    assert not list(tmp_path.rglob("*"))
