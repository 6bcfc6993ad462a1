"""One vendor a file, one port each."""

from __future__ import annotations

import os

# ONNX Runtime (1.32, its Privacy.md) reports to its maker from the moment it is loaded, unless this stands before.
# Nothing leaves a deployment unasked, so it stands before any adapter is imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
